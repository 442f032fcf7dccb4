"""Read the lines of a corpus file, each with its place."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from ...files.text import read_lines
from .report import CorpusReport

_SURROGATE = re.compile("[\ud800-\udfff]")


class Place(NamedTuple):
    """The place of a line, for messages.

    path (Path): The file.
    line (int): The line number, from 1.
    """

    path: Path
    line: int

    def __str__(self) -> str:
        return f"'{self.path}', line {self.line}"


def placed_lines(path: Path, *, report: CorpusReport) -> Iterator[tuple[Place, str]]:
    """Read a corpus file line by line, without blank lines.

    path (Path): A UTF-8 file; may be compressed (`.gz`).
    report (CorpusReport): Counts the lone surrogates that were replaced.
    YIELDS (Tuple[Place, str]): Place and text of each line, without its line end.
    RAISES (ConnormError): What `read_lines` raises: for a missing file, a folder, a damaged file
        or one that is not text.
    """
    for number, line in read_lines(path):
        if line.strip():
            yield Place(path, number), replace_surrogates(line, report=report)


def replace_surrogates(text: str, *, report: CorpusReport) -> str:
    """Replace lone surrogates, which spaCy cannot store, one for one, so that offsets stay valid.

    text (str): Any text.
    report (CorpusReport): Counts them.
    RETURNS (str): The text with U+FFFD instead.
    """
    text, count = _SURROGATE.subn("\ufffd", text)
    report.surrogates += count
    return text
