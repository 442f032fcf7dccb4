"""What `nlp.pipe(n_process=N)` takes: how long workers need to start, how much memory each has, how
many mentions a second they answer together, and whether they answer as one process does.

The start is timed from the call until each of the workers has answered a document, of three
pipelines that take turns: spaCy alone; spaCy and the libraries that the encoder imports; and the
concept normalizer's. What is ours is the difference of the last two, turn by turn. More workers
than cores start one after the other: the processor seconds of a worker tell what one takes.

Example: python benchmarks/processes.py --encoder dan --data ../shared/data
"""

import json
import multiprocessing
import os
import subprocess
import sys
from argparse import Namespace
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import mean, median
from typing import Any

from _common.builders import encoder_config
from _common.cli import at_least, begin, fail, finish_tables, make_parser
from _common.datasets import Data
from memory import write_pipeline

from spacy_connorm.evaluation.report import Row
from spacy_connorm.files.docbin import write_docs

LEAST_REPEATS = 5
PRECISE = (
    *("spacy_s", "libraries_s", "own_s", "own_lowest", "own_highest"),
    *("worker_spacy_s", "worker_libraries_s", "worker_own_s"),
)


def main() -> None:
    known = multiprocessing.get_all_start_methods()
    parser = make_parser(__doc__ or "")
    parser.add_argument(
        "--encoder", default="ngram", help="ngram, minilm, dan or a FOLDER [%(default)s]"
    )
    parser.add_argument("--processes", type=at_least(1), nargs="+", default=[1, 2, 4])
    parser.add_argument("--methods", nargs="+", choices=known, default=["fork", "spawn"])
    parser.add_argument(
        "--repeats", type=at_least(LEAST_REPEATS), default=LEAST_REPEATS, help="[%(default)s]"
    )
    arguments = begin(parser)
    if not Path("/proc/self/smaps_rollup").is_file():
        fail("Linux only: memory is read from /proc/*/smaps_rollup.")
    turns = take_turns(arguments)
    tables = {
        "Start of the workers": start_rows(arguments.encoder, turns),
        "Memory of a worker": memory_rows(arguments.encoder, turns),
        "Mentions a second": speed_rows(arguments.encoder, turns),
    }
    shown = {title: rows for title, rows in tables.items() if rows}
    finish_tables(shown, arguments.json, precise=PRECISE)


def take_turns(arguments: Namespace) -> list[Row]:
    """RETURNS (List[Dict[str, Any]]): The rows that the child yields."""
    data = Data("ncbi", arguments.data)
    folder = arguments.work / f"pipeline-{Path(arguments.encoder).name}"
    docs = arguments.work / "processes.spacy"
    write_docs(data.scored_docs, docs)
    block = encoder_config(arguments.encoder, data, work=arguments.work)
    write_pipeline(folder, block, data, arguments.work)
    task = {
        "pipeline": str(folder),
        "docs": str(docs),
        "methods": arguments.methods,
        "processes": arguments.processes,
        "repeats": arguments.repeats,
    }
    command = [sys.executable, "-W", "ignore", "-m", "_measure.worker", json.dumps(task)]
    paths = [str(Path(__file__).parent), *filter(None, [os.environ.get("PYTHONPATH")])]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, env=env)
    return json.loads(done.stdout)


def start_rows(encoder: str, turns: Sequence[Row]) -> list[Row]:
    """Split the start of workers into spaCy's part, that of the libraries, and ours.

    encoder (str): For the rows.
    turns (Sequence[Dict[str, Any]]): The rows of the child.
    RETURNS (List[Dict[str, Any]]): Seconds until all workers have answered, medians, with the
        lowest and the highest of ours; and a worker's processor seconds, medians too.
    """
    rows = []
    for way, own in _by_way(turn for turn in turns if "side" in turn):
        seconds, worker = _parts(own, "seconds"), _parts(own, "worker_s")
        rows.append(
            {
                "encoder": encoder,
                **way,
                "repeats": len(seconds["own"]),
                **{f"{part}_s": median(each) for part, each in seconds.items()},
                "own_lowest": min(seconds["own"]),
                "own_highest": max(seconds["own"]),
                **{f"worker_{part}_s": median(each) for part, each in worker.items()},
            }
        )
    return rows


def _parts(turns: Sequence[Row], key: str) -> dict[str, list[float]]:
    sides = {
        name: [turn[key] for turn in sorted(turns, key=_repeat) if turn["side"] == name]
        for name in ("spacy", "libraries", "pipeline")
    }
    more = list(zip(*sides.values(), strict=True))
    return {
        "spacy": sides["spacy"],
        "libraries": [libraries - spacy for spacy, libraries, _ in more],
        "own": [pipeline - libraries for _, libraries, pipeline in more],
    }


def _repeat(turn: Row) -> int:
    return turn["repeat"]


def memory_rows(encoder: str, turns: Sequence[Row]) -> list[Row]:
    """RETURNS (List[Dict[str, Any]]): Megabytes of a worker that has answered one document, in the
    whole pipeline; and of the index's files that it has mapped. Means over workers and turns.
    """
    ours = (turn for turn in turns if turn.get("side") == "pipeline")
    return [
        {
            "encoder": encoder,
            **way,
            **{key: mean(turn[key] for turn in own) for key in own[0] if key.endswith("_mb")},
        }
        for way, own in _by_way(ours)
    ]


def speed_rows(encoder: str, turns: Sequence[Row]) -> list[Row]:
    """RETURNS (List[Dict[str, Any]]): Mentions a second once all workers have started: the median,
    the slowest and the fastest turn; and whether every turn's answers were those of one process.
    """
    return [
        {
            "encoder": encoder,
            **way,
            "repeats": len(own),
            "mentions_per_s": round(median(turn["mentions_per_s"] for turn in own)),
            "slowest": round(min(turn["mentions_per_s"] for turn in own)),
            "fastest": round(max(turn["mentions_per_s"] for turn in own)),
            "same_answers": "yes" if all(turn["same"] for turn in own) else "no",
        }
        for way, own in _by_way(turn for turn in turns if "same" in turn)
    ]


def _by_way(turns: Any) -> Iterator[tuple[Row, list[Row]]]:
    ways: dict[tuple[str, int], list[Row]] = {}
    for turn in turns:
        ways.setdefault((turn["method"], turn["processes"]), []).append(turn)
    for (method, processes), own in ways.items():
        yield {"start": method, "processes": processes}, own


if __name__ == "__main__":
    main()
