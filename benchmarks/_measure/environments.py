"""Virtual environments for one purpose each, made once and kept."""

import subprocess
import sys
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

from _common.cli import fail

ROOT = Path(__file__).parents[2]


def make_environment(folder: Path, installs: Sequence[Sequence[str]]) -> Path:
    """Make an environment, unless an earlier run did.

    folder (Path): Keeps it.
    installs (Sequence[Sequence[str]]): What `pip install` is told, call by call.
    RETURNS (Path): The interpreter of the environment.
    """
    own, whole = folder / "bin" / "python", folder / "whole"
    if not whole.is_file():
        print(f"Making an environment: {folder}", file=sys.stderr)
        _run([sys.executable, "-m", "venv", "--clear", str(folder)])
        for each in installs:
            install(own, each)
        whole.touch()
    return own


def make_pinned_environment(name: str, requirements: Path, *, work: Path) -> Path:
    """Make the environment of a peer.

    name (str): The peer.
    requirements (Path): A file of requirements, all of them pinned.
    work (Path): Keeps the environment.
    RETURNS (Path): Its interpreter.
    """
    digest = sha256(requirements.read_bytes() + sys.executable.encode()).hexdigest()[:16]
    return make_environment(work / f"{name}-{digest}", [["--requirement", str(requirements)]])


def make_lean_environment(extra: str, work: Path) -> Path:
    """Make an environment with this package and one of its extras, as a user would install it.

    extra (str): The extra.
    work (Path): Keeps the environment.
    RETURNS (Path): Its interpreter. The package in it is this checkout's.
    """
    constraints = ["--constraint", str(ROOT / "constraints.txt")]
    installs = [[f"{ROOT}[{extra}]", *constraints]]
    python = make_environment(work / f"lean-{extra}", installs)
    # pip caches nothing of a folder: the checkout as it is now.
    install(python, ["--no-deps", "--force-reinstall", str(ROOT)])
    return python


def install(python: Path, arguments: Sequence[str]) -> None:
    """Install packages into an environment.

    python (Path): Its interpreter.
    arguments (Sequence[str]): Of `pip install`.
    """
    pip = [str(python), "-m", "pip", "--disable-pip-version-check", "install", "-qq"]
    _run([*pip, *arguments])


def _run(command: Sequence[str]) -> None:
    if subprocess.run(command, stdout=sys.stderr).returncode:
        fail(f"'{' '.join(command)}' failed: the environment could not be made.")
