"""Synonyms that users add and remove: pairs of a text and a concept id, or lines of a table with a
count. spaCy imports this module whenever it creates a pipeline, so it must stay light.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from ..errors import refuse_text, unreadable
from ..files.atomic import write_text
from ..files.text import read_lines

# A byte order mark, which readers skip.
_MARK = "\ufeff"
_TIMES = re.compile("[0-9]{1,6}")


class ChangedSynonym(NamedTuple):
    """A synonym that a user added or removed.

    text (str): The text.
    concept_id (str): The concept that it denotes.
    times (int): How often it was added to D, not counting the index; 0 if it was removed.
    """

    text: str
    concept_id: str
    times: int = 1


def as_pairs(synonyms: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Collect synonyms, and refuse anything that would be unpacked wrongly, such as a pair that is
    not in a list.

    synonyms (Iterable[Tuple[str, str]]): Texts and concept ids.
    RETURNS (List[Tuple[str, str]]): The pairs.
    RAISES (ConnormError): CN006.
    """
    pairs = list(synonyms)
    for place, pair in enumerate(pairs):
        is_pair = isinstance(pair, (tuple, list)) and len(pair) == 2
        if not is_pair or not all(isinstance(value, str) for value in pair):
            refuse_text(f"synonyms[{place}]", pair, "a pair of a text and a concept id")
    return pairs


def read_synonyms(path: str | Path) -> Iterator[ChangedSynonym]:
    """Read a table of synonyms.

    path (Union[str, Path]): A file with a text, a tab and a concept id in each line, and optionally
        another tab and how often it was added to D, 1 by default. 0 stands for a synonym that was
        removed. May be gzipped (`.gz`).
    YIELDS (ChangedSynonym): The synonyms.
    RAISES (ConnormError): CN115 for any other line, and the errors of `read_lines`.
    """
    for number, line in read_lines(path):
        if not line.strip():
            continue
        fields = [field.strip() for field in line.split("\t")]
        text, concept_id, times = [*fields, "1"][:3] if len(fields) in (2, 3) else ("", "", "")
        if not text or not concept_id or not _TIMES.fullmatch(times):
            reason = "it needs a text, a tab, a concept id and, optionally, a tab and a count"
            raise unreadable(path, number, "a synonym", reason)
        yield ChangedSynonym(text, concept_id, int(times))


def write_synonyms(path: str | Path, synonyms: Iterable[ChangedSynonym]) -> None:
    """Write a table of synonyms that `read_synonyms` can read.

    path (Union[str, Path]): The file to create or replace, completely or not at all; gzipped if its
        name ends in `.gz`.
    synonyms (Iterable[ChangedSynonym]): Cleaned texts and concept ids.
    RAISES (ConnormError): CN105 for a folder, CN108 if it can't be written, CN109 if another
        process is writing it.
    """
    lines = "".join(f"{text}\t{concept_id}\t{times}\n" for text, concept_id, times in synonyms)
    # Readers skip one byte order mark, which could be the first character of a text.
    write_text(path, _MARK + lines if lines.startswith(_MARK) else lines)
