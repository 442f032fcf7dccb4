"""Recall against speed: exact search, Annoy by nodes inspected, inverted lists by lists read.

The items are names: those of MEDIC 2012 first, then those of the other ontologies of the data
folder and variants of all of them, up to `--names`. The queries are the test mentions of NCBI and
BC5CDR diseases. A mention counts for recall@1 if the best score found is that of exact search, and
for recall@10 by the share of the ten scores found that reach the tenth of exact search.

Searches take turns, each time with other mentions; times are of the processor, which other work on
the machine changes less than those of the clock: compare them with one thread. Vectors and indexes
are kept in the work folder. `resident_mb` is what remains of the index file in memory after a
search for all mentions; the vectors that rescore are in a file of their own, the same for all.

Example: OMP_NUM_THREADS=1 python benchmarks/index_curve.py --batch 1 --data ../shared/data
"""

import json
import os
from argparse import Namespace
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from _common.builders import encoder_config, load_encoder
from _common.cli import begin, fail, finish_tables, make_parser
from _common.datasets import DISEASES, Data
from _common.options import add_repeats, at_least
from _common.synthetic_names import write_vectors
from _measure.interleaved import spread, take_turns
from _measure.memory_usage import mapped
from _measure.stopwatch import time_call

from spacy_connorm.evaluation.report import Row
from spacy_connorm.index.backends.annoy import AnnoyIndex
from spacy_connorm.index.backends.exact import ExactIndex
from spacy_connorm.index.backends.ivf import IvfIndex
from spacy_connorm.index.backends.protocol import Neighbours, Searcher
from spacy_connorm.index.vectors.kinds import Vectors, from_raw
from spacy_connorm.text.cleaning import clean

SEARCH_K = (20_000, 80_000, 320_000, 1_280_000)
PROBES = (32, 64, 128, 256, 512, 1024, 2048)
LEVELS = (95, 99)
INDEXES = ("exact", "annoy", "ivf")
# Enough for ten concepts of most mentions.
NEIGHBOURS = 40
# In all, and of a turn.
MENTIONS, TURN = 10_000, 128
DTYPE = "int8"
SEED = 13
# Scores closer than this count as equal.
NOISE = 2e-6


class Queries(NamedTuple):
    """Distinct mentions, in random order.

    vectors (Floats2d): (n, width) unit vectors.
    counts (Ints1d): How often each mention occurs.
    """

    vectors: np.ndarray
    counts: np.ndarray


def main() -> None:
    parser = make_parser(__doc__ or "")
    add = parser.add_argument
    add("--names", type=at_least(1000), default=76_000, help="[%(default)s]")
    add("--encoder", default="dan", help="minilm, dan or a FOLDER [%(default)s]")
    add("--indexes", nargs="+", choices=INDEXES, default=INDEXES, help="[all]")
    add("--search-k", type=at_least(1), nargs="+", default=SEARCH_K)
    add("--probes", type=at_least(1), nargs="+", default=PROBES)
    add("--batch", type=at_least(1), default=TURN, help="[%(default)s]")
    add_repeats(parser)
    arguments = begin(parser)
    rows = measure(arguments)
    tables = {"Curves": rows, "Fastest at a recall": summary(rows)}
    finish_tables(tables, arguments.json, precise=("recall@1", "recall@10"))


def measure(arguments: Namespace) -> list[Row]:
    """RETURNS (List[Dict[str, Any]]): A row for exact search, then one per setting of a backend."""
    if arguments.encoder == "ngram":
        fail("Sparse vectors are searched exactly: give minilm, dan or the folder of a model.")
    data = [Data(name, arguments.data) for name in DISEASES]
    encoder = load_encoder(encoder_config(arguments.encoder, data[0], work=arguments.work))
    queries = read_queries(data, encoder)
    path = write_vectors(encoder, arguments.data, arguments.names, work=arguments.work)
    unit = np.load(path, mmap_mode="r")
    vectors = from_raw(np.asarray(unit), dtype=DTYPE)
    exact = ExactIndex().open(vectors, path)
    expected = search(exact, queries.vectors)
    head = {"index": "exact", "setting": "", "vectors": len(vectors)}
    searchers: list[Searcher] = []
    rows: list[Row] = []
    if "exact" in arguments.indexes:
        searchers.append(exact)
        own = {"file_mb": 0.0, "build_cpu_s": 0.0, **recall(expected, expected, queries)}
        rows.append({**head, **own, "resident_mb": 0.0})
    approximate = {
        "annoy": (AnnoyIndex(exact_below=0), "search_k", arguments.search_k),
        "ivf": (IvfIndex(), "probes", arguments.probes),
    }
    for backend, option, values in (
        approximate[name] for name in arguments.indexes if name in approximate
    ):
        index = path.with_suffix(f".{type(backend).__name__}.{DTYPE}")
        built = build_once(backend, vectors, index)
        for value in (None, *values):
            chosen = backend if value is None else replace(backend, **{option: value})
            searchers.append(chosen.open(vectors, index))
            found, resident = search_resident(searchers[-1], queries.vectors, index)
            setting = "default" if value is None else f"{option} {value}"
            own = {**built, **recall(found, expected, queries), "resident_mb": resident}
            rows.append({**head, "index": type(backend).__name__, "setting": setting, **own})
    timers = [make_timer(searcher, queries, batch=arguments.batch) for searcher in searchers]
    turns = take_turns(timers, arguments.repeats)
    return [row | speed(own) for row, own in zip(rows, turns, strict=True)]


def read_queries(data: Sequence[Data], encoder: Any) -> Queries:
    """RETURNS (Queries): The mentions to score of some data sets, at most `MENTIONS`."""
    counts = Counter(clean(mention.text) for each in data for mention in each.mentions)
    texts = sorted(counts)
    chosen = [texts[i] for i in np.random.default_rng(SEED).permutation(len(texts))[:MENTIONS]]
    vectors = from_raw(encoder.predict(chosen)).unit
    return Queries(vectors, np.asarray([counts[text] for text in chosen]))


def build_once(backend: Any, vectors: Vectors, path: Path) -> Row:
    """RETURNS (Dict[str, Any]): The size of an index, and the processor seconds it took to build,
    now or in an earlier run.
    """
    kept = path.with_name(f"{path.name}.json")
    if not kept.is_file() or not path.is_file():
        taken = time_call(lambda: backend.build(vectors, path))
        kept.write_text(json.dumps({"build_cpu_s": taken.processor}))
    # Few vectors are searched exactly, without a file.
    size = path.stat().st_size if path.is_file() else 0
    return {"file_mb": size / 1e6, **json.loads(kept.read_text())}


def search(searcher: Searcher, queries: np.ndarray, *, batch: int = TURN) -> Neighbours:
    """RETURNS (Neighbours): The neighbours of all queries, searched in batches."""
    found = [
        searcher.nearest(queries[first : first + batch], NEIGHBOURS)
        for first in range(0, len(queries), batch)
    ]
    items, scores = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return Neighbours(items, scores)


def search_resident(
    searcher: Searcher, queries: np.ndarray, path: Path
) -> tuple[Neighbours, float]:
    """RETURNS (Tuple[Neighbours, float]): The neighbours of all queries, and the megabytes of the
    file that the search brought to memory.
    """
    before = mapped(os.getpid(), path)["rss"]
    found = search(searcher, queries)
    return found, mapped(os.getpid(), path)["rss"] - before


def recall(found: Neighbours, exact: Neighbours, queries: Queries) -> Row:
    """RETURNS (Dict[str, Any]): In percent of mentions. Repeated mentions count each time."""
    first = found.scores[:, 0] >= exact.scores[:, 0] - NOISE
    ten = (found.scores[:, :10] >= exact.scores[:, 9:10] - NOISE).mean(axis=1)
    return {
        "recall@1": 100 * float(np.average(first, weights=queries.counts)),
        "recall@10": 100 * float(np.average(ten, weights=queries.counts)),
    }


def make_timer(searcher: Searcher, queries: Queries, *, batch: int) -> Callable[[int], float]:
    """RETURNS (Callable[[int], float]): Gives the processor's microseconds per mention of a turn.
    Each turn searches other mentions.
    """

    def measure_turn(repeat: int) -> float:
        first = repeat * TURN % max(len(queries.vectors) - TURN, 1)
        asked = queries.vectors[first : first + TURN]
        return 1e6 * time_call(lambda: search(searcher, asked, batch=batch)).processor / len(asked)

    return measure_turn


def speed(times: Sequence[float]) -> Row:
    """RETURNS (Dict[str, Any]): Processor microseconds per mention: median, fastest and slowest
    turn; and queries per second.
    """
    micros = spread(times)
    columns = micros.rounded().columns("us", "fastest_us", "slowest_us")
    return {**columns, "queries_per_s": round(1e6 / micros.median)}


def summary(rows: Sequence[Row]) -> list[Row]:
    """RETURNS (List[Dict[str, Any]]): For each level of recall@10, the fastest setting of each
    backend that reaches it, compared with Annoy's.
    """
    found = []
    for level in LEVELS:
        best: dict[str, Row] = {}
        for row in sorted(rows, key=lambda row: row["us"]):
            if row["recall@10"] >= level:
                best.setdefault(row["index"], row)
        annoy = best.get("AnnoyIndex")
        found += [
            {"recall@10 of": level, **_against(row, annoy)} for _, row in sorted(best.items())
        ]
    return found


def _against(row: Row, annoy: Row | None) -> Row:
    kept = {key: row[key] for key in ("index", "setting", "recall@10", "us", "queries_per_s")}
    if annoy is None:
        return {**kept, "times_annoys_speed": None, "percent_of_annoys_memory": None}
    memory, other = (each["file_mb"] + each["resident_mb"] for each in (row, annoy))
    return {
        **kept,
        "times_annoys_speed": round(annoy["us"] / row["us"], 1),
        "percent_of_annoys_memory": round(100 * memory / other, 1),
    }


if __name__ == "__main__":
    main()
