"""Read tables in text files row by row, and find their columns by name."""

import csv
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, TextIO, TypeAlias

from ..errors import Errors, refuse, unreadable
from .odd_lines import OddLines
from .text import LONE_SURROGATE, find_ending, read_lines, read_whole_lines

# Excel writes the delimiter of its CSV into the first line.
_TELLS_DELIMITER = re.compile(r"sep=([^\w\s]|\t)", re.IGNORECASE)
# Its unit is characters. The text after an unclosed quotation mark is held in memory.
_LONGEST_FIELD = 1 << 24

TableRow: TypeAlias = tuple[int, list[str]]


def read_rows(
    path: str | Path, *, delimiter: str | None = None, odd: OddLines | None = None
) -> Iterator[TableRow]:
    """Read a table row by row.

    path (Union[str, Path]): The file, which may be gzipped (`.gz`).
    delimiter (Optional[str]): The separator of fields; if None, that of a first line `sep=;`, or
        else a tab, or in a `.csv` file a comma, or the semicolon or tab in a first line without
        commas.
    odd (Optional[OddLines]): Counts rows that are not valid CSV. If None, they are refused.
    RETURNS (Iterator[Tuple[int, List[str]]]): Rows that are not blank, with the number of their
        last line.
    RAISES (ConnormError): CN006 for an invalid delimiter, CN115 for invalid CSV, and the errors of
        `read_lines`.
    """
    path, odd = Path(path), odd or OddLines(max_share=0)
    found, is_named = _find_delimiter(path)
    delimiter = found if delimiter is None else delimiter
    if len(delimiter) != 1 or delimiter in '"\r\n':
        refuse("delimiter", delimiter, "one character, e.g. ';', but not a quotation mark")
    if delimiter != "\t":
        rows = read_quoted(read_whole_lines(path), path, delimiter=delimiter, odd=odd)
    else:
        # Without the csv module: in tables of names, a quotation mark is usually part of a name,
        # and one at the start of a field would swallow all lines up to the next one.
        rows = ((number, split_tabs(line)) for number, line in read_lines(path))
    return (row for row in odd.watch(rows) if any(row[1]) and not (is_named and row[0] == 1))


def _find_delimiter(path: Path) -> tuple[str, bool]:
    """RETURNS (Tuple[str, bool]): The separator, and whether the first line only names it, for a
    spreadsheet.
    """
    _, first = next(read_lines(path), (1, ""))
    if match := _TELLS_DELIMITER.fullmatch(first):
        return match[1], True
    if find_ending(path) != ".csv":
        return "\t", False
    # In languages with decimal commas, spreadsheets write semicolons.
    return next((delimiter for delimiter in ",;\t" if delimiter in first), ","), False


def require_width(
    rows: Iterable[TableRow],
    path: str | Path,
    width: int,
    *,
    delimiter: str | None = None,
    odd: OddLines | None = None,
) -> Iterator[TableRow]:
    """Skip rows with more fields than the table has columns: a field that contains the delimiter
    would move all fields after it to the next column. Empty fields may follow the last column.

    rows (Iterable[Tuple[int, List[str]]]): Rows from `read_rows`, without the header.
    path (Union[str, Path]): Their file, for the message.
    width (int): The number of columns of the table.
    delimiter (Optional[str]): As in `read_rows`.
    odd (Optional[OddLines]): Counts these rows. If None, they are refused.
    YIELDS (Tuple[int, List[str]]): The other rows.
    RAISES (ConnormError): CN115 for a row with more fields than columns.
    """
    odd = odd or OddLines(max_share=0)
    for number, row in rows:
        if any(map(str.strip, row[width:])):
            hint = _surplus_hint(_find_delimiter(Path(path))[0] if delimiter is None else delimiter)
            reason = f"{len(row)} fields, but the table has {width} columns; {hint}"
            odd.skip(unreadable(path, number, "a table", reason))
        else:
            yield number, row


def _surplus_hint(delimiter: str) -> str:
    if delimiter == "\t":
        return "a field can't contain a tab"
    return f"put quotation marks around fields that contain '{delimiter}'"


def find_column(path: str | Path, column: str | int, columns: Sequence[str] | None) -> int:
    """Find a column of a table.

    path (Union[str, Path]): The file, for the message.
    column (Union[str, int]): Its name in the header, or its number, from 1.
    columns (Optional[Sequence[str]]): The header; None if there is none.
    RETURNS (int): Its position in a row, from 0.
    RAISES (ConnormError): CN114 if there is no such column, CN125 if there are several.
    """
    if columns is not None and column in columns:
        require_distinct_columns(path, [name for name in columns if name == column])
        return columns.index(str(column))
    number = int(column) if str(column).isdecimal() else 0
    if number > 0 and (columns is None or number <= len(columns)):
        return number - 1
    known = "their numbers, from 1 (no header)"
    if columns is not None:
        known = ", ".join(columns or ["none, as the file is empty"])
    raise Errors.CN114(path=path, what=f"column {column!r}", known=known)


def require_distinct_columns(path: str | Path, columns: Iterable[str]) -> None:
    """Refuse columns with the same name, since only one of them would be read. Several may have no
    name.

    path (Union[str, Path]): The file, for the message.
    columns (Iterable[str]): Their names.
    RAISES (ConnormError): CN125.
    """
    for column, count in Counter(filter(None, columns)).items():
        if count > 1:
            raise Errors.CN125(path=path, column=column)


def split_tabs(line: str) -> list[str]:
    """Split a line at its tabs.

    line (str): The line.
    RETURNS (List[str]): Its fields, without quotation marks around whole fields.
    """
    return [_unquoted(field) for field in line.split("\t")]


def _unquoted(field: str) -> str:
    inner = field[1:-1].replace('""', "")
    if len(field) > 1 and field[0] == field[-1] == '"' and '"' not in inner:
        return field[1:-1].replace('""', '"')
    return field


def read_quoted(
    lines: Iterable[tuple[int, str]],
    path: str | Path,
    *,
    delimiter: str,
    odd: OddLines | None = None,
) -> Iterator[TableRow]:
    """Read rows in which a field in quotation marks may contain anything, including the separator
    and line breaks.

    lines (Iterable[Tuple[int, str]]): Numbered lines with their ends, which fields keep.
    path (Union[str, Path]): Their file, for the message.
    delimiter (str): The separator of fields.
    odd (Optional[OddLines]): Counts rows with a quotation mark after the end of a field. If None,
        they are refused.
    YIELDS (Tuple[int, List[str]]): The number of a row's last line, and the row.
    RAISES (ConnormError): CN115 for an unclosed quotation mark, or one after the end of a field.
    """
    begin, line, has_ended = 0, 0, False
    odd = odd or OddLines(max_share=0)

    def contents() -> Iterator[str]:
        nonlocal begin, line, has_ended
        for line, content in lines:
            begin = begin or line
            yield content
        has_ended = True

    csv.field_size_limit(max(csv.field_size_limit(), _LONGEST_FIELD))
    rows = csv.reader(contents(), delimiter=delimiter, strict=True)
    while not has_ended:
        try:
            for row in rows:
                yield line, row
                begin = 0
        except csv.Error as error:
            if has_ended:
                # An unclosed quotation mark swallows all lines up to the last one.
                reason = "a quotation mark in the row that begins here is not closed"
                raise unreadable(path, begin, "a table", reason) from error
            # The reader continues with the next line.
            odd.skip(unreadable(path, line, "a table", error))
            begin = 0


class RowWriter:
    """Writes rows of CSV that every reader splits in the same way: lines end with a line feed, and
    cells with a line break are in quotation marks. Lone surrogates become U+FFFD.
    """

    def __init__(self, file: TextIO, *, delimiter: str = ",") -> None:
        """Write to a file.

        file (TextIO): The file, opened with `newline=""`.
        delimiter (str): The separator of cells.
        """
        self._file = file
        # Only characters of the line's end are quoted, so a bare carriage return would not be.
        self._rows = csv.writer(self, delimiter=delimiter, lineterminator="\r\n")

    def write(self, line: str) -> None:
        """Write a line that the module `csv` has made.

        line (str): The line.
        """
        self._file.write(LONE_SURROGATE.sub("\ufffd", line.removesuffix("\r\n")) + "\n")

    def write_row(self, cells: Iterable[Any]) -> None:
        """Write a row.

        cells (Iterable): Its cells.
        """
        self._rows.writerow(cells)


_FORMULA = ("=", "+", "-", "@", "\t", "\r")
# A spreadsheet reads it as a number, not as a formula.
_NUMBER = re.compile(r"[-+]?\d+(?:[.,]\d+)*")


def hold_as_text(cell: Any) -> Any:
    """Keep a spreadsheet from running a cell of a CSV file as a formula.

    cell (Any): The content of the cell.
    RETURNS (Any): The same content; a text that begins like a formula, and is not a number such as
        -5, is prefixed with an apostrophe.
    """
    is_formula = isinstance(cell, str) and cell.startswith(_FORMULA)
    return f"'{cell}" if is_formula and not _NUMBER.fullmatch(cell) else cell
