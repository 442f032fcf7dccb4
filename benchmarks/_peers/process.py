"""The processes that `peers.py` compares, each in its own environment."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from _common.cli import fail, thread_count
from _measure.memory_usage import read_status

BENCHMARKS = Path(__file__).parents[1]
REQUIREMENTS = Path(__file__).with_name("scispacy.txt")
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS")


class Peer:
    """A process that answers commands. A context manager ends it."""

    def __init__(self, command: Sequence[str]) -> None:
        """Start it, confined to as many cores as there are threads: whatever the settings,
        scispaCy's index is built with 60 threads and searched with one per core.

        command (Sequence[str]): The command to run.
        """
        threads = thread_count()
        self._command = command
        paths = [str(BENCHMARKS), *filter(None, [os.environ.get("PYTHONPATH")])]
        limits = dict.fromkeys(THREADS, str(threads))
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, **limits, "PYTHONPATH": os.pathsep.join(paths)},
        )
        cores = sorted(os.sched_getaffinity(0))[:threads]
        os.sched_setaffinity(self._process.pid, cores)

    def __enter__(self) -> "Peer":
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()

    def ask(self, do: str, **fields: Any) -> Any:
        """Send a command.

        do (str): The command.
        **fields (Any): Its arguments.
        RETURNS (Any): The answer.
        """
        if self._process.stdin is None or self._process.stdout is None:
            raise TypeError(self._process)
        with suppress(BrokenPipeError):  # reported below: there is no answer then
            print(json.dumps({"do": do, **fields}), file=self._process.stdin, flush=True)
        answer = self._process.stdout.readline()
        if not answer:
            fail(f"{' '.join(self._command)} ended in the middle of '{do}'; see above.")
        return json.loads(answer)

    def peak_mb(self) -> float:
        """RETURNS (float): The peak of its resident memory so far, in megabytes."""
        return read_status(self._process.pid, "VmHWM") * 1024 / 1e6


def child_command(module: str, *, python: str = sys.executable) -> tuple[str, ...]:
    """RETURNS (Tuple[str, ...]): The command that runs a module, e.g. "_peers.ours"."""
    return (python, "-W", "ignore", "-m", module)
