"""How often the first concept is right with an ontology and no annotated documents: D is empty,
encoders are untrained or trained on names alone, and mentions are processed as a pipeline does.

Example: python benchmarks/ontology_alone.py --dataset ncbi --encoder minilm --data ../shared/data
"""

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from _common.builders import build_lookup, encoder_config, make_sieve
from _common.cli import begin, clear_errors, finish, make_parser
from _common.config_variants import add_seeds
from _common.datasets import Data
from _common.options import add_datasets, add_encoder, add_part
from _common.scoring import read_standard
from _common.seeds import over_seeds
from _common.variants import AS_READ, AS_WRITTEN, LEXICAL_WEIGHT, Steps, predict

from spacy_connorm.evaluation import score_predictions
from spacy_connorm.evaluation.report import Row, score_row
from spacy_connorm.ontology import read_substitutions
from spacy_connorm.pipeline.presets import BESIDE_NGRAMS

SEARCH = "O-T"
SCORES = ("lenient@1", "strict@1")
SHOWN = (
    "dataset",
    "part",
    "encoder",
    "search",
    "steps",
    "mentions",
    "lenient@1",
    "lenient@1_low",
    "lenient@1_high",
    "lenient@5",
    "strict@1",
    "in_ontology_lenient@1",
)
# Intervals are over seeds, then, not over mentions.
SEED_COLUMNS = (
    *(column for column in SHOWN if not column.endswith(("_low", "_high"))),
    "seeds",
    *(f"{score} +-" for score in SCORES),
)


def main() -> None:
    arguments = begin(add_options(make_parser(__doc__ or "")))
    with clear_errors():
        rows = over_seeds(measure, arguments, SCORES)
    finish(rows, arguments.json, columns=SEED_COLUMNS if arguments.seeds else SHOWN)


def add_options(parser: ArgumentParser) -> ArgumentParser:
    """RETURNS (ArgumentParser): The same, with the benchmark's options."""
    add = parser.add_argument
    add_datasets(parser)
    add_encoder(parser)
    add_part(parser)
    add(
        "--substitutions",
        type=Path,
        metavar="TABLE",
        help="from `connorm substitutions` [learned from the names of the ontology]",
    )
    add_seeds(parser)
    return parser


def variants(encoder: str, language: str) -> Iterator[Steps]:
    """YIELDS (Steps): One per row: mentions as written, as pipelines read them, with n-grams (for
    another language than English, as `connorm index` adds them), and with scores that rise and fall
    by the words of names and mentions.
    """
    yield AS_WRITTEN
    yield AS_READ
    if encoder != "ngram":
        weight = LEXICAL_WEIGHT if language == "en" else BESIDE_NGRAMS["lexical_weight"]
        yield replace(AS_READ, name=f"{AS_READ.name}, lexical", lexical_weight=weight)
    yield replace(AS_READ, name=f"{AS_READ.name}, words", compare_words=True)


def measure(arguments: Namespace) -> list[Row]:
    """RETURNS (List[Dict[str, Any]]): One row a data set and variant."""
    return [row for dataset in arguments.dataset for row in _measure_one(arguments, dataset)]


def _measure_one(arguments: Namespace, dataset: str) -> Iterator[Row]:
    data = Data(dataset, arguments.data, part=arguments.part)
    block = encoder_config(arguments.encoder, data, train="O", work=arguments.work)
    gold = read_standard(data)
    path = arguments.substitutions
    table = None if path is None else list(read_substitutions(path))
    row = {
        "dataset": dataset,
        "part": arguments.part,
        "encoder": arguments.encoder,
        "search": SEARCH,
    }
    for steps in variants(arguments.encoder, data.dataset.language):
        lookup = build_lookup(
            steps.encoder(block),
            data,
            searches=[SEARCH],
            work=arguments.work,
            synonyms=(),
            substitutions=table,
        )
        lookup.sieve = make_sieve(SEARCH)
        scores = score_predictions(gold, predict(steps, data, lookup))
        yield {**row, "steps": steps.name, **score_row(scores)}


if __name__ == "__main__":
    main()
