"""What a pipeline costs where nothing is installed but what it needs: seconds from the start of a
process to its first answer, peak memory, and the size of its folder, over MEDIC with NCBI's D.

Each environment is made once, from this checkout and one extra (no torch), and measured in turns.
Pipelines are built by the environment that this command runs in. A process is started, loads the
pipeline, answers one mention (that is when it is ready), then all mentions of the test part.

Example: python benchmarks/lean.py --data ../shared/data
"""

import json
import os
import resource
import subprocess
from argparse import Namespace
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

from _common.builders import encoder_config
from _common.cli import begin, clear_errors, fail, finish, make_parser, thread_count
from _common.datasets import Data
from _common.options import LEAST_REPEATS, at_least
from _common.pipelines import write_pipeline
from _measure.environments import make_lean_environment
from _measure.interleaved import spread, take_turns
from _measure.memory_usage import read_status, require_proc

from spacy_connorm.evaluation.report import Row

# By extra: the encoder that runs with it.
ENCODERS = {"dan": "dan", "onnx": "minilm"}
CHILD = """
import sys, json
import spacy
normalizer = spacy.load(sys.argv[1]).get_pipe("concept_normalizer")
mentions = json.loads(sys.stdin.readline())
print(len(normalizer.candidates(mentions[:1])), flush=True)
for start in range(0, len(mentions), 128):
    normalizer.candidates(mentions[start : start + 128])
heavy = [name for name in ("torch", "transformers", "sklearn", "scipy") if name in sys.modules]
print(json.dumps(heavy), flush=True)
sys.stdin.readline()
"""


# What any pipeline pays.
BARE = "import spacy; spacy.blank('en')('one mention')"


def main() -> None:
    parser = make_parser(__doc__ or "")
    parser.add_argument(
        "--environment", nargs="+", choices=ENCODERS, default=list(ENCODERS), help="extras [all]"
    )
    parser.add_argument("--dan", default="dan", help="dan, or the FOLDER of a trained one")
    parser.add_argument("--onnx", type=Path, help="an encoder exported in int8 [it is exported]")
    parser.add_argument(
        "--runs", type=at_least(1), default=LEAST_REPEATS, help="of each environment [%(default)s]"
    )
    arguments = begin(parser)
    require_proc()
    with clear_errors():
        rows = measure(arguments)
    finish(rows, arguments.json)


def measure(arguments: Namespace) -> list[Row]:
    """RETURNS (List[Dict[str, Any]]): One row an environment."""
    data = Data("ncbi", arguments.data)
    mentions = [mention.text for mention in data.mentions]
    folders = [make_pipeline(extra, data, arguments) for extra in arguments.environment]
    pythons = [make_lean_environment(extra, arguments.work) for extra in arguments.environment]
    sides = [
        partial(run_once, python, folder, mentions)
        for python, folder in zip(pythons, folders, strict=True)
    ]
    # The first round fills the disk cache.
    turns = take_turns(sides, arguments.runs, warm_up=1)
    return [
        summary(extra, folder, runs)
        for extra, folder, runs in zip(arguments.environment, folders, turns, strict=True)
    ]


def make_pipeline(extra: str, data: Data, arguments: Namespace) -> Path:
    """Build the pipeline of an environment with the defaults of the component.

    extra (str): The environment.
    data (Data): What is indexed.
    arguments (Namespace): The options.
    RETURNS (Path): Its folder.
    """
    folder = arguments.work / f"lean-{extra}-pipeline"
    name = arguments.dan if extra == "dan" else str(exported(arguments))
    block = encoder_config(name, data, work=arguments.work)
    write_pipeline(folder, block, data, work=arguments.work)
    return folder


def exported(arguments: Namespace) -> Path:
    """RETURNS (Path): The default transformer in eight bits; exported unless it was before."""
    if arguments.onnx is not None:
        return arguments.onnx
    from spacy_connorm import export_encoder
    from spacy_connorm.encoders.pretrained import MINILM

    folder = arguments.work / "minilm-int8"
    if not folder.is_dir():
        export_encoder(MINILM, folder)
    return folder


def run_once(python: Path, folder: Path, mentions: list[str], repeat: int) -> dict[str, Any]:
    """Start a process that loads a pipeline and answers.

    python (Path): The interpreter of an environment.
    folder (Path): The pipeline.
    mentions (List[str]): What it is asked.
    repeat (int): The number of the run; not used.
    RETURNS (Dict[str, Any]): Seconds until it was ready, and of a process with spaCy alone; its
        processor seconds, and megabytes.
    """
    threads = str(thread_count())
    environment = {
        **{key: value for key, value in os.environ.items() if key != "PYTHONPATH"},
        **dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), threads),
    }
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begun = perf_counter()
    # In a folder without the package's source.
    with subprocess.Popen(
        [str(python), "-W", "ignore", "-c", CHILD, str(folder.resolve())],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
        cwd=folder,
    ) as process:
        if process.stdin is None or process.stdout is None:
            raise TypeError(process)
        print(json.dumps(mentions), file=process.stdin, flush=True)
        if process.stdout.readline() != "1\n":
            fail(f"The pipeline {folder} does not answer in the environment of {python}.")
        ready = perf_counter() - begun
        imported = json.loads(process.stdout.readline())
        peak = read_status(process.pid, "VmHWM") * 1024 / 1e6
        process.communicate("\n")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    begun = perf_counter()
    subprocess.run([str(python), "-W", "ignore", "-c", BARE], env=environment, check=True)
    return {
        "ready_s": ready,
        "spacy_s": perf_counter() - begun,
        "processor_s": spent,
        "peak_mb": peak,
        "imported": imported,
    }


def summary(extra: str, folder: Path, runs: list[dict[str, Any]]) -> Row:
    """RETURNS (Dict[str, Any]): The row of an environment."""
    ready = spread([run["ready_s"] for run in runs]).rounded(2)
    peak = spread([run["peak_mb"] for run in runs]).rounded()
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    return {
        "environment": extra,
        "encoder": ENCODERS[extra],
        "runs": len(runs),
        "ready_s": ready.median,
        "fastest_s": ready.lowest,
        "slowest_s": ready.highest,
        "spacy_s": round(spread([run["spacy_s"] for run in runs]).median, 2),
        "processor_s": round(spread([run["processor_s"] for run in runs]).median, 2),
        "peak_mb": peak.median,
        "highest_mb": peak.highest,
        "folder_mb": round(size / 1e6),
        "imported": " ".join(runs[0]["imported"]) or "none",
    }


if __name__ == "__main__":
    main()
