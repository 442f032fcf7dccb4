"""Mentions without context, one per tab-separated line, such as AskAPatient's.

22298006	Myocardial infarction	HEART ATTACK

Quotation marks that enclose a whole cell do not belong to it, as in tables of concepts.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

from ...errors import ConnormError, Errors
from ...files.tables import split_tabs
from .documents import DEFAULT_TYPE, Document, make_mention
from .lines import placed_lines
from .report import CorpusReport

DEFAULT_COLUMNS = ("id", "name", "mention")


def read_tsv_corpus(
    path: Path,
    *,
    report: CorpusReport,
    columns: Sequence[str] = DEFAULT_COLUMNS,
    header: bool = False,
) -> Iterator[Document]:
    """Read the mentions of a TSV file, each as a small document.

    path (Path): The file.
    report (CorpusReport): Counts problems.
    columns (Sequence[str]): What the columns hold, from the left: mention, id and, if there is one,
        type. Columns with other names are ignored.
    header (bool): Whether the first line is a header.
    YIELDS (Document): The documents.
    RAISES (ConnormError): CN210 for a line with another number of columns, CN211 if `columns`
        lacks `mention` or `id`, and what `make_mention` and `placed_lines` raise.
    """
    if not {"mention", "id"} <= set(columns):
        raise ConnormError(Errors.CN211.format(columns=", ".join(columns)))
    for place, line in placed_lines(path, report=report):
        if header and place.line == 1:
            continue
        cells = split_tabs(line)
        if len(cells) != len(columns):
            expected = f"{len(columns)} ({', '.join(columns)})"
            message = Errors.CN210.format(place=place, found=len(cells), expected=expected)
            raise ConnormError(message)
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
        yield Document(str(place.line), text, (mention,))
