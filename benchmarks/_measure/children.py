"""Start modules of the benchmarks in processes of their own. Standard library only."""

import os
import sys
from pathlib import Path

BENCHMARKS = Path(__file__).parents[1]


def child_command(module: str, *arguments: str, python: str = sys.executable) -> tuple[str, ...]:
    """RETURNS (Tuple[str, ...]): The command that runs a module, e.g. "_measure.worker"."""
    return (python, "-W", "ignore", "-m", module, *arguments)


def child_environment(**variables: str) -> dict[str, str]:
    """RETURNS (Dict[str, str]): The environment of a process that imports from `benchmarks/`."""
    paths = [str(BENCHMARKS), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, **variables, "PYTHONPATH": os.pathsep.join(paths)}
