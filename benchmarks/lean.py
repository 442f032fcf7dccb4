"""What a pipeline costs where nothing is installed but what it needs: seconds from the start of a
process to its first answer, peak memory, and the size of its folder, over MEDIC with NCBI's D.

Each environment is made once, from this checkout and one extra (no torch), and measured in turns;
"here" is the environment that this command runs in, which builds the pipelines. A process is
started, loads the pipeline, answers one mention (that is when it is ready), then all mentions of
the test part. Beside it, a process of the same environment with spaCy's `blank("en")` alone reads
the same mentions: what any pipeline costs there.

Example: python benchmarks/lean.py --data ../shared/data
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
from argparse import Namespace
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

from _common.builders import encoder_config
from _common.cli import begin, clear_errors, fail, finish, make_parser, thread_count
from _common.datasets import Data
from _common.options import LEAST_REPEATS
from _common.pipelines import write_pipeline
from _measure.environments import make_lean_environment
from _measure.interleaved import spread, take_turns
from _measure.memory_usage import read_status, require_proc

from spacy_connorm.evaluation.report import Row

HERE = "here"
# By environment: the encoder that runs in it.
ENCODERS = {"dan": "dan", "onnx": "minilm-int8", HERE: "dan"}
ALONE = "spaCy alone"
CHILD = """
import sys, json
import spacy
if len(sys.argv) > 1:
    answer = spacy.load(sys.argv[1]).get_pipe("concept_normalizer").candidates
else:
    nlp = spacy.blank("en")
    answer = lambda texts: list(nlp.pipe(texts))
mentions = json.loads(sys.stdin.readline())
print(len(answer(mentions[:1])), flush=True)
for start in range(0, len(mentions), 128):
    answer(mentions[start : start + 128])
heavy = [name for name in ("torch", "transformers", "sklearn", "scipy") if name in sys.modules]
print(json.dumps(heavy), flush=True)
sys.stdin.readline()
"""


def main() -> None:
    parser = make_parser(__doc__ or "")
    parser.add_argument("--dan", default="dan", help="dan, or the FOLDER of a trained one")
    arguments = begin(parser)
    require_proc()
    with clear_errors():
        rows = measure(arguments)
    finish(rows, arguments.json)


def measure(arguments: Namespace) -> list[Row]:
    """RETURNS (List[Dict[str, Any]]): Two rows an environment: spaCy alone, and a pipeline."""
    data = Data("ncbi", arguments.data)
    mentions = [mention.text for mention in data.mentions]
    work = arguments.work
    pythons = [
        Path(sys.executable) if encoder == HERE else make_lean_environment(encoder, work)
        for encoder in ENCODERS
    ]
    sides = [
        (environment, python, folder)
        for environment, python in zip(ENCODERS, pythons, strict=True)
        for folder in (None, make_pipeline(environment, data, arguments))
    ]
    calls = [partial(run_once, python, folder, mentions) for _, python, folder in sides]
    # The first round fills the disk cache.
    turns = take_turns(calls, LEAST_REPEATS, warm_up=1)
    return [
        summary(environment, folder, runs)
        for (environment, _, folder), runs in zip(sides, turns, strict=True)
    ]


def make_pipeline(environment: str, data: Data, arguments: Namespace) -> Path:
    """Build the pipeline of an environment with the defaults of the component.

    environment (str): The environment.
    data (Data): What is indexed.
    arguments (Namespace): The options.
    RETURNS (Path): Its folder.
    """
    encoder, work = ENCODERS[environment], arguments.work
    folder = work / f"lean-{encoder}-pipeline"
    name = arguments.dan if encoder == "dan" else encoder
    write_pipeline(folder, encoder_config(name, data, work=work), data, work=work)
    return folder


def run_once(python: Path, folder: Path | None, mentions: list[str], repeat: int) -> dict[str, Any]:
    """Start a process that loads a pipeline and answers.

    python (Path): The interpreter of an environment.
    folder (Optional[Path]): The pipeline; None for spaCy alone.
    mentions (List[str]): What it is asked.
    repeat (int): The number of the run; not used.
    RETURNS (Dict[str, Any]): Seconds until it was ready, its processor seconds, and megabytes.
    """
    threads = str(thread_count())
    environment = {
        **{key: value for key, value in os.environ.items() if key != "PYTHONPATH"},
        **dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), threads),
    }
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begun = perf_counter()
    # In a folder without the source of the package.
    with subprocess.Popen(
        [str(python), "-W", "ignore", "-c", CHILD, *([str(folder.resolve())] if folder else [])],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
        cwd=tempfile.gettempdir(),
    ) as process:
        if process.stdin is None or process.stdout is None:
            raise TypeError(process)
        print(json.dumps(mentions), file=process.stdin, flush=True)
        if process.stdout.readline() != "1\n":
            fail(f"{folder or ALONE} does not answer in the environment of {python}.")
        ready = perf_counter() - begun
        imported = json.loads(process.stdout.readline())
        peak = read_status(process.pid, "VmHWM") * 1024 / 1e6
        process.communicate("\n")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"ready_s": ready, "processor_s": spent, "peak_mb": peak, "imported": imported}


def summary(environment: str, folder: Path | None, runs: list[dict[str, Any]]) -> Row:
    """RETURNS (Dict[str, Any]): The row of an environment."""
    ready = spread([run["ready_s"] for run in runs]).rounded(2)
    peak = spread([run["peak_mb"] for run in runs]).rounded()
    files = folder.rglob("*") if folder else ()
    size = sum(path.stat().st_size for path in files if path.is_file())
    return {
        "environment": environment,
        "encoder": ENCODERS[environment] if folder else ALONE,
        "runs": len(runs),
        **ready.columns("ready_s", "fastest_s", "slowest_s"),
        "processor_s": round(spread([run["processor_s"] for run in runs]).median, 2),
        "peak_mb": peak.median,
        "highest_mb": peak.highest,
        "folder_mb": round(size / 1e6),
        "imported": " ".join(runs[0]["imported"]) or "none",
    }


if __name__ == "__main__":
    main()
