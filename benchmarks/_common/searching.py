"""Search the mentions of a data set, for `accuracy.py` and `ties.py`."""

from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Sequence

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
from spacy_connorm.concepts import Candidate
from spacy_connorm.evaluation import Gold
from spacy_connorm.evaluation.report import Row
from spacy_connorm.index.backends.exact import ExactIndex

SEARCHES = ("O-T", "OD-T", SIEVE)
Found = list[list[Candidate]]


def add_search_options(parser: ArgumentParser) -> ArgumentParser:
    """RETURNS (ArgumentParser): The same, with data set, encoder and searches."""
    parser.add_argument("--dataset", required=True, choices=DATASETS)
    add_encoder(parser)
    add_part(parser)
    parser.add_argument(
        "--search", nargs="+", metavar="NAME", default=SEARCHES, help="e.g. OD-T or D-T+OD-T"
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


def search_mentions(arguments: Namespace) -> tuple[list[Gold], dict[str, Found]]:
    """RETURNS (Tuple[List[Gold], Dict[str, List[List[Candidate]]]]): The gold ids of the part's
    mentions (none for some), and the candidates of each search.
    """
    names = arguments.search
    for name in names:
        make_sieve(name, arguments.threshold)
    data = Data(arguments.dataset, arguments.data, ontology=arguments.ontology, part=arguments.part)
    if arguments.encoder == "exact":
        names = [name for name in names if name in EXACT_SEARCHES]
        if not names:
            fail(f"Exact matching knows only the searches {', '.join(EXACT_SEARCHES)}.")
        search = ExactMatcher(data.ontology, data.synonyms).search
    else:
        search = _lookup_search(arguments, data)
    gold = read_standard(data)
    return gold, {name: search(name, [mention.text for mention in gold]) for name in names}


def _lookup_search(arguments: Namespace, data: Data) -> Callable[[str, Sequence[str]], Found]:
    block = encoder_config(arguments.encoder, data, train=arguments.train, work=arguments.work)
    lookup = build_lookup(
        block,
        data,
        searches=arguments.search,
        work=arguments.work,
        backend=ExactIndex(dtype=arguments.dtype),
    )

    def search(name: str, mentions: Sequence[str]) -> Found:
        lookup.sieve = make_sieve(name, arguments.threshold)
        return lookup.candidates(mentions, top_k=DEPTH)

    return search
