"""Concepts in scispaCy's knowledge-base JSONL."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

from ..errors import ConnormError, Errors
from ..files.atomic import atomic_file
from ..files.text import open_text, read_lines
from .concept import Concept


def read_concepts(path: str | Path) -> Iterator[Concept]:
    """Read concepts one by one from scispaCy's knowledge-base JSONL.

    path (Union[str, Path]): A `.jsonl` or `.jsonl.gz` file.
    YIELDS (Concept): The concepts, in the file's order.
    RAISES (ConnormError): CN103 for a line that is not a concept, and what `read_lines` raises.
    """
    for number, line in read_lines(path):
        if not line.strip():
            continue
        try:
            concept = Concept.from_dict(json.loads(line))
        except (ValueError, RecursionError) as error:
            raise ConnormError(Errors.CN103.format(path=path, line=number, reason=error)) from error
        yield concept


def write_concepts(concepts: Iterable[Concept], path: str | Path) -> int:
    """Write concepts one by one as scispaCy's knowledge-base JSONL, whole or not at all.

    concepts (Iterable[Concept]): The concepts; a generator is not loaded into memory.
    path (Union[str, Path]): The file; compressed if it ends in `.gz`.
    RETURNS (int): How many were written.
    RAISES (ConnormError): CN108 if the file cannot be written.
    """
    count = 0
    with atomic_file(path) as aside, open_text(aside, "wt") as lines:
        for count, concept in enumerate(concepts, start=1):
            lines.write(json.dumps(concept.to_dict(), ensure_ascii=False) + "\n")
    return count
