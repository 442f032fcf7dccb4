"""The child process of `processes.py`: pipelines that several workers read with.

Every spawned worker imports this file, so it imports only the standard library and spaCy.
"""

import json
import multiprocessing
import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from itertools import islice
from pathlib import Path
from time import perf_counter
from typing import Any

import spacy
from spacy.language import Language
from spacy.tokens import Doc, DocBin

from _measure.interleaved import take_turns

# Small, so that every worker has a batch at once.
BATCH = 8
# What encoders import, by the extra of spacy-connorm that installs it.
LIBRARIES = {
    "": ("sklearn.feature_extraction.text",),
    "dan": ("tokenizers", "safetensors.numpy"),
    "transformers": ("spacy_transformers.layers.hf_shim",),
    "onnx": ("onnxruntime", "tokenizers"),
    "hybrid": ("sparse_dot_topn",),
}
INDEX_LIBRARIES = ("scipy.sparse",)
Row = dict[str, Any]


class Libraries:
    """A component that does nothing but import the libraries of an encoder in each worker."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = list(names)
        for name in names:
            import_module(name)

    def __call__(self, doc: Doc) -> Doc:
        return doc

    def __reduce__(self) -> tuple:
        return Libraries, (self._names,)


@Language.factory("libraries")
def make_libraries(nlp: Language, name: str, names: list[str]) -> Libraries:
    return Libraries(names)


def make_sides(path: str) -> dict[str, Language]:
    """RETURNS (Dict[str, Language]): The whole pipeline, spaCy alone, and spaCy with the libraries
    that the pipeline's encoder imports.
    """
    from spacy_connorm.encoders import required_extra

    nlp = spacy.load(path)
    spacy_alone, libraries = (spacy.load(path, exclude=nlp.pipe_names) for _ in range(2))
    normalizer: Any = nlp.get_pipe("concept_normalizer")
    extras = required_extra(normalizer.lookup.encoder).split(",")
    names = [*INDEX_LIBRARIES, *(name for extra in extras for name in LIBRARIES[extra])]
    libraries.add_pipe("libraries", config={"names": names})
    return {"spacy": spacy_alone, "libraries": libraries, "pipeline": nlp}


def start_workers(nlp: Language, docs: Sequence[Doc], *, processes: int) -> Row:
    """Time workers from the call until each has answered a document.

    nlp (Language): The pipeline.
    docs (Sequence[Doc]): At least one per worker.
    processes (int): How many workers.
    RETURNS (Dict[str, Any]): "seconds" until the last worker has answered; "worker_s", a worker's
        processor seconds, and its megabytes of memory: means over the workers.
    """
    path = getattr(nlp, "path", None)
    copies = [doc.copy() for doc in docs[:processes]]
    start = perf_counter()
    stream = nlp.pipe(copies, n_process=processes, batch_size=1)
    for _ in islice(stream, processes):
        pass
    seconds = perf_counter() - start
    workers = [process.pid for process in multiprocessing.active_children()]
    measured = [worker_row(pid, path) for pid in workers if pid is not None]
    for _ in stream:
        pass
    means = {key: sum(row[key] for row in measured) / len(measured) for key in measured[0]}
    return {"seconds": seconds, **means}


def worker_row(pid: int, folder: Path | None) -> dict[str, float]:
    """RETURNS (Dict[str, float]): Processor seconds and megabytes of a worker, and the megabytes of
    the files below a folder that it has mapped.
    """
    from _measure.memory_usage import mapped, total

    ticks = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]
    memory = total(pid)
    index = mapped(pid, folder) if folder else {"rss": 0.0, "pss": 0.0}
    return {
        "worker_s": sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK"),
        **{f"{key}_mb": size for key, size in memory.items()},
        **{f"index_{key}_mb": size for key, size in index.items()},
    }


def read_stream(
    nlp: Language, docs: Sequence[Doc], *, processes: int
) -> tuple[float, list[list[Any]]]:
    """Read all documents.

    nlp (Language): The pipeline.
    docs (Sequence[Doc]): The documents; not changed.
    processes (int): How many processes read them.
    RETURNS (Tuple[float, List[List[Any]]]): Mentions per second, measured after each process has
        read its first batch if there are more; and the answers of each document.
    """
    answers: list[list[Any]] = []
    first = processes * BATCH if len(docs) > processes * BATCH else 0
    start = perf_counter()
    copies = [doc.copy() for doc in docs]
    for doc in nlp.pipe(copies, n_process=processes, batch_size=BATCH):
        answers.append([(ent.kb_id_, ent._.candidates) for ent in doc.ents])
        if len(answers) == first:
            start = perf_counter()
    return sum(map(len, answers[first:])) / (perf_counter() - start), answers


def measure(task: dict[str, Any]) -> list[Row]:
    """Start workers and read all documents, in turns.

    task (Dict[str, Any]): "pipeline" and "docs", paths; "methods", "processes" and "repeats".
    RETURNS (List[Dict[str, Any]]): One row a turn: the start of workers, or a stream.
    """
    sides = make_sides(task["pipeline"])
    nlp = sides["pipeline"]
    docs = list(DocBin().from_disk(task["docs"]).get_docs(nlp.vocab))
    _, expected = read_stream(nlp, docs, processes=1)  # fills caches, too

    def starter(method: str, processes: int, side: str) -> Callable[[int], Row]:
        def start(repeat: int) -> Row:
            multiprocessing.set_start_method(method, force=True)
            row = start_workers(sides[side], docs, processes=processes)
            return {"method": method, "processes": processes, "side": side, **row}

        return start

    def reader(method: str, processes: int) -> Callable[[int], Row]:
        def read(repeat: int) -> Row:
            if processes > 1:
                multiprocessing.set_start_method(method, force=True)
            speed, answers = read_stream(nlp, docs, processes=processes)
            way = {"method": method, "processes": processes}
            return {**way, "mentions_per_s": speed, "same": answers == expected}

        return read

    calls = [reader("-", 1)] if 1 in task["processes"] else []
    for method in task["methods"]:
        for count in [count for count in task["processes"] if count > 1]:
            calls += [starter(method, count, side) for side in sides]
            calls.append(reader(method, count))
    return [row for turns in take_turns(calls, task["repeats"]) for row in turns]


if __name__ == "__main__":
    json.dump(measure(json.loads(sys.argv[1])), sys.stdout)
