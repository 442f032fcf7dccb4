"""The processes that `peers.py` compares, each in its own environment."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

from _common.cli import fail

BENCHMARKS = Path(__file__).parents[1]
REQUIREMENTS = Path(__file__).with_name("scispacy.txt")
# Of its packages, those that are told of.
TOLD = ("scispacy", "spacy", "numpy", "scipy", "scikit-learn", "nmslib-metabrainz")
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS")


class Peer:
    """A process that answers commands; a context manager that ends it."""

    def __init__(self, command: Sequence[str], *, threads: int) -> None:
        """Start it on as many cores as it has threads: scispaCy's index asks for 60 threads to be
        built, and for one a core to be searched, whatever the settings.

        command (Sequence[str]): What to run.
        threads (int): At most.
        """
        self._command = command
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment(threads),
        )
        cores = sorted(os.sched_getaffinity(0))[:threads]
        os.sched_setaffinity(self._process.pid, cores)

    def __enter__(self) -> "Peer":
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()

    def ask(self, do: str, **fields: Any) -> Any:
        """Let it do something.

        do (str): The command.
        **fields (Any): What goes with it.
        RETURNS (Any): Its answer.
        """
        if self._process.stdin is None or self._process.stdout is None:
            raise TypeError(self._process)
        with suppress(BrokenPipeError):  # told below: no answer comes then
            print(json.dumps({"do": do, **fields}), file=self._process.stdin, flush=True)
        answer = self._process.stdout.readline()
        if not answer:
            fail(f"{' '.join(self._command)} ended in the middle of '{do}'; see above.")
        return json.loads(answer)

    def peak_mb(self) -> float:
        """RETURNS (float): The most memory that it had resident so far, in megabytes."""
        return read_peak(Path(f"/proc/{self._process.pid}/status").read_text())


def environment(threads: int) -> dict[str, str]:
    """RETURNS (Dict[str, str]): The variables of a process that can import the benchmarks."""
    paths = [str(BENCHMARKS), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {
        **os.environ,
        **dict.fromkeys(THREADS, str(threads)),
        "PYTHONPATH": os.pathsep.join(paths),
    }


def read_peak(status: str) -> float:
    """Find a process's peak memory.

    status (str): Its `/proc/PID/status`.
    RETURNS (float): Megabytes.
    """
    found = re.search(r"^VmHWM:\s+(\d+) kB$", status, flags=re.M)
    if found is None:
        fail("The system does not tell the peak memory of a process.")
    return int(found[1]) * 1024 / 1e6


def make_environment(python: str, work: Path) -> Path:
    """Install scispaCy, unless an earlier run did.

    python (str): The interpreter to use.
    work (Path): Keeps the environment.
    RETURNS (Path): The environment's own interpreter.
    """
    digest = sha256(REQUIREMENTS.read_bytes() + python.encode()).hexdigest()[:16]
    folder = work / f"scispacy-{digest}"
    own = folder / "bin" / "python"
    whole = folder / "whole"
    if not whole.is_file():
        print(f"Installs scispaCy: {folder}", file=sys.stderr)
        pip = [str(own), "-m", "pip", "--disable-pip-version-check", "install", "-qq"]
        for command in (
            [python, "-m", "venv", "--clear", str(folder)],
            [*pip, "--requirement", str(REQUIREMENTS)],
        ):
            if subprocess.run(command, stdout=sys.stderr).returncode:
                fail(f"'{' '.join(command)}' failed: scispaCy's environment could not be made.")
        whole.touch()
    return own


def describe_environment(python: Path) -> str:
    """RETURNS (str): scispaCy's versions, in one line."""
    asked = [str(python), "--version"]
    own = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()
    pins = re.findall(r"^([\w-]+)==(.+)$", REQUIREMENTS.read_text(encoding="utf8"), flags=re.M)
    versions = [f"{name} {version}" for name, version in pins if name in TOLD]
    return f"scispaCy's side: {', '.join([own, *versions])}"
