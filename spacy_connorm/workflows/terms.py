"""Tables of local terms: CSV and TSV, with columns named by the user."""

from dataclasses import dataclass
from pathlib import Path

from ..errors import ConnormError, Errors, Warnings, quote, warn
from ..files.tables import find_column, read_rows, require_width
from ..text.cleaning import clean

CODE, TERM, CONTEXT, COUNT = "code", "term", "context", "count"
_TEXT = (".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz")


@dataclass(frozen=True, slots=True)
class LocalTerm:
    """A row of a table of terms.

    code (str): The term's code where it comes from.
    term (str): Its text.
    context (str): Text around it; may be empty.
    count (int): How often it occurs there.
    """

    code: str
    term: str
    context: str = ""
    count: int = 1


def read_terms(
    path: str | Path,
    *,
    code: str = CODE,
    term: str = TERM,
    context: str = CONTEXT,
    count: str = COUNT,
    delimiter: str | None = None,
) -> list[LocalTerm]:
    """Read a table of terms.

    path (Union[str, Path]): A `.csv`, `.tsv` or `.txt` (tabs) file with a header; may be gzipped.
    code, term (str): The columns of the code and the term.
    context, count (str): The columns of the context and the count. A table may lack those that
        have the default names.
    delimiter (Optional[str]): Separates the fields of a text file; found out if None, see
        `read_rows`.
    RETURNS (List[LocalTerm]): The rows that have a code and a term, in the file's order.
    RAISES (ConnormError): CN114 for a missing column, CN125 for two of its name, CN708 for another
        suffix, CN115 for a count that is none or a row with more fields than columns, CN104 for a
        table without terms, and what `read_rows` raises.
    WARNS (ConnormWarning): CNW780 for rows without code or term.
    """
    path = Path(path)
    if not path.name.lower().endswith(_TEXT):
        known = ", ".join(_TEXT)
        raise ConnormError(Errors.CN708.format(action="read", path=path, known=known))
    rows = read_rows(path, delimiter=delimiter)
    columns = [clean(cell) for cell in next(rows, (0, []))[1]]
    wanted = {CODE: code, TERM: term, CONTEXT: context, COUNT: count}
    places = {
        field: find_column(path, column, columns)
        for field, column in wanted.items()
        if column in columns or column != field or field in (CODE, TERM)
    }
    terms, left_out = [], []
    for number, row in require_width(rows, path, len(columns), delimiter=delimiter):
        cells = {field: clean(row[at]) for field, at in places.items() if at < len(row)}
        if cells.get(CODE) and cells.get(TERM):
            times = _count(path, number, cells.pop(COUNT, ""))
            terms.append(LocalTerm(**cells, count=times))
        else:
            left_out.append(number)
    if not terms:
        raise ConnormError(Errors.CN104.format(path=path, what="rows with both a code and a term"))
    if left_out:
        warn(Warnings.CNW780.format(path=path, count=len(left_out), line=left_out[0]))
    return terms


def _count(path: Path, line: int, cell: str) -> int:
    if not cell:
        return 1
    # Thousands are written 1,234 or 1 234.
    digits = cell.replace(",", "").replace(" ", "").removesuffix(".0")
    if not (digits.isascii() and digits.isdigit()):
        raise ConnormError(
            Errors.CN115.format(
                path=path, line=line, format="a count", reason=f"{quote(cell)} is no whole number"
            )
        )
    return int(digits)
