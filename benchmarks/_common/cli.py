"""The settings that all benchmarks share, and the way they fail and report."""

import sys
import warnings
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import NoReturn

from _common import machine as machine
from spacy_connorm.errors import ConnormWarning
from spacy_connorm.evaluation.report import Row, to_json, to_table


def at_least(least: int) -> Callable[[str], int]:
    """RETURNS (Callable[[str], int]): Reads a number that is not under the least."""

    def number(text: str) -> int:
        if not text.isdigit() or int(text) < least:
            raise ArgumentTypeError(f"expected a whole number of at least {least}, not '{text}'")
        return int(text)

    return number


def make_parser(description: str) -> ArgumentParser:
    """RETURNS (ArgumentParser): With `--data`, `--work` and `--json`."""
    parser = ArgumentParser(description=description)
    parser.add_argument(
        "--data", type=Path, default=Path("../shared/data"), help="the data folder [%(default)s]"
    )
    parser.add_argument(
        "--work",
        type=Path,
        default=Path("/tmp/spacy_connorm_benchmarks"),
        help="keeps what takes long to make [%(default)s]",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the rows here too")
    return parser


def begin(parser: ArgumentParser) -> Namespace:
    """Read the command line, tell what the benchmark runs on, take the threads it may use, and make
    the work folder.

    parser (ArgumentParser): From `make_parser`.
    RETURNS (Namespace): The settings.
    """
    arguments = parser.parse_args()
    print(machine.describe(), file=sys.stderr)
    machine.use_threads()
    arguments.work.mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("ignore", ConnormWarning)
    return arguments


def finish(rows: Sequence[Row], path: Path | None, *, columns: Sequence[str] = ()) -> None:
    """Print rows as a Markdown table, and write them all where `--json` says.

    rows (Sequence[Dict[str, Any]]): The measurements.
    path (Optional[Path]): The JSON file.
    columns (Sequence[str]): What is printed; everything if empty.
    """
    shown = [{key: row[key] for key in columns or row} for row in rows]
    print(to_table(shown, markdown=True))
    if path is not None:
        path.write_text(to_json(rows), encoding="utf8")


def finish_tables(
    tables: Mapping[str, Sequence[Row]], path: Path | None, *, precise: Collection[str] = ()
) -> None:
    """Print several tables as Markdown, and write the rows of all where `--json` says.

    tables (Mapping[str, Sequence[Dict[str, Any]]]): Measurements by title, at least one of each.
    path (Optional[Path]): The JSON file; each row begins with the title, as "table".
    precise (Collection[str]): Columns that are printed with two decimals.
    """
    for title, rows in tables.items():
        shown = [
            {key: f"{value:.2f}" if key in precise else value for key, value in row.items()}
            for row in rows
        ]
        print(f"{title}:\n\n{to_table(shown, markdown=True)}\n")
    if path is not None:
        flat = [{"table": title, **row} for title, rows in tables.items() for row in rows]
        path.write_text(to_json(flat), encoding="utf8")


def fail(message: str) -> NoReturn:
    """End with one line and exit code 1."""
    print(message, file=sys.stderr)
    raise SystemExit(1)
