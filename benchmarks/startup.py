"""What the plugin, and what spacy-transformers, add to `spacy.blank("en")` in a fresh interpreter.

All sides run in the same environment; each but the first does not see the entry points of one
package.

Example: python benchmarks/startup.py
"""

import json
import subprocess
import sys
from collections.abc import Sequence
from functools import partial
from typing import Any

from _common.cli import begin, finish, make_parser
from _measure.interleaved import spread, take_turns

from spacy_connorm.evaluation.report import Row

RUNS = 10
HEAVY = ("torch", "transformers", "annoy", "sklearn", "scipy")
# All sides filter the entry points, so that the filter costs them the same.
CHILD = """
import importlib.metadata, json, sys, time
prefix, heavy = sys.argv[1], sys.argv[2:]
read = importlib.metadata.Distribution.entry_points.fget
importlib.metadata.Distribution.entry_points = property(
    lambda self: [point for point in read(self) if not point.value.startswith(prefix)]
)
start = time.perf_counter()
import spacy
spacy.blank("en")
seconds = time.perf_counter() - start
print(json.dumps({
    "ms": 1000 * seconds,
    "imported": [name for name in heavy if name in sys.modules],
    "plugin": "spacy_connorm.pipeline.factory" in sys.modules,
}))
"""
# By what a side hides: where its entry points come from.
PREFIXES = {
    "nothing": "none at all",
    "spacy-connorm": "spacy_connorm",
    "spacy-transformers": "spacy_transformers",
}


def main() -> None:
    arguments = begin(make_parser(__doc__ or ""))
    finish(measure(RUNS), arguments.json)


def measure(runs: int) -> list[Row]:
    """RETURNS (List[Dict[str, Any]]): One row a side."""
    # The first round fills the disk cache.
    turns = take_turns([partial(run_child, side) for side in PREFIXES], runs, warm_up=1)
    rows = [summary(side, own) for side, own in zip(PREFIXES, turns, strict=True)]
    for row in rows:
        row["saved_ms"] = rows[0]["median_ms"] - row["median_ms"]
    return rows


def run_child(side: str, repeat: int) -> dict[str, Any]:
    """RETURNS (Dict[str, Any]): Milliseconds and modules of a fresh interpreter."""
    command = [sys.executable, "-P", "-c", CHILD, PREFIXES[side], *HEAVY]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def summary(side: str, runs: Sequence[dict[str, Any]]) -> Row:
    """RETURNS (Dict[str, Any]): The row of one side."""
    return {
        "hidden": side,
        "runs": len(runs),
        **spread([run["ms"] for run in runs]).columns("median_ms", "fastest_ms", "slowest_ms"),
        "plugin_imported": all(run["plugin"] for run in runs),
        "imported": " ".join(runs[0]["imported"]) or "none",
    }


if __name__ == "__main__":
    main()
