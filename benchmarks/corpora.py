"""What it takes to annotate a corpus of many files: texts and mentions a second, and the memory of
all processes together, with processes of this machine and with actors of Ray.

The corpus is made of the sentences of NCBI and BC5CDR, drawn at random. A pipeline finds mentions
in it by the names of MEDIC. Each side runs in a process of its own, in turns, and writes a folder;
its start (loading, and Ray's) counts. Memory is the highest sum of the PSS of its processes, which
is looked at five times a second.

Example: python benchmarks/corpora.py --texts 100000 --processes 1 2 4 --data ../shared/data
"""

import json
import random
import subprocess
import threading
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from shutil import rmtree
from time import perf_counter

import pyarrow
import pyarrow.parquet as pq
import spacy
from _common.builders import encoder_config
from _common.cli import begin, clear_errors, fail, finish, make_parser
from _common.datasets import Data
from _common.options import at_least
from _common.pipelines import add_normalizer
from _measure.children import child_command, child_environment
from _measure.interleaved import speed_columns, take_turns
from _measure.memory_usage import require_proc, tree_pss

from spacy_connorm.evaluation.report import Row
from spacy_connorm.files.folders import checksum_of, read_manifest
from spacy_connorm.pipeline.saving import save_pipeline
from spacy_connorm.workflows.corpus_run import ENGINES

DATASETS = ("ncbi", "bc5cdr-d")
_SENTENCES = 9  # as many as an abstract has
_SEED = 13
_SECONDS_BETWEEN_LOOKS = 0.2


def main() -> None:
    arguments = begin(add_options(make_parser(__doc__ or "")))
    require_proc()
    with clear_errors():
        rows = measure(arguments)
    finish(rows, arguments.json)


def add_options(parser: ArgumentParser) -> ArgumentParser:
    """RETURNS (ArgumentParser): The same, with the benchmark's options."""
    parser.add_argument("--texts", type=at_least(1), default=100_000, help="[%(default)s]")
    parser.add_argument(
        "--fragment", type=at_least(1), default=2_000, help="texts in a file [%(default)s]"
    )
    parser.add_argument("--engine", choices=ENGINES, nargs="+", default=list(ENGINES))
    parser.add_argument("--processes", type=at_least(1), nargs="+", default=[1, 2, 4])
    parser.add_argument("--encoder", default="ngram", help="ngram, minilm, dan or a FOLDER")
    parser.add_argument("--repeats", type=at_least(1), default=1, help="[%(default)s]")
    return parser


def measure(arguments: Namespace) -> list[Row]:
    """RETURNS (List[Dict[str, Any]]): A row for each engine and number of processes."""
    data = [Data(name, arguments.data) for name in DATASETS]
    pipeline = make_pipeline(arguments.encoder, data[0], arguments.work)
    corpus = arguments.work / f"corpus-{arguments.texts}-{arguments.fragment}"
    write_corpus(corpus, data, texts=arguments.texts, fragment=arguments.fragment)
    ways = [(engine, count) for engine in arguments.engine for count in arguments.processes]
    output = arguments.work / "annotated"
    sides: list[Callable[[int], Row]] = [
        partial(_run, pipeline, corpus, output, engine, count) for engine, count in ways
    ]
    results = take_turns(sides, arguments.repeats)
    checksum = results[0][0]["checksum"]
    return [
        {
            "engine": engine,
            "processes": count,
            "encoder": arguments.encoder,
            "texts": turns[0]["texts"],
            "mentions": turns[0]["mentions"],
            "repeats": len(turns),
            **speed_columns(
                [turn["texts"] / turn["seconds"] for turn in turns], "texts_per_s", digits=2
            ),
            "mentions_per_s": round(turns[0]["mentions"] / min(turn["seconds"] for turn in turns)),
            "seconds": round(min(turn["seconds"] for turn in turns), 1),
            "peak_mb": round(max(turn["peak_mb"] for turn in turns)),
            "same_bytes": "yes" if all(turn["checksum"] == checksum for turn in turns) else "no",
        }
        for (engine, count), turns in zip(ways, results, strict=True)
    ]


def make_pipeline(encoder: str, data: Data, work: Path) -> Path:
    """RETURNS (Path): A pipeline that finds the names of a data set's ontology."""
    nlp = spacy.blank("en")
    nlp.add_pipe("mention_finder")
    add_normalizer(nlp, {"encoder": encoder_config(encoder, data, work=work)}, data, work=work)
    return save_pipeline(nlp, work / f"corpora-{Path(encoder).name}")


def write_corpus(folder: Path, data: Sequence[Data], *, texts: int, fragment: int) -> None:
    """Write texts of sentences drawn at random, the same ones every time.

    folder (Path): Where to.
    data (Sequence[Data]): Where the sentences are from.
    texts (int): How many texts.
    fragment (int): How many in a file.
    """
    rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    sentences = sorted(
        {
            sentence.strip(" .\n") + "."
            for each in data
            for doc in [*each.docs, *each.scored_docs]
            for sentence in doc.text.split(". ")
        }
    )
    draw = random.Random(_SEED)
    for number, start in enumerate(range(0, texts, fragment)):
        ids = range(start, min(start + fragment, texts))
        drawn = [" ".join(draw.choices(sentences, k=_SENTENCES)) for _ in ids]
        table = pyarrow.table({"id": list(ids), "text": drawn})
        pq.write_table(table, folder / f"part-{number:05}.parquet")


def _run(pipeline: Path, corpus: Path, output: Path, engine: str, count: int, turn: int) -> Row:
    rmtree(output, ignore_errors=True)
    paths = (str(each) for each in (pipeline, corpus, output))
    settings = json.dumps({"engine": engine, "n_process": count})
    command = child_command("_measure.corpus_side", *paths, settings)
    start = perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, env=child_environment())
    peaks: list[float] = []
    watcher = threading.Thread(target=_watch, args=(process, peaks))
    watcher.start()
    told, _ = process.communicate()
    seconds = perf_counter() - start
    watcher.join()
    if process.returncode:
        fail(f"The side with {count} processes of '{engine}' failed.")
    return {
        **json.loads(told),
        "seconds": seconds,
        "peak_mb": max(peaks),
        "checksum": checksum_of(read_manifest(output)),
    }


def _watch(process: subprocess.Popen, peaks: list[float]) -> None:
    peaks.append(tree_pss(process.pid))
    while process.poll() is None:
        peaks.append(tree_pss(process.pid))
        threading.Event().wait(_SECONDS_BETWEEN_LOOKS)


if __name__ == "__main__":
    main()
