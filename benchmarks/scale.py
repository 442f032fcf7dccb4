"""What an index of very many names costs: to build, to store, to open and to search.

Names and vectors are made up (random projections of trigrams): they measure memory and latency, not
recall. Each step runs in a fresh process.

Example: python benchmarks/scale.py --names 1000000 --index ivf --dtype int8 --change 0.01
"""

import os
import shutil
import sys
import threading
from argparse import Namespace
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np
from _common.cli import begin, finish_tables, make_parser
from _common.options import at_least
from _common.synthetic_vectors import make_concepts, make_encoder
from _measure.memory_usage import read_status, total

from spacy_connorm.concepts import Concept
from spacy_connorm.evaluation.report import Row
from spacy_connorm.index.backends.annoy import AnnoyIndex
from spacy_connorm.index.backends.exact import ExactIndex
from spacy_connorm.index.backends.ivf import IvfIndex
from spacy_connorm.index.backends.protocol import Backend
from spacy_connorm.index.builder.build import write_index
from spacy_connorm.index.concept_index import ConceptIndex
from spacy_connorm.index.overlay import SynonymOverlay
from spacy_connorm.index.query import Query, run_search
from spacy_connorm.index.search import Search
from spacy_connorm.index.vectors.base import from_raw
from spacy_connorm.text.cleaning import clean

BACKENDS = {"annoy": AnnoyIndex, "exact": ExactIndex, "ivf": IvfIndex}
SEARCH = Search.O_T
TOP_K = 10
WARM_UP = 200
KINDS = {
    "vectors": ("texts.",),
    "search": ("O-T.",),
    "names": ("concepts.sqlite",),
    "members": ("members.", "keys."),
}


def main() -> None:
    parser = make_parser(__doc__ or "")
    parser.add_argument("--names", type=at_least(3), default=100_000, help="[%(default)s]")
    parser.add_argument("--dims", type=at_least(1), default=384, help="[%(default)s]")
    parser.add_argument("--index", choices=BACKENDS, default="ivf", help="[%(default)s]")
    parser.add_argument(
        "--dtype", choices=("float32", "float16", "int8"), default="int8", help="[%(default)s]"
    )
    parser.add_argument(
        "--change",
        type=float,
        default=0.0,
        help="the share of concepts to change for a second build",
    )
    parser.add_argument("--queries", type=at_least(1), default=1000, help="[%(default)s]")
    arguments = begin(parser)
    folder = arguments.work / f"scale-{arguments.names}-{arguments.index}-{arguments.dtype}"
    try:
        tables = measure(arguments, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    finish_tables(tables, arguments.json)


def measure(arguments: Namespace, folder: Path) -> dict[str, list[Row]]:
    """RETURNS (Dict[str, List[Dict[str, Any]]]): Rows by title."""
    built = [{"build": "from nothing", **in_a_child(build, arguments, folder, 0.0)}]
    if arguments.change:
        rebuilt = in_a_child(build, arguments, folder, arguments.change)
        share = rebuilt["CPU seconds"] / built[0]["CPU seconds"]
        built.append({"build": f"{arguments.change:.1%} of concepts changed", **rebuilt})
        print(
            f"The second build took {share:.1%} of the first one's processor time", file=sys.stderr
        )
    return {
        "Building": built,
        "On disk": sizes_on_disk(folder / "index"),
        "Asking": [in_a_child(ask, arguments, folder)],
    }


def in_a_child(task: Callable[..., Row], *arguments: Any) -> Row:
    """RETURNS (Dict[str, Any]): What a task returns in a fresh process."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(task, *arguments).result()


def build(arguments: Namespace, folder: Path, change: float) -> Row:
    """Build an index. Vectors of an existing one are copied.

    arguments (Namespace): The options.
    folder (Path): Where to.
    change (float): The share of concepts with changed names.
    RETURNS (Dict[str, Any]): Counts, seconds and peak memory.
    """
    backend, encoder = choose_backend(arguments), make_encoder(arguments.dims)
    path = folder / "index"
    known = ConceptIndex(path, backend) if path.exists() else None
    encoding = [0.0]

    def encode(texts: list[str]) -> np.ndarray:
        start = perf_counter()
        vectors = encoder.encode(texts)
        encoding[0] += perf_counter() - start
        return vectors

    with peak_of_memory() as peak:
        start, used = perf_counter(), process_time()
        write_index(
            path,
            make_concepts(arguments.names, changed=change),
            (),
            replace(encoder, encode=encode),
            searches=[SEARCH],
            backend=backend,
            clean=clean,
            known=known,
        )
        seconds, used = perf_counter() - start, process_time() - used
    manifest = ConceptIndex(path, backend).manifest
    counts = manifest["counts"]
    return {
        "names": counts["ontology_members"],
        "concepts": counts["concepts"],
        "copied": counts["copied_rows"],
        "lists": manifest["updates"].get(SEARCH, "learned"),
        "seconds": seconds,
        "CPU seconds": used,
        "of them encoding": encoding[0],
        "peak anonymous MB": peak["anonymous"],
        "peak resident MB": status_mb("VmHWM"),
    }


def choose_backend(arguments: Namespace) -> Backend:
    """RETURNS (Backend): The index that the options name."""
    return replace(BACKENDS[arguments.index](), dtype=arguments.dtype)


def ask(arguments: Namespace, folder: Path) -> Row:
    """RETURNS (Dict[str, Any]): Seconds to open the index, milliseconds to search a name, and
    memory.
    """
    encoder, backend = make_encoder(arguments.dims), choose_backend(arguments)
    before = status_mb("RssAnon")
    start = perf_counter()
    index = ConceptIndex(folder / "index", backend)
    overlay = SynonymOverlay(index)
    index.searcher(SEARCH)
    opened = perf_counter() - start
    names = [
        concept.canonical_name for concept in islice(queried_concepts(arguments), arguments.queries)
    ]
    seconds = []
    for name in [*names[:WARM_UP], *names]:
        vectors = from_raw(encoder.encode([name])).unit
        start = perf_counter()
        run_search(SEARCH, index, overlay, Query(vectors, TOP_K))
        seconds.append(perf_counter() - start)
    warm = np.asarray(seconds[len(names[:WARM_UP]) :]) * 1000
    return {
        "opened in s": opened,
        "p50 ms": float(np.percentile(warm, 50)),
        "p95 ms": float(np.percentile(warm, 95)),
        "anonymous MB": status_mb("RssAnon") - before,
        "mapped MB": status_mb("RssFile"),
        "PSS MB": total(os.getpid())["pss"],
    }


def queried_concepts(arguments: Namespace) -> Iterator[Concept]:
    """RETURNS (Iterator[Concept]): Evenly spaced concepts, some with names that are not indexed."""
    step = max(arguments.names // 3 // arguments.queries, 1)
    return islice(make_concepts(arguments.names, changed=0.3), 0, None, step)


def sizes_on_disk(folder: Path) -> list[Row]:
    """RETURNS (List[Dict[str, Any]]): Megabytes by kind of file."""
    sizes = {file.name: file.stat().st_size / 1e6 for file in folder.iterdir()}
    rows = [
        {"files": kind, "MB": sum(size for name, size in sizes.items() if name.startswith(stems))}
        for kind, stems in KINDS.items()
    ]
    return [*rows, {"files": "all", "MB": sum(sizes.values())}]


@contextmanager
def peak_of_memory() -> Iterator[dict[str, float]]:
    """Measure the peak of anonymous memory, which unlike mapped files cannot be dropped. The kernel
    does not record it.

    YIELDS (Dict[str, float]): "anonymous": megabytes more than at the start; complete on exit.
    """
    before, done, peak = status_mb("RssAnon"), threading.Event(), {"anonymous": 0.0}

    def watch() -> None:
        while not done.wait(0.05):
            peak["anonymous"] = max(peak["anonymous"], status_mb("RssAnon") - before)

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield peak
    finally:
        done.set()
        watcher.join()


def status_mb(key: str) -> float:
    """RETURNS (float): An entry of this process's /proc/PID/status, in megabytes."""
    return read_status(os.getpid(), key) / 1000


if __name__ == "__main__":
    main()
