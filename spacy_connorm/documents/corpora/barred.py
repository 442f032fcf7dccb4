"""Annotation lines with two bars between their fields, and the notes that they annotate: what MCN
and ShARe/CLEF share.

    N004||C0202194||160||164||180||190
"""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple, NoReturn

from ...errors import ConnormError, Errors, quote_id
from ...files.text import read_text
from .documents import Document, make_mention
from .lines import Place, replace_surrogates
from .report import CorpusReport

TEXT = ".txt"
_OFFSET = re.compile(r"[0-9]{1,9}")


class BarredLine(NamedTuple):
    """An annotation.

    place (Place): Its line.
    fields (Sequence[str]): The fields before the offsets.
    fragments (Tuple[Tuple[int, int], ...]): Start and end of each fragment (characters).
    """

    place: Place
    fields: Sequence[str]
    fragments: tuple[tuple[int, int], ...]


def read_barred(place: Place, line: str, *, format: str, example: str) -> BarredLine:
    """Read an annotation.

    place (Place): Its line.
    line (str): The line.
    format (str): The name of the format, for messages.
    example (str): A line with two offsets; it tells how many fields come before them.
    RETURNS (BarredLine): The annotation.
    RAISES (ConnormError): CN217 for a line that is not like the example.
    """

    def refuse(reason: str) -> NoReturn:
        message = Errors.CN217.format(place=place, format=format, reason=reason, example=example)
        raise ConnormError(message)

    fields = [field.strip() for field in line.split("||")]
    count = example.count("||") - 1
    head, offsets = fields[:count], fields[count:]
    if not offsets or len(offsets) % 2:
        refuse(f"it has {len(fields)} fields")
    if not all(head):
        refuse("a field is empty")
    if not all(map(_OFFSET.fullmatch, offsets)):
        refuse("its last fields are no offsets")
    numbers = list(map(int, offsets))
    return BarredLine(place, head, tuple(zip(numbers[::2], numbers[1::2], strict=True)))


def make_barred_document(
    doc_id: str,
    text: str,
    annotations: Iterable[tuple[str, str, BarredLine]],
    *,
    report: CorpusReport,
) -> Document:
    """Put the annotations of a note together.

    doc_id (str): Its id in the corpus.
    text (str): Its text.
    annotations (Iterable[Tuple[str, str, BarredLine]]): Type, gold ids and line of each.
    report (CorpusReport): Counts problems.
    RETURNS (Document): The note.
    RAISES (ConnormError): What `make_mention` raises.
    """
    mentions = [
        make_mention(text, line.fragments, label=label, ids=ids, place=line.place, report=report)
        for label, ids, line in annotations
    ]
    return Document(doc_id, text, tuple(mentions))


def require_file(folder: Path, name: str, *, place: Place | str) -> Path:
    """Find a file that a corpus names.

    folder (Path): Its folder.
    name (str): Its name; a path, which could lead anywhere, is refused.
    place (Union[Place, str]): The line that names it, or the file that is called alike.
    RETURNS (Path): Its path.
    RAISES (ConnormError): CN219 if it is not there.
    """
    path = folder / name
    if path.parent != folder or "\0" in name or not path.is_file():
        # What a line says may be a text.
        file = quote_id(name) if isinstance(place, Place) else f"'{name}'"
        raise ConnormError(Errors.CN219.format(place=place, file=file, folder=folder))
    return path


def read_note(path: Path, *, report: CorpusReport) -> str:
    """path (Path): The file of a note.
    report (CorpusReport): Counts the lone surrogates that were replaced.
    RETURNS (str): Its text, line ends as they are, since offsets count them.
    RAISES (ConnormError): What `read_text` raises.
    """
    return replace_surrogates(read_text(path), report=report)
