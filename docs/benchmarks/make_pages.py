"""Writes the tables of the pages from the JSON that the benchmarks wrote: `make pages`.

A page has `<!-- table NAME -->` and `<!-- end -->`; between them stands the table NAME of
`tables.toml`. A table names:

rows     files of `data/`, each a list of flat objects, as `--json FILE` of a benchmark writes it
where    what rows must have: a value, or one of a list (optional)
columns  headings, and a key of the rows, a format such as "{strict@1_low}-{strict@1_high}", or a
         list of these: the first whose keys the row has
across   a key whose values become columns (optional): { key = "dataset", values = ["ncbi"] }
cell     with `across`: the key or format of these columns

So a number stands once, and two pages cannot differ. Rows that took hours were typed from the page
once, and say so in `command` and `date`.
"""

import json
import re
import sys
import tomllib
from pathlib import Path
from typing import Any

from spacy_connorm.evaluation.report import Row, to_table

HERE = Path(__file__).parent
TABLES = HERE / "tables.toml"
PAGES = (*sorted(HERE.glob("*.md")), HERE.parent / "evaluation.md", HERE.parent / "models.md")
_PLACE = re.compile(r"(<!-- table ([\w-]+) -->\n).*?(<!-- end -->)", re.S)
_FIELD = re.compile(r"\{([^{}]+)\}")


def main() -> None:
    tables = tomllib.loads(TABLES.read_text(encoding="utf8"))
    for page in PAGES:
        text = page.read_text(encoding="utf8")
        made = make_page(text, tables)
        if made != text:
            page.write_text(made, encoding="utf8")
            sys.stderr.write(f"{page}\n")


def make_page(text: str, tables: dict[str, Any]) -> str:
    """RETURNS (str): A page with its tables as the data have them."""
    return _PLACE.sub(lambda at: f"{at[1]}\n{make_table(tables[at[2]])}\n\n{at[3]}", text)


def make_table(table: dict[str, Any]) -> str:
    """RETURNS (str): A table in Markdown."""
    rows = [row for name in table["rows"] for row in read_rows(name)]
    rows = [row for row in rows if is_wanted(row, table.get("where", {}))]
    columns = table["columns"]
    if "across" not in table:
        shown = [show(row, columns) for row in rows]
        # Rows may differ in what isn't shown alone.
        lines = [row for place, row in enumerate(shown) if row not in shown[:place]]
        return to_table(lines, markdown=True)
    across, by_head = table["across"], dict[tuple, Row]()
    for row in rows:
        head = show(row, columns)
        line = by_head.setdefault(
            tuple(head.values()), head | dict.fromkeys(map(str, across["values"]))
        )
        if row[across["key"]] in across["values"]:
            line[str(row[across["key"]])] = fill(row, table["cell"])
    return to_table(list(by_head.values()), markdown=True)


def read_rows(name: str) -> list[Row]:
    """RETURNS (List[Dict[str, Any]]): The rows of a file of `data/`."""
    return json.loads((HERE / "data" / name).read_text(encoding="utf8"))


def is_wanted(row: Row, where: dict[str, Any]) -> bool:
    """RETURNS (bool): Whether a row has these values."""
    return all(
        row.get(key) in (value if isinstance(value, list) else [value])
        for key, value in where.items()
    )


def show(row: Row, columns: dict[str, Any]) -> Row:
    """RETURNS (Dict[str, Any]): The columns of a row."""
    return {heading: fill(row, key) for heading, key in columns.items()}


def fill(row: Row, keys: str | list[str]) -> Any:
    """RETURNS (Any): The value of a key, or a format with the values of its keys; of a list the
    first that the row has; None if it has none.
    """
    for key in [keys] if isinstance(keys, str) else keys:
        names = _FIELD.findall(key) or [key]
        if all(row.get(name) is not None for name in names):
            return row[key] if names == [key] else _FIELD.sub(lambda at: told(row[at[1]]), key)
    return None


def told(number: float | str) -> str:
    """RETURNS (str): A count in full, a score with one decimal, a text as it is."""
    if isinstance(number, str):
        return number
    return f"{number:,}" if isinstance(number, int) else f"{number:.1f}"


if __name__ == "__main__":
    main()
