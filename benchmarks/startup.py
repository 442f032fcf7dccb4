"""What the plugin adds to `spacy.blank("en")` in a fresh interpreter.

Both sides run in the same environment; one of them does not see the plugin's entry points.

Example: python benchmarks/startup.py
"""

import json
import statistics
import subprocess
import sys

from _common.cli import begin, finish, make_parser

RUNS = 10
HEAVY = ("torch", "transformers", "annoy", "sklearn", "scipy")
# Both sides filter the entry points in the same way, so that the filter costs them the same.
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
PREFIXES = {"without": "spacy_connorm", "with": "none at all"}


def main() -> None:
    parser = make_parser(__doc__ or "")
    parser.add_argument("--runs", type=int, default=RUNS, help="of each side [%(default)s]")
    arguments = begin(parser)
    for side in PREFIXES:
        measure(side)  # fills the disk cache
    runs: dict[str, list[dict]] = {side: [] for side in PREFIXES}
    for _ in range(arguments.runs):
        for side, measured in runs.items():
            measured.append(measure(side))
    rows = [summary(side, measured) for side, measured in runs.items()]
    for row in rows:
        row["more_ms"] = row["median_ms"] - rows[0]["median_ms"]
    finish(rows, arguments.json)


def measure(side: str) -> dict:
    """RETURNS (Dict[str, Any]): One fresh interpreter's milliseconds and modules."""
    command = [sys.executable, "-P", "-c", CHILD, PREFIXES[side], *HEAVY]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def summary(side: str, measured: list[dict]) -> dict:
    """RETURNS (Dict[str, Any]): The row of one side."""
    times = [run["ms"] for run in measured]
    return {
        "plugin": side,
        "runs": len(times),
        "median_ms": statistics.median(times),
        "fastest_ms": min(times),
        "slowest_ms": max(times),
        "plugin_imported": all(run["plugin"] for run in measured),
        "imported": " ".join(measured[0]["imported"]) or "none",
    }


if __name__ == "__main__":
    main()
