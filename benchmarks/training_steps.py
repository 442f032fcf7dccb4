"""What each step of training on an ontology's names alone gains: concepts batched with their
relatives, names of parents as soft positives, names in other words, and all of them. The network is
that of a training config; batches and epochs stay the same. Mentions are read as a pipeline reads
them, D is empty. The mean over seeds and half of its 95 % interval. The ontology must have a
hierarchy.

Each trained encoder is kept in the work folder: a run that was stopped goes on when it is started
again, and one with more seeds trains only these.

Example: python benchmarks/training_steps.py --dataset ncbi --part dev --data ../shared/data
    --ontology ../shared/data/ctd_diseases_2017/CTD_diseases.tsv.gz
"""

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

from _common.builders import DAN, build_lookup, make_sieve
from _common.cli import begin, clear_errors, fail, finish, make_parser
from _common.datasets import Data
from _common.options import add_datasets, add_ontology, add_part, at_least
from _common.scoring import read_standard
from _common.seeds import by_seed, mean_columns
from _common.trained_encoders import keep_config, train_once
from _common.variants import AS_READ, predict
from thinc.api import Config

from spacy_connorm.evaluation import score_predictions
from spacy_connorm.evaluation.report import Row, score_row

SEARCH = "O-T"
SCORES = ("lenient@1", "lenient@5", "strict@1")
RELATIVES, PARENT_SHARE = 8, 0.1
VARIED = ("spacy-connorm.GroupBatcher.v1", "spacy-connorm.SupervisedContrastive.v1")
AS_IT_IS, RELATED, PARENTS, WORDS = "as it is", "relatives", "parents", "other words"


def main() -> None:
    arguments = begin(add_options(make_parser(__doc__ or "")))
    with clear_errors():
        rows = [row for name in arguments.dataset for row in measure(name, arguments)]
    finish(rows, arguments.json)


def add_options(parser: ArgumentParser) -> ArgumentParser:
    """RETURNS (ArgumentParser): The same, with the benchmark's options."""
    add_datasets(parser)
    add_part(parser)
    add = parser.add_argument
    add(
        "--config",
        type=Path,
        default=DAN,
        help="with GroupBatcher.v1 and SupervisedContrastive.v1, which are varied [%(default)s]",
    )
    add(
        "--substitutions",
        type=Path,
        metavar="TABLE",
        help="from `connorm substitutions`; without it the steps with other words are left out",
    )
    add("--seeds", type=at_least(1), default=3, help="[%(default)s]")
    add_ontology(parser)
    return parser


def measure(dataset: str, arguments: Namespace) -> Iterator[Row]:
    """YIELDS (Dict[str, Any]): One row a combination of steps."""
    data = Data(dataset, arguments.data, ontology=arguments.ontology, part=arguments.part)
    data.require_hierarchy()
    steps = {label(each): each for each in combinations(arguments.substitutions)}

    def train_and_score(name: str, seed: int) -> Row:
        path = keep_config(*make_config(steps[name], arguments, seed=seed), arguments.work)
        return score(train_once(path, data, on="O", work=arguments.work), data, arguments.work)

    for name, rows in by_seed(steps, arguments.seeds, train_and_score).items():
        yield {
            "dataset": dataset,
            "part": arguments.part,
            "mentions": rows[0]["mentions"],
            "steps": name,
            "seeds": len(rows),
            **mean_columns(rows, SCORES),
        }


def combinations(table: Path | None) -> list[tuple[str, ...]]:
    """RETURNS (List[Tuple[str, ...]]): The steps of each row: none, each alone, and all. Parents
    are in a batch only beside their relatives.
    """
    found: list[tuple[str, ...]] = [(), (RELATED,), (RELATED, PARENTS)]
    if table is not None:
        found += [(WORDS,), (RELATED, PARENTS, WORDS)]
    return found


def label(steps: tuple[str, ...]) -> str:
    """RETURNS (str): The name of a row."""
    return ", ".join(steps) or AS_IT_IS


def make_config(steps: tuple[str, ...], arguments: Namespace, *, seed: int) -> tuple[Config, str]:
    """Change a training config by some steps.

    steps (Tuple[str, ...]): The steps.
    arguments (Namespace): The options.
    seed (int): Of the training.
    RETURNS (Tuple[Config, str]): The config, and how the name of its file starts.
    """
    config = Config().from_disk(arguments.config, interpolate=False)
    training = config["training"]
    training["seed"] = seed
    varied = (training["batcher"]["@batchers"], training["objective"]["@losses"])
    if varied != VARIED:
        fail(f"--config: {arguments.config} has not {VARIED[0]} and {VARIED[1]}, which are varied.")
    if RELATED in steps:
        settings = {key: training["batcher"][key] for key in ("size", "per_concept")}
        batcher = "spacy-connorm.FamilyBatcher.v1"
        training["batcher"] = {"@batchers": batcher, **settings, "relatives": RELATIVES}
    if PARENTS in steps:
        training["objective"] |= {
            "@losses": "spacy-connorm.FamilyContrastive.v1",
            "parent_share": PARENT_SHARE,
        }
    if WORDS in steps:
        config["data"]["substitutions"] = str(kept_table(arguments))
    name = "-".join("".join(each.split()) for each in steps) or "plain"
    return config, f"steps-{arguments.config.stem}-{name}-{seed}"


def kept_table(arguments: Namespace) -> Path:
    """RETURNS (Path): The table of substitutions, in the work folder under a name of its content:
    encoders are kept by their config.
    """
    content = arguments.substitutions.read_bytes()
    path = arguments.work / f"substitutions-{sha256(content).hexdigest()[:16]}.tsv"
    path.write_bytes(content)
    return path


def score(block: dict[str, Any], data: Data, work: Path) -> Row:
    """RETURNS (Dict[str, Any]): The scores of an encoder, in percent."""
    lookup = build_lookup(block, data, searches=[SEARCH], work=work, synonyms=())
    lookup.sieve = make_sieve(SEARCH)
    row = score_row(score_predictions(read_standard(data), predict(AS_READ, data, lookup)))
    return {name: row[name] for name in ("mentions", *SCORES)}


if __name__ == "__main__":
    main()
