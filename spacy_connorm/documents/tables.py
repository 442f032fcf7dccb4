"""Mentions as rows of tables: without context in TSV, or from annotated documents in CSV.

TSV has one mention per line, as in AskAPatient; quotation marks around a whole cell are not part of
it, as in tables of concepts.

    22298006	Myocardial infarction	HEART ATTACK
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from operator import attrgetter
from pathlib import Path
from typing import Any

from ..concepts.concept import by_part
from ..errors import refuse
from ..files.tables import hold_as_text, split_tabs
from .document import (
    DEFAULT_TYPE,
    CorpusReport,
    Document,
    Place,
    make_mention,
    placed_lines,
    unlike,
)
from .formats import EXPORT_FORMATS
from .mentions import Mention
from .writing import write_table

COLUMNS = EXPORT_FORMATS["csv"].columns
_ABOUT = attrgetter("concept_id", "name", "score", "probability", "text", "search")
_NO_CANDIDATE = ("",) * 8
_SEPARATOR = "|"

CsvRow = tuple[Any, ...]


def read_mention_table(
    path: Path,
    *,
    report: CorpusReport,
    columns: Sequence[str] = ("id", "name", "mention"),
    header: bool = False,
) -> Iterator[Document]:
    """Read the mentions of a TSV file, each as a small document.

    path (Path): The file.
    report (CorpusReport): Counts problems.
    columns (Sequence[str]): The contents of the columns, from the left: mention, id and, if there
        is one, type. Columns with other names are ignored.
    header (bool): Whether the first line is a header.
    YIELDS (Document): The documents.
    RAISES (ConnormError): CN006 if `columns` lacks `mention` or `id`, CN204 for too many lines
        with another number of columns, and the errors of `make_mention` and `placed_lines`.
    """
    if not {"mention", "id"} <= set(columns):
        refuse("columns", ", ".join(columns), "names of columns, including `mention` and `id`")
    for place, line in placed_lines(path, report=report):
        if header and place.line == 1:
            continue
        with report.odd.skip_errors():
            yield _read_row(line, columns, place, report)


def _read_row(line: str, columns: Sequence[str], place: Place, report: CorpusReport) -> Document:
    cells = split_tabs(line)
    if len(cells) != len(columns):
        expected = (
            f"the columns {', '.join(columns)}, separated by tabs (or name its own: `columns` in "
            "Python, `--columns` on the command line)"
        )
        raise unlike(place, f"it has {len(cells)} columns", format="a table", expected=expected)
    row = dict(zip(columns, cells, strict=True))
    text = row["mention"].strip()
    mention = make_mention(
        text,
        [(0, len(text))],
        label=row.get("type", DEFAULT_TYPE),
        ids=row["id"],
        place=place,
        report=report,
    )
    return Document(str(place.line), text, (mention,))


@dataclass(frozen=True, slots=True)
class CsvExporter:
    """Writes one row per candidate of a mention, with a header: the best one of each part of the
    mention has the rank 1. A mention without candidates has one row, too.

    raw (bool): Whether to leave texts unchanged that a spreadsheet would run as formulas, such as
        "=A1". If not, they are prefixed with an apostrophe, see `hold_as_text`.
    """

    raw: bool = False

    def render(self, document: Document, changes: Counter[str]) -> list[CsvRow]:
        rows = [
            (document.doc_id, *row) for mention in document.mentions for row in _rows_of(mention)
        ]
        return rows if self.raw else [tuple(map(hold_as_text, row)) for row in rows]

    def write(self, rendered: Iterable[list[CsvRow]], path: Path, changes: Counter[str]) -> None:
        write_table(path, COLUMNS, chain.from_iterable(rendered))


def _rows_of(mention: Mention) -> Iterator[CsvRow]:
    before = (*mention.extent, mention.text, mention.label, mention.kb_id)
    assertions = _SEPARATOR.join(mention.assertions or ())
    after = (mention.long_form, assertions, mention.possibility)
    if not mention.candidates:
        yield (*before, *_NO_CANDIDATE, *after)
    for part in by_part(mention.candidates):
        for rank, candidate in enumerate(part, start=1):
            yield (*before, candidate.part, rank, *_ABOUT(candidate), *after)
