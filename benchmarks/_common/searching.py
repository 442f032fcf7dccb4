"""Search the mentions of a data set, for `accuracy.py` and `ties.py`."""

from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from _common.builders import (
    SIEVE,
    THRESHOLD,
    build_lookup,
    encoder_config,
    is_trained_here,
    make_sieve,
)
from _common.cli import fail
from _common.datasets import DATASETS, Data
from _common.exact_match import EXACT_SEARCHES, ExactMatcher
from _common.options import add_encoder, add_ontology, add_part
from _common.scoring import DEPTH, read_standard
from _common.trained_encoders import training_facts
from spacy_connorm.concepts import Candidate
from spacy_connorm.evaluation import Gold
from spacy_connorm.evaluation.report import Row
from spacy_connorm.index.backends.exact import ExactIndex

SEARCHES = ("O-T", "OD-T", SIEVE)
Found = list[list[Candidate]]


class Searched(NamedTuple):
    """The mentions of a part, searched.

    data (Data): The data set.
    gold (List[Gold]): The gold ids of each mention; none for some.
    found (Dict[str, List[List[Candidate]]]): The candidates of each mention, by search.
    training (Dict[str, Any]): What the encoder was trained with, see `training_facts`.
    """

    data: Data
    gold: list[Gold]
    found: dict[str, Found]
    training: dict[str, Any]


def add_search_options(parser: ArgumentParser) -> ArgumentParser:
    """RETURNS (ArgumentParser): The same, with data set, encoder and searches."""
    parser.add_argument("--dataset", required=True, choices=DATASETS)
    add_encoder(parser)
    add_part(parser)
    parser.add_argument(
        "--search",
        nargs="+",
        metavar="NAME",
        help=f"e.g. OD-C or D-T+O-T [{' '.join(SEARCHES)}]",
    )
    parser.add_argument(
        "--threshold",
        type=float,
        default=THRESHOLD,
        help="cosine at which a search of a sieve answers; the last always does [%(default)s]",
    )
    parser.add_argument(
        "--dtype",
        choices=("float32", "float16", "int8"),
        default="float32",
        help="how the index stores vectors [%(default)s]",
    )
    add_ontology(parser)
    return parser


def labels(arguments: Namespace) -> Row:
    """RETURNS (Dict[str, Any]): The first columns of every row. `train` is None if the encoder is
    not trained here.
    """
    train = arguments.train if is_trained_here(arguments.encoder) else None
    return {
        "dataset": arguments.dataset,
        "part": arguments.part,
        "encoder": arguments.encoder,
        "train": train,
    }


def search_mentions(arguments: Namespace) -> Searched:
    """RETURNS (Searched): The mentions of the part, searched by each search."""
    names = arguments.search or SEARCHES
    for name in names:
        make_sieve(name, arguments.threshold)
    data = Data(arguments.dataset, arguments.data, ontology=arguments.ontology, part=arguments.part)
    block: dict[str, Any] = {}
    if arguments.encoder == "exact":
        names = [name for name in names if name in EXACT_SEARCHES]
        if not names:
            fail(f"Exact matching knows only the searches {', '.join(EXACT_SEARCHES)}.")
        search = ExactMatcher(data.ontology, data.synonyms).search
    else:
        block = encoder_config(arguments.encoder, data, train=arguments.train, work=arguments.work)
        search = _lookup_search(block, names, arguments, data)
    gold = read_standard(data)
    texts = [mention.text for mention in gold]
    found = {name: search(name, texts) for name in names}
    return Searched(data, gold, found, training_facts(block))


def _lookup_search(
    block: dict[str, Any], names: Sequence[str], arguments: Namespace, data: Data
) -> Callable[[str, Sequence[str]], Found]:
    lookup = build_lookup(
        block,
        data,
        searches=names,
        work=arguments.work,
        backend=ExactIndex(dtype=arguments.dtype),
    )

    def search(name: str, mentions: Sequence[str]) -> Found:
        lookup.sieve = make_sieve(name, arguments.threshold)
        return lookup.candidates(mentions, top_k=DEPTH)

    return search
