"""What each row of the tables of English, and each rule of the mention finder, is worth: F1 of the
ids of documents on dev sets with it, less F1 without it.

A row is left out on the documents that have words it is about: those that are read in another way
without it, and those whose words are in names that are. All others stay as they are.

Examples: python benchmarks/ablation.py --rules
python benchmarks/ablation.py --rules --table meanings plurals --dataset hpo-notes ncbi --write
"""

from argparse import ArgumentParser, Namespace
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from _common.ablated_sets import SETS, read_set
from _common.cli import begin, clear_errors, fail, finish, make_parser
from _common.left_out import (
    CLASSES,
    ENGLISH,
    RULES_TABLE,
    TABLES,
    LeftOut,
    all_left_out,
    groups_of,
    key_of,
)

import spacy_connorm.lang
from spacy_connorm.evaluation.report import Row
from spacy_connorm.files.progress import progress_bar

_FOLDER = Path(spacy_connorm.lang.__file__).parent / ENGLISH
# The file of a table, if it has another name.
_FILES = {"cues": "assertions"}
_WORTH = "worth"
# A smaller difference is none.
_LEAST = 0.05


def main() -> None:
    arguments = begin(add_options(make_parser(__doc__ or "")))
    if not arguments.rules:
        fail("Name what to leave out: --rules.")
    with clear_errors():
        rows = measure(arguments)
    if arguments.write:
        write_worth(rows, _FOLDER)
    finish(rows, arguments.json)


def add_options(parser: ArgumentParser) -> ArgumentParser:
    """RETURNS (ArgumentParser): The same, with the benchmark's options."""
    add = parser.add_argument
    add("--rules", action="store_true", help="leave out rows of tables, and rules of the finder")
    add("--dataset", choices=SETS, nargs="+", default=SETS, help="[all of them]")
    tables = (*TABLES, *CLASSES, RULES_TABLE)
    add("--table", choices=tables, nargs="+", default=tables, help="[all of them]")
    add("--write", action="store_true", help="write the column `worth` of the tables")
    return parser


def measure(arguments: Namespace) -> list[Row]:
    """RETURNS (List[Dict[str, Any]]): One row a row or rule, those that are worth most first."""
    groups = groups_of(all_left_out(arguments.table))
    rows: dict[LeftOut, Row] = {
        left_out: {"table": left_out.table, "row": left_out.row, "documents": 0}
        for group in groups
        for left_out in group
    }
    for name in arguments.dataset:
        dev = read_set(name, arguments.data)
        bar = progress_bar(total=len(rows), unit="rows", description=name)
        try:
            for group in groups:
                for left_out, worth, documents in dev.worths(group):
                    rows[left_out][name] = round(worth, 2)
                    rows[left_out]["documents"] += documents
                    bar.update()
        finally:
            dev.restore()
    for row in rows.values():
        row["total"] = round(sum(row[name] for name in arguments.dataset), 2)
    return sorted(rows.values(), key=lambda row: -row["total"])


def write_worth(rows: Iterable[Row], folder: Path) -> None:
    """Write what rows are worth into their tables.

    rows (Iterable[Dict[str, Any]]): From `measure`.
    folder (Path): The folder of the language.
    """
    by_table = defaultdict[str, dict[str, str]](dict)
    for row in rows:
        by_table[row["table"]][row["row"]] = describe(row)
    for table in TABLES:
        if table in by_table:
            _write_table(folder / f"{_FILES.get(table, table)}.tsv", table, by_table[table])


def describe(row: Mapping[str, Any]) -> str:
    """RETURNS (str): The sets on which a row changes F1, the most first: "hpo-notes +0.3"."""
    worth = {name: row[name] for name in SETS if abs(row.get(name, 0)) >= _LEAST}
    named = sorted(worth, key=lambda name: -abs(worth[name]))
    return ", ".join(f"{name} {worth[name]:+.1f}" for name in named) or "0"


def _write_table(path: Path, table: str, worth: Mapping[str, str]) -> None:
    header, *lines = path.read_text(encoding="utf8").splitlines()
    columns = header.split("\t")
    written = [header]
    for line in lines:
        values = line.split("\t")
        # Rows that were added since then have none.
        values[columns.index(_WORTH)] = worth.get(
            key_of(table, values), values[columns.index(_WORTH)]
        )
        written.append("\t".join(values))
    path.write_text("".join(f"{line}\n" for line in written), encoding="utf8")


if __name__ == "__main__":
    main()
