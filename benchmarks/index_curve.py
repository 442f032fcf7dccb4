"""Annoy's recall against its speed, by number of trees and nodes inspected, beside exact search.

The queries are the test mentions of NCBI and BC5CDR diseases, the items the names of MEDIC 2012.
A mention counts for recall@1 if the best score found is the exact search's best, for recall@10 by
the share of the ten scores found that reach the exact search's tenth.

Example: python benchmarks/index_curve.py --data ../shared/data
"""

from argparse import Namespace
from collections import Counter
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import NamedTuple

import numpy as np
from catalog import Data
from lookups import build_lookup, encoder_config
from options import begin, fail, finish, make_parser

from spacy_connorm.evaluation.report import Row
from spacy_connorm.index.annoy import AnnoyIndex
from spacy_connorm.index.concept_index import Searcher
from spacy_connorm.index.exact import ExactIndex, Neighbours
from spacy_connorm.index.vectors import DenseVectors, Vectors, from_raw
from spacy_connorm.text.cleaning import clean

DATASETS = ("ncbi", "bc5cdr-d")
SHIPPED = AnnoyIndex()
TREES = (25, 50, 100, 200)
SEARCH_K = (5_000, 10_000, 20_000, 40_000)
# What a lookup asks the index for when it wants ten concepts.
NEIGHBOURS = 40
BATCH = 128
# Scores closer than this are one score.
NOISE = 2e-6


class Queries(NamedTuple):
    """Distinct mentions.

    vectors (Floats2d): (n, width) unit vectors.
    counts (Ints1d): How often each mention occurs.
    """

    vectors: np.ndarray
    counts: np.ndarray


def main() -> None:
    parser = make_parser(__doc__ or "")
    parser.add_argument("--encoder", default="minilm", help="minilm, dan or a FOLDER [%(default)s]")
    parser.add_argument("--trees", type=int, nargs="+", default=TREES)
    parser.add_argument("--search-k", type=int, nargs="+", default=SEARCH_K)
    arguments = begin(parser)
    finish(measure(arguments), arguments.json)


def measure(arguments: Namespace) -> list[Row]:
    """RETURNS (List[Dict[str, Any]]): A row of exact search, then one a setting of Annoy."""
    if arguments.encoder == "ngram":
        fail("Sparse vectors are searched exactly: give minilm, dan or the folder of a model.")
    data = [Data(name, arguments.data) for name in DATASETS]
    block = encoder_config(arguments.encoder, data[0], work=arguments.work)
    lookup = build_lookup(block, data[0], searches=["O-T"], work=arguments.work)
    counts = Counter(clean(mention.text) for each in data for mention in each.mentions)
    raw = lookup.encoder.predict(list(counts))
    queries = Queries(from_raw(raw).unit, np.asarray(list(counts.values())))
    # Not mapped: the first search over cold pages would pay for reading them.
    names = lookup.index.search_vectors("O-T")
    vectors = DenseVectors(np.array(names.unit), np.array(names.norms))
    searcher = ExactIndex().open(vectors, Path())
    _, ms = search(searcher, queries, batch=1)
    rows = [row("exact, one by one", vectors, queries, ms)]
    exact, ms = search(searcher, queries)
    rows.append(row(f"exact, {BATCH} at once", vectors, queries, ms))
    with TemporaryDirectory(dir=arguments.work) as folder:
        for n_trees in arguments.trees:
            path = Path(folder) / f"{n_trees}.index"
            start = perf_counter()
            AnnoyIndex(n_trees=n_trees).build(vectors, path)
            built = {"build_s": perf_counter() - start, "file_mb": path.stat().st_size / 1e6}
            for search_k in arguments.search_k:
                settings = AnnoyIndex(n_trees=n_trees, search_k=search_k)
                found, ms = search(settings.open(vectors, path), queries)
                rows.append(row("annoy", vectors, queries, ms) | built)
                rows[-1] |= {"n_trees": n_trees, "search_k": search_k}
                rows[-1] |= {"shipped": settings == SHIPPED, **recall(found, exact, queries)}
    return rows


def search(searcher: Searcher, queries: Queries, *, batch: int = BATCH) -> tuple[Neighbours, float]:
    """RETURNS (Tuple[Neighbours, float]): What is found, and milliseconds a mention: the median of
    all batches, since other work on the machine slows some of them.
    """
    found, ms = [], []
    for first in range(0, len(queries.vectors), batch):
        asked = queries.vectors[first : first + batch]
        start = perf_counter()
        found.append(searcher.nearest(asked, NEIGHBOURS))
        ms.append(1000 * (perf_counter() - start) / len(asked))
    items, scores = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return Neighbours(items, scores), median(ms)


def recall(found: Neighbours, exact: Neighbours, queries: Queries) -> Row:
    """RETURNS (Dict[str, Any]): In percent of mentions, repeated ones counted each time."""
    first = found.scores[:, 0] >= exact.scores[:, 0] - NOISE
    ten = (found.scores[:, :10] >= exact.scores[:, 9:10] - NOISE).mean(axis=1)
    return {
        "recall@1": 100 * float(np.average(first, weights=queries.counts)),
        "recall@10": 100 * float(np.average(ten, weights=queries.counts)),
    }


def row(index: str, vectors: Vectors, queries: Queries, ms: float) -> Row:
    """RETURNS (Dict[str, Any]): What every row has, as if the search were exact."""
    return {
        "index": index,
        "vectors": len(vectors),
        "mentions": int(queries.counts.sum()),
        "n_trees": None,
        "search_k": None,
        "shipped": None,
        "recall@1": 100.0,
        "recall@10": 100.0,
        "ms_per_mention": round(ms, 3),
        "build_s": 0.0,
        "file_mb": 0.0,
    }


if __name__ == "__main__":
    main()
