"""What an index of very many names costs: to build, to store, to open and to search.

Names and vectors are made up (random projections of trigrams), or, with `--encoder`, variants of
all ontologies' names and what that encoder makes of them. They are written to JSONL files first,
which builds then read as `connorm index` does. Each step runs in a fresh process.
Searches are cold first, with the index dropped from the system's cache, and then warm. Recall is
that of the nearest name of some queries, beside a comparison with all vectors.

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
from _common.builders import encoder_config, load_encoder
from _common.cli import begin, finish_tables, make_parser
from _common.datasets import Data
from _common.options import at_least
from _common.synthetic_names import make_varied_concepts
from _common.synthetic_vectors import SyntheticEncoder, make_concepts, make_encoder
from _measure.memory_usage import read_status, total

from spacy_connorm.concepts import Concept, write_concepts
from spacy_connorm.encoders.encoding import EncodeBatches
from spacy_connorm.encoders.normalized import NormalizedEncoder
from spacy_connorm.encoders.vectors import Raw
from spacy_connorm.evaluation.report import Row
from spacy_connorm.index.backends.annoy import AnnoyIndex
from spacy_connorm.index.backends.exact import ExactIndex, ExactSearcher
from spacy_connorm.index.backends.ivf import IvfIndex
from spacy_connorm.index.backends.protocol import Backend
from spacy_connorm.index.builder.build import write_index
from spacy_connorm.index.concept_index import ConceptIndex
from spacy_connorm.index.overlay import SynonymOverlay
from spacy_connorm.index.query import Query, run_search
from spacy_connorm.index.search import Search
from spacy_connorm.index.vectors.base import from_raw
from spacy_connorm.ontology import stream_ontology
from spacy_connorm.text.cleaning import clean

MADE_UP = "made-up"
BACKENDS = {"annoy": AnnoyIndex, "exact": ExactIndex, "ivf": IvfIndex}
SEARCH = Search.O_T
TOP_K = 10
ROUNDED = 1e-5
Encoder = SyntheticEncoder | NormalizedEncoder
KINDS = {
    "vectors": ("texts.",),
    "search": ("O-T.",),
    "names": ("concepts.sqlite",),
    "members": ("members.", "keys."),
}


def main() -> None:
    parser = make_parser(__doc__ or "")
    parser.add_argument("--names", type=at_least(3), default=100_000, help="[%(default)s]")
    parser.add_argument(
        "--encoder", default=MADE_UP, help="dan, a FOLDER or a config instead [%(default)s]"
    )
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
    parser.add_argument(
        "--compared", type=at_least(0), default=100, help="queries to find recall by [%(default)s]"
    )
    arguments = begin(parser)
    folder = arguments.work / f"scale-{arguments.names}-{arguments.index}-{arguments.dtype}"
    if arguments.encoder != MADE_UP:
        encoder_block(arguments)  # a config is trained here, not by a step that is measured
    try:
        tables = measure(arguments, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    finish_tables(tables, arguments.json)


def measure(arguments: Namespace, folder: Path) -> dict[str, list[Row]]:
    """RETURNS (Dict[str, List[Dict[str, Any]]]): Rows by title."""
    in_a_child(write_ontologies, arguments, folder)
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
    backend, encoder = choose_backend(arguments), choose_encoder(arguments)
    path = folder / "index"
    known = ConceptIndex(path, backend) if path.exists() else None
    concepts = stream_ontology(ontology_file(folder, change))
    spent = [0.0]

    @contextmanager
    def encode_timed(encoder: Encoder) -> Iterator[EncodeBatches]:
        def encode(texts: list[str]) -> Raw:
            start = perf_counter()
            vectors = encoder.encode(texts)
            spent[0] += perf_counter() - start
            return vectors

        yield lambda batches: map(encode, batches)

    with peak_of_memory() as peak:
        start, used = perf_counter(), process_time()
        write_index(
            path,
            concepts,
            (),
            encoder,
            searches=[SEARCH],
            backend=backend,
            clean=clean,
            known=known,
            encoding=encode_timed,
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
        "of them encoding": spent[0],
        "peak anonymous MB": peak["anonymous"],
        "peak resident MB": status_mb("VmHWM"),
    }


def choose_encoder(arguments: Namespace) -> Encoder:
    """RETURNS (Encoder): The one that the options name, loaded."""
    if arguments.encoder == MADE_UP:
        return make_encoder(arguments.dims)
    return NormalizedEncoder(load_encoder(encoder_block(arguments)))


def encoder_block(arguments: Namespace) -> dict[str, Any]:
    """RETURNS (Dict[str, Any]): The encoder's block of a pipeline's config."""
    return encoder_config(arguments.encoder, Data("ncbi", arguments.data), work=arguments.work)


def write_ontologies(arguments: Namespace, folder: Path) -> None:
    """Write the concepts of the first build, and those of the second one if there is any."""
    folder.mkdir(parents=True, exist_ok=True)
    for change in {0.0, arguments.change}:
        concepts = choose_concepts(arguments, changed=change)
        write_concepts(concepts, ontology_file(folder, change))


def ontology_file(folder: Path, change: float) -> Path:
    """RETURNS (Path): The file of the concepts with a share of changed names."""
    return folder / f"changed-{change}.jsonl"


def choose_concepts(arguments: Namespace, *, changed: float) -> Iterator[Concept]:
    """RETURNS (Iterator[Concept]): As many as the options say."""
    if arguments.encoder == MADE_UP:
        return make_concepts(arguments.names, changed=changed)
    return make_varied_concepts(arguments.data, arguments.names, changed=changed)


def choose_backend(arguments: Namespace) -> Backend:
    """RETURNS (Backend): The index that the options name."""
    return replace(BACKENDS[arguments.index](), dtype=arguments.dtype)


def ask(arguments: Namespace, folder: Path) -> Row:
    """RETURNS (Dict[str, Any]): Seconds to open the index, milliseconds to search a name, memory
    and recall.
    """
    encoder, backend = choose_encoder(arguments), choose_backend(arguments)
    concepts = islice(queried_concepts(arguments), arguments.queries)
    queries = from_raw(encoder.encode([concept.canonical_name for concept in concepts])).unit
    drop_from_cache(folder / "index")
    before = status_mb("RssAnon")
    start = perf_counter()
    index = ConceptIndex(folder / "index", backend)
    overlay = SynonymOverlay(index)
    index.searcher(SEARCH)
    opened = perf_counter() - start

    def measure_turn() -> np.ndarray:
        seconds = []
        for query in queries:
            start = perf_counter()
            run_search(SEARCH, index, overlay, Query(query[None], TOP_K))
            seconds.append(perf_counter() - start)
        return np.asarray(seconds) * 1000

    cold, warm = measure_turn(), measure_turn()
    return {
        "opened in s": opened,
        "cold p95 ms": float(np.percentile(cold, 95)),
        "p50 ms": float(np.percentile(warm, 50)),
        "p95 ms": float(np.percentile(warm, 95)),
        "anonymous MB": status_mb("RssAnon") - before,
        "mapped MB": status_mb("RssFile"),
        "PSS MB": total(os.getpid())["pss"],
        "recall@1": find_recall(index, queries[: arguments.compared]),
    }


def find_recall(index: ConceptIndex, queries: np.ndarray) -> float | None:
    """RETURNS (Optional[float]): The share, in percent, of queries for which the search finds a
    name as near as the nearest of all; None without queries.
    """
    if not len(queries):
        return None
    searcher = index.searcher(SEARCH)
    found, exact = (
        each.nearest(queries, 1).scores[:, 0]
        for each in (searcher, ExactSearcher(searcher.vectors))
    )
    return 100 * float(np.mean(found >= exact - ROUNDED))


def drop_from_cache(folder: Path) -> None:
    """Let the system forget what it has read of files."""
    for path in folder.iterdir():
        with path.open("rb") as file:
            os.fsync(file.fileno())
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def queried_concepts(arguments: Namespace) -> Iterator[Concept]:
    """RETURNS (Iterator[Concept]): Evenly spaced concepts, some with names that are not indexed."""
    step = max(arguments.names // 3 // arguments.queries, 1)
    return islice(choose_concepts(arguments, changed=0.3), 0, None, step)


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
