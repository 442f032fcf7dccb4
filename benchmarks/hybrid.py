"""What spelling should count beside meaning: how often a hybrid encoder's first concept is right,
by lexical weight, and what its searches cost.

All weights of a data set's part are scored with one index and one encoding of each text, on
mentions as they are written, without long forms or parts. Choose a weight on dev; test says what
the choice is worth. Searches take turns.

Example: python benchmarks/hybrid.py --encoder minilm --data ../shared/data
"""

from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from _common.builders import build_lookup, encoder_config, make_hybrid
from _common.cli import begin, clear_errors, finish_tables, make_parser
from _common.datasets import DISEASES, PARTS, Data
from _common.options import add_repeats, at_least
from _common.scoring import DEPTH, predict, read_standard
from _measure.interleaved import take_turns
from _measure.stopwatch import time_call

from spacy_connorm.encoders import encode
from spacy_connorm.encoders.vectors import HybridArray
from spacy_connorm.evaluation.lexical_weights import WEIGHTS, score_weights, weight_rows
from spacy_connorm.evaluation.report import Row
from spacy_connorm.index.backends.annoy import AnnoyIndex
from spacy_connorm.index.backends.exact import ExactIndex, ExactSearcher
from spacy_connorm.index.backends.inverted_index import InvertedIndex
from spacy_connorm.index.backends.protocol import Neighbours
from spacy_connorm.index.search import Search
from spacy_connorm.index.vectors.base import HybridVectors, from_raw
from spacy_connorm.linker.lookup import ConceptLookup

SEARCH = Search.OD_T
# What a lookup asks an index for to find five concepts.
NEIGHBOURS = 20
BATCH = 128
Searching = Callable[[slice], Neighbours]


def main() -> None:
    arguments = begin(add_options(make_parser(__doc__ or "")))
    with clear_errors():
        tables = measure(arguments)
    finish_tables(tables, arguments.json, precise=("ms_per_mention",))


def add_options(parser: ArgumentParser) -> ArgumentParser:
    """RETURNS (ArgumentParser): The same, with the benchmark's options."""
    parser.add_argument("--encoder", default="minilm", help="minilm, dan or a FOLDER [%(default)s]")
    parser.add_argument("--dataset", nargs="+", choices=DISEASES, default=DISEASES)
    parser.add_argument("--part", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--weights", nargs="+", type=float, metavar="W", default=WEIGHTS)
    parser.add_argument(
        "--ngram-range", nargs=2, type=at_least(1), metavar="N", default=(3, 3), help="[3 3]"
    )
    add_repeats(parser)
    return parser


def measure(arguments: Namespace) -> dict[str, list[Row]]:
    """RETURNS (Dict[str, List[Dict[str, Any]]]): Accuracy, one row a weight; and the time of
    searches in the index of the last data set's last part.
    """
    rows: list[Row] = []
    for name in arguments.dataset:
        for part in arguments.part:
            data = Data(name, arguments.data, part=part)
            lookup = build(arguments, data)
            rows += [
                {"dataset": name, "part": part, **row} for row in score(lookup, data, arguments)
            ]
    texts = sorted({mention.text for mention in data.mentions})
    return {"Acc@1 in percent": rows, "Searches": time_searches(lookup, texts, arguments)}


def build(arguments: Namespace, data: Data) -> ConceptLookup:
    """RETURNS (ConceptLookup): With a hybrid encoder."""
    dense = encoder_config(arguments.encoder, data, work=arguments.work)
    block: dict[str, Any] = make_hybrid(dense, 0.0)
    block["lexical"]["ngram_range"] = list(arguments.ngram_range)
    return build_lookup(block, data, searches=[SEARCH], work=arguments.work)


def score(lookup: ConceptLookup, data: Data, arguments: Namespace) -> list[Row]:
    """RETURNS (List[Dict[str, Any]]): One row a weight."""
    gold = read_standard(data)
    mentions = [mention.text for mention in gold]
    scores = score_weights(
        lookup, gold, lambda: predict(lookup.candidates(mentions, top_k=DEPTH)), arguments.weights
    )
    return weight_rows(scores)


def time_searches(lookup: ConceptLookup, texts: list[str], arguments: Namespace) -> list[Row]:
    """RETURNS (List[Dict[str, Any]]): One row a way to search: median milliseconds per mention."""
    mapped: Any = lookup.index.search_vectors(SEARCH)
    # Read into memory: the first search of mapped vectors would pay for reading the pages.
    vectors = HybridVectors.from_raw(mapped.sums(identity(len(mapped))))
    raw = encode(lookup.encoder, texts[: 4 * BATCH])
    queries = from_raw(HybridArray(raw.dense, raw.lexical, 0.3)).unit
    mentions = queries.shape[0]
    with TemporaryDirectory(dir=arguments.work) as folder:
        searches = open_searches(vectors, queries, Path(folder) / f"{SEARCH}.index")
        timers = [partial(time_search, search, mentions) for search in searches.values()]
        turns = take_turns(timers, arguments.repeats, warm_up=1)
    return [
        {
            "search": name,
            "vectors": len(vectors),
            "mentions": mentions,
            "ngram_range": "-".join(map(str, arguments.ngram_range)),
            "repeats": arguments.repeats,
            "ms_per_mention": 1000 * median(own) / mentions,
        }
        for name, own in zip(searches, turns, strict=True)
    ]


def identity(rows: int) -> Any:
    """RETURNS (csr_matrix): Picks every row."""
    from scipy import sparse

    return sparse.identity(rows, format="csr", dtype="float32")


def time_search(search: Searching, mentions: int, repeat: int) -> float:
    """RETURNS (float): Seconds to search all mentions."""
    rows = [slice(first, first + BATCH) for first in range(0, mentions, BATCH)]
    return time_call(lambda: [search(some) for some in rows]).clock


def open_searches(vectors: HybridVectors, queries: HybridArray, path: Path) -> dict[str, Searching]:
    """RETURNS (Dict[str, Callable[[slice], Neighbours]]): Ways to search, by name."""
    AnnoyIndex().build(vectors, path)
    postings = InvertedIndex.from_vectors(vectors.lexical)
    lexical, dense = ExactSearcher(vectors.lexical), ExactSearcher(vectors.dense)
    annoy = AnnoyIndex().open(vectors.dense, path)
    both, proposed = ExactIndex().open(vectors, path), AnnoyIndex().open(vectors, path)
    return {
        "lexical, all rows": lambda rows: lexical.nearest(queries.lexical[rows], NEIGHBOURS),
        "lexical, sparse_dot_topn": lambda rows: postings.nearest(
            queries.lexical[rows], NEIGHBOURS
        ),
        "dense, ExactIndex": lambda rows: dense.nearest(queries.dense[rows], NEIGHBOURS),
        "dense, AnnoyIndex": lambda rows: annoy.nearest(queries.dense[rows], NEIGHBOURS),
        "hybrid, ExactIndex": lambda rows: both.nearest(queries[rows], NEIGHBOURS),
        "hybrid, AnnoyIndex": lambda rows: proposed.nearest(queries[rows], NEIGHBOURS),
    }


if __name__ == "__main__":
    main()
