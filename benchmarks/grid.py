"""The paper's table (Xu and Bethard 2021, Table 4): encoders trained on O and on O and D, by six
searches and eight sieves, in one or more corpora, with average ranks. A training config stands for
two encoders, one trained on O and one on O and the corpus's own D; each text is encoded once.

The first encoder's default sieve, D-T+OD-T, is what its other searches are compared with (paired
bootstrap); the other encoders' searches are compared with the first one's of the same name.

Example: python benchmarks/grid.py --dataset ncbi bc5cdr-d --encoders dan --data ../shared/data
"""

from argparse import ArgumentTypeError, Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from _common.builders import THRESHOLD, build_lookup, encoder_config, is_trained_here
from _common.cli import begin, fail, make_parser
from _common.datasets import DATASETS, Data
from _common.trained_encoders import TRAINS
from accuracy import DEPTH, add_part, predict, read_standard

from spacy_connorm.cli.output import show_sections, write_markdown, write_scores
from spacy_connorm.errors import ConnormError
from spacy_connorm.evaluation import score_predictions
from spacy_connorm.evaluation.grid import grid_sieves, search_all
from spacy_connorm.evaluation.pipelines.scoring import Run, Scored, to_rows
from spacy_connorm.evaluation.ranks import add_ranks
from spacy_connorm.evaluation.report import Row
from spacy_connorm.evaluation.sections import AS_WRITTEN, grid_sections
from spacy_connorm.linker.sieve import best_cosine

DEFAULT = "D-T+OD-T"
# The others' means are averaged from the vectors of these.
BUILT = ("O-T", "D-T", "OD-T")


class Contender(NamedTuple):
    """An encoder of the table.

    label (str): What it is called there.
    encoder (str): As `lookups.encoder_config` takes it.
    train (str): What it is trained on, if it is trained here.
    """

    label: str
    encoder: str
    train: str


def main() -> None:
    parser = make_parser(__doc__ or "")
    parser.add_argument("--dataset", nargs="+", required=True, choices=DATASETS)
    parser.add_argument(
        "--encoders",
        nargs="+",
        required=True,
        metavar="NAME",
        help="ngram, minilm, dan, paths of training configs (.cfg) or FOLDERs",
    )
    parser.add_argument(
        "--train",
        nargs="+",
        choices=TRAINS,
        default=TRAINS,
        help="what dan and configs train on [O and OD]",
    )
    parser.add_argument("--labels", nargs="+", default=(), help="of the encoders, in order")
    parser.add_argument(
        "--threshold",
        type=cosine,
        default=THRESHOLD,
        help="where a sieve's first search answers [%(default)s]",
    )
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write the tables here too")
    add_part(parser)
    arguments = begin(parser)
    try:
        rows = measure(arguments)
    except ConnormError as error:
        fail(str(error))
    sections = grid_sections(rows)
    show_sections(sections)
    if arguments.json is not None:
        write_scores(rows, arguments.json)
    if arguments.markdown is not None:
        write_markdown(sections, arguments.markdown)


def cosine(text: str) -> float:
    """RETURNS (float): A number from -1 to 1."""
    try:
        number = float(text)
    except ValueError:
        number = 2.0
    if not -1 <= number <= 1:
        raise ArgumentTypeError(f"expected a cosine, from -1 to 1, not '{text}'")
    return number


def measure(arguments: Namespace) -> list[Row]:
    """RETURNS (List[Dict[str, Any]]): One row a corpus, encoder and search, with its ranks."""
    contenders = name_contenders(arguments.encoders, arguments.train, arguments.labels)
    rows = []
    for name in dict.fromkeys(arguments.dataset):
        data = Data(name, arguments.data, part=arguments.part)
        scored = {each.label: score(each, data, arguments) for each in contenders}
        rows += to_rows(scored, name, protocol=AS_WRITTEN)
    return add_ranks(rows)


def name_contenders(
    encoders: Sequence[str], trains: Sequence[str], labels: Sequence[str]
) -> list[Contender]:
    """Tell the encoders of the table from each other.

    encoders (Sequence[str]): As `lookups.encoder_config` takes them.
    trains (Sequence[str]): What each of those that are trained here is trained on, in turn.
    labels (Sequence[str]): What the resulting encoders are called, in order; the others by their
        names.
    RETURNS (List[Contender]): The encoders.
    """
    pairs = [
        (encoder, train if is_trained_here(encoder) else "")
        for encoder in encoders
        for train in (trains if is_trained_here(encoder) else ("",))
    ]
    own = [f"{Path(encoder).stem}{train and f' Train:{train}'}" for encoder, train in pairs]
    names = [*labels, *own[len(labels) :]]
    if len(set(names)) < len(names) or len(labels) > len(pairs):
        fail(f"{len(pairs)} encoders need as many different --labels: they are {', '.join(names)}.")
    return [Contender(name, *pair) for name, pair in zip(names, pairs, strict=True)]


def score(contender: Contender, data: Data, arguments: Namespace) -> Scored:
    """RETURNS (Scored): The fourteen searches of an encoder, the default sieve apart too."""
    block = encoder_config(
        contender.encoder, data, train=contender.train or TRAINS[0], work=arguments.work
    )
    lookup = build_lookup(block, data, searches=BUILT, work=arguments.work)
    gold = read_standard(data)
    found = search_all(lookup, [mention.text for mention in gold], top_k=DEPTH)
    runs = [
        Run(
            name,
            sieve.thresholds[0] if sieve.thresholds else None,
            score_predictions(gold, predict(sieve.choose(found, best_cosine))),
        )
        for name, sieve in grid_sieves(arguments.threshold).items()
    ]
    own = next(run for run in runs if run.name == DEFAULT)
    return Scored(data.mentions, own, runs, [])


if __name__ == "__main__":
    main()
