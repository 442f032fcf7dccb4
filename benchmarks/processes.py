"""What `nlp.pipe(n_process=N)` costs: how long workers take to start, their memory, how many
mentions per second they answer together, and whether they answer like one process.

The start is timed from the call until each worker has answered a document, for three pipelines in
turns: spaCy alone; spaCy and the libraries that the encoder imports; and the concept normalizer's.
Our own part is the difference of the last two, turn by turn. More workers than cores wait for each
other: then look at a worker's processor seconds.

Example: python benchmarks/processes.py --encoder dan --data ../shared/data
"""

import json
import multiprocessing
import subprocess
from argparse import Namespace
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from statistics import mean, median

from _common.builders import encoder_config
from _common.cli import begin, finish_tables, make_parser
from _common.datasets import Data
from _common.options import add_repeats, at_least
from _common.pipelines import write_pipeline
from _measure.children import child_command, child_environment
from _measure.interleaved import speed_columns
from _measure.memory_usage import require_proc

from spacy_connorm.evaluation.report import Row
from spacy_connorm.files.docbin import write_docs

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
    add_repeats(parser)
    arguments = begin(parser)
    require_proc()
    turns = run_worker(arguments)
    tables = {
        "Start of the workers": start_rows(arguments.encoder, turns),
        "Memory of a worker": memory_rows(arguments.encoder, turns),
        "Mentions a second": speed_rows(arguments.encoder, turns),
    }
    shown = {title: rows for title, rows in tables.items() if rows}
    finish_tables(shown, arguments.json, precise=PRECISE)


def run_worker(arguments: Namespace) -> list[Row]:
    """RETURNS (List[Dict[str, Any]]): The turns measured in a child process."""
    data = Data("ncbi", arguments.data)
    folder = arguments.work / f"pipeline-{Path(arguments.encoder).name}"
    docs = arguments.work / "processes.spacy"
    write_docs(data.scored_docs, docs)
    block = encoder_config(arguments.encoder, data, work=arguments.work)
    write_pipeline(folder, block, data, work=arguments.work)
    task = {
        "pipeline": str(folder),
        "docs": str(docs),
        "methods": arguments.methods,
        "processes": arguments.processes,
        "repeats": arguments.repeats,
    }
    command = child_command("_measure.worker", json.dumps(task))
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, env=child_environment())
    return json.loads(done.stdout)


def start_rows(encoder: str, turns: Sequence[Row]) -> list[Row]:
    """Split the start of workers into the parts of spaCy, of the libraries, and ours.

    encoder (str): For the rows.
    turns (Sequence[Dict[str, Any]]): From `run_worker`.
    RETURNS (List[Dict[str, Any]]): Median seconds until all workers have answered, with the lowest
        and highest of ours; and median processor seconds of a worker.
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
        name: [turn[key] for turn in turns if turn["side"] == name]
        for name in ("spacy", "libraries", "pipeline")
    }
    more = list(zip(*sides.values(), strict=True))
    return {
        "spacy": sides["spacy"],
        "libraries": [libraries - spacy for spacy, libraries, _ in more],
        "own": [pipeline - libraries for _, libraries, pipeline in more],
    }


def memory_rows(encoder: str, turns: Sequence[Row]) -> list[Row]:
    """RETURNS (List[Dict[str, Any]]): Megabytes of a worker of the whole pipeline that has answered
    one document, and of the index files that it has mapped: means over workers and turns.
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
    """RETURNS (List[Dict[str, Any]]): Mentions per second after all workers have started, and
    whether the answers of every turn were those of one process.
    """
    return [
        {
            "encoder": encoder,
            **way,
            "repeats": len(own),
            **speed_columns([turn["mentions_per_s"] for turn in own], "mentions_per_s"),
            "same_answers": "yes" if all(turn["same"] for turn in own) else "no",
        }
        for way, own in _by_way(turn for turn in turns if "same" in turn)
    ]


def _by_way(turns: Iterable[Row]) -> Iterator[tuple[Row, list[Row]]]:
    ways: dict[tuple[str, int], list[Row]] = {}
    for turn in turns:
        ways.setdefault((turn["method"], turn["processes"]), []).append(turn)
    for (method, processes), own in ways.items():
        yield {"start": method, "processes": processes}, own


if __name__ == "__main__":
    main()
