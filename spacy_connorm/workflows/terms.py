"""Read tables of local terms: CSV, TSV and Excel, with columns named by the user; and lists. Search
for the candidates of terms, with the text around them.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import date, datetime
from itertools import chain
from pathlib import Path
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.util import minibatch

from ..concepts import Candidate
from ..documents.abbreviations import long_forms_of
from ..errors import (
    Errors,
    Warnings,
    describe_error,
    quote,
    require_ending,
    require_installed,
    unreadable,
)
from ..files.tables import TableRow, find_column, read_rows, require_width
from ..files.text import existing_file
from ..pipeline.abbreviation_resolver import read_alone
from ..pipeline.concept_normalizer import ConceptNormalizer
from ..pipeline.loading import component_name
from ..text.cleaning import clean

CODE, TERM, CONTEXT, COUNT = "code", "term", "context", "count"
_EXCEL = (".xlsx", ".xlsm")
_TEXT = (".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz")


@dataclass(frozen=True, slots=True)
class LocalTerm:
    """A row of a table of terms.

    code (str): The term's local code; its text if it has none.
    term (str): Its text.
    context (str): Text around it; may be empty.
    count (int): How often it occurs.
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
    sheet: str | None = None,
    delimiter: str | None = None,
) -> list[LocalTerm]:
    """Read a table or a list of terms.

    path (Union[str, Path]): A `.csv`, `.tsv`, `.txt` (tabs) or `.xlsx` file with a header, or such
        a file with one term in each line; its first line is a term, too, unless it is "term". Text
        files may be gzipped.
    term (str): The column of the term.
    code, context, count (str): The columns of the code, the context and the count. They may be
        missing if they have the default names; then the code is the term.
    sheet (Optional[str]): The sheet of an Excel file; the first one if None.
    delimiter (Optional[str]): The delimiter of the fields in a text file; detected if None, see
        `read_rows`.
    RETURNS (List[LocalTerm]): The rows that have a code and a term, in the file's order.
    RAISES (ConnormError): CN114 for a missing column, CN125 for two columns of the same name, CN708
        for another extension, CN126 without openpyxl, CN114 for an unknown sheet, CN220 for a
        damaged Excel file, CN115 for an invalid count, CN104 for a table without terms, CN733 for a
        sheet or a delimiter with another kind of file, CN115 for a row of a text file with more
        fields than columns, and the errors of `read_rows`.
    WARNS (ConnormWarning): CNW780 for rows without code or term, CNW781 for a table without the
        column of the code that has columns which are not read.
    """
    path = Path(path)
    rows = _read_table(path, sheet, delimiter)
    first = next(rows, (0, []))
    columns = [clean(cell) for cell in first[1]]
    if len(columns) == 1 and columns[0] not in (CODE, TERM) and (code, term) == (CODE, TERM):
        rows, columns = chain([first], rows), [TERM]  # a list without a header
    wanted = {CODE: code, TERM: term, CONTEXT: context, COUNT: count}
    places = {
        field: find_column(path, column, columns)
        for field, column in wanted.items()
        if column in columns or column != field or field == TERM
    }
    unread = [column for place, column in enumerate(columns) if place not in places.values()]
    if CODE not in places and any(unread):
        Warnings.CNW781.warn(path=path, column=code, columns=", ".join(filter(None, unread)))
    if not _is_excel(path):
        rows = require_width(rows, path, len(columns), delimiter=delimiter)
    terms, left_out = [], []
    for number, row in rows:
        cells = {field: clean(row[at]) for field, at in places.items() if at < len(row)}
        if CODE not in places:
            cells[CODE] = cells.get(TERM, "")
        if cells.get(CODE) and cells.get(TERM):
            times = _count(path, number, cells.pop(COUNT, ""))
            terms.append(LocalTerm(**cells, count=times))
        else:
            left_out.append(number)
    if not terms:
        what = "rows with both a code and a term" if CODE in places else "terms"
        raise Errors.CN104(path=path, what=what)
    if left_out:
        Warnings.CNW780.warn(path=path, count=len(left_out), line=left_out[0])
    return terms


def _read_table(path: Path, sheet: str | None, delimiter: str | None) -> Iterator[TableRow]:
    if _is_excel(path):
        if delimiter is not None:
            raise Errors.CN733(option="--delimiter", needed="a text file")
        return _read_excel(path, sheet)
    if sheet is not None:
        raise Errors.CN733(option="--sheet", needed="an Excel file")
    require_ending(path, (*_TEXT, *_EXCEL), action="read")
    return read_rows(path, delimiter=delimiter)


def _is_excel(path: Path) -> bool:
    return path.suffix.lower() in _EXCEL


def _count(path: Path, line: int, cell: str) -> int:
    if not cell:
        return 1
    # Thousands may be written as 1,234 or 1 234.
    digits = cell.replace(",", "").replace(" ", "").removesuffix(".0")
    if not (digits.isascii() and digits.isdigit()):
        raise unreadable(path, line, "a count", f"{quote(cell)} is not an integer")
    return int(digits)


def _read_excel(path: Path, sheet: str | None) -> Iterator[TableRow]:
    require_installed(f"Reading '{path}'", "map", "openpyxl", instead=", or save the sheet as CSV")
    existing_file(path)
    from openpyxl import load_workbook

    # Those of zipfile and the XML parser, KeyError and others.
    facts = {"path": path, "format": "Excel", "mend": ""}
    with (
        Errors.CN220.instead_of(Exception, tell=describe_error, **facts),
        closing(load_workbook(path, read_only=True, data_only=True)) as book,
    ):
        names = [sheet.title for sheet in book.worksheets]
        if not names or (sheet is not None and sheet not in names):
            known = ", ".join(names) or "none"
            raise Errors.CN114(path=path, what=f"sheet '{sheet or ''}'", known=known)
        chosen = book[sheet or names[0]]
        # Some programs write that a sheet has only one cell.
        chosen.reset_dimensions()
        for number, row in enumerate(chosen.iter_rows(values_only=True), start=1):
            cells = [_text(value) for value in row]
            if any(cells):
                yield number, cells


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))  # Excel has no integers
    if isinstance(value, datetime | date):
        return value.isoformat()
    return str(value)


# Where a word may begin or end: not between two letters or digits.
_EDGE = r"(?:(?<![^\W_])|(?![^\W_]))"
# Terms that are read and searched together.
_AT_ONCE = 512


def find_candidates(
    nlp: Language, normalizer: ConceptNormalizer, terms: Sequence[LocalTerm], **limits: Any
) -> Iterator[list[Candidate]]:
    """Search for terms. A term is a single concept: it is not split like a composite mention.

    nlp (Language): The pipeline, which reads the text around a term.
    normalizer (ConceptNormalizer): One of its components.
    terms (Sequence[LocalTerm]): The terms.
    **limits (Limits): As in `ConceptNormalizer.candidates`.
    YIELDS (List[Candidate]): The candidates of each, best first.
    RAISES (ConnormError): CN001 if the normalizer has no index, CN006 for a `top_k` below 1, CN406
        for unknown types and branches, CN709 for a context that is too long.
    """
    for batch in minibatch(terms, _AT_ONCE):
        texts = [term.term for term in batch]
        long_forms = long_forms_of(_read(nlp, normalizer, batch))
        yield from normalizer.candidates(
            texts, long_forms=long_forms, split_composites=False, **limits
        )


def _read(nlp: Language, normalizer: ConceptNormalizer, terms: Sequence[LocalTerm]) -> list[Span]:
    texts = [_text_of(term) for term in terms if term.context]
    for text in texts:
        if len(text) > nlp.max_length:
            fields = {"length": len(text), "limit": nlp.max_length}
            raise Errors.CN709(place="The context of a term", **fields)
    docs = nlp.pipe(texts, disable=[component_name(nlp, normalizer)])
    alone = iter(read_alone(nlp, (term.term for term in terms if not term.context)))
    return [_find_span(next(docs), term) if term.context else next(alone) for term in terms]


def _text_of(term: LocalTerm) -> str:
    return term.context if _places(term.context, term) else f"{term.context}\n{term.term}"


def _find_span(doc: Doc, term: LocalTerm) -> Span:
    # Rather as it is written than in other letters; the last one, since definitions come first.
    place = max(
        _places(doc.text, term), key=lambda place: (doc.text[slice(*place)] == term.term, place)
    )
    # Never None: "expand" finds a span for all characters inside the text.
    return doc.char_span(*place, alignment_mode="expand")  # type: ignore[return-value]


def _places(text: str, term: LocalTerm) -> list[tuple[int, int]]:
    """Find a term in a text, not inside longer words, whatever its letters' case."""
    written = re.compile(f"{_EDGE}{re.escape(term.term)}{_EDGE}", re.IGNORECASE)
    return [match.span() for match in written.finditer(text)]
