"""scispaCy's knowledge-base JSONL, which is also our own format."""

from collections.abc import Iterator
from pathlib import Path

from ..concepts import Concept, read_concepts
from ..files.licence import read_licence
from .report import ReadReport


def read_jsonl(path: str | Path, *, report: ReadReport | None = None) -> Iterator[Concept]:
    """Read a knowledge base with one JSON object per line.

    path (Union[str, Path]): A `.jsonl` or `.jsonl.gz` file.
    report (Optional[ReadReport]): Filled with the licence stored beside the file.
    YIELDS (Concept): The concepts, in the file's order.
    RAISES (ConnormError): CN103 for a line that is not a concept, and what `read_lines` raises.
    """
    if report is not None:
        report.licence = read_licence(path)
    yield from read_concepts(path)
