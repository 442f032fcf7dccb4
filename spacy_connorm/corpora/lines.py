"""The lines of a corpus file, each with its place."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from ..files.text import read_lines
from .report import Report

_SURROGATE = re.compile("[\ud800-\udfff]")


class Place(NamedTuple):
    """Where a line stands, for messages.

    path (Path): The file.
    line (int): The line's number, from 1.
    """

    path: Path
    line: int

    def __str__(self) -> str:
        return f"'{self.path}', line {self.line}"


def placed_lines(path: Path, *, report: Report) -> Iterator[tuple[Place, str]]:
    """Read a corpus file line by line, blank lines left out.

    path (Path): A UTF-8 file; `.gz` is read as it is.
    report (Report): Counts the lone surrogates that were replaced.
    YIELDS (Tuple[Place, str]): A place and the line there, without its end.
    RAISES (ConnormError): What `read_lines` raises: for a missing file, a folder, a damaged file
        or one that is not text.
    """
    for number, line in read_lines(path):
        if line.strip():
            yield Place(path, number), replace_surrogates(line, report=report)


def replace_surrogates(text: str, *, report: Report) -> str:
    """Replace lone surrogates, which spaCy cannot store, one for one: offsets stay true.

    text (str): Any text.
    report (Report): Counts them.
    RETURNS (str): The text with U+FFFD in their places.
    """
    text, count = _SURROGATE.subn("\ufffd", text)
    report.surrogates += count
    return text
