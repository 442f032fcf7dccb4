"""What every format offers."""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Protocol

from .documents import ExportedDocument


class Exporter(Protocol):
    """Writes one format. The settings of a format are the fields of its exporter.

    A document is rendered where it was annotated, perhaps in another process. What was rendered is
    written as it comes, so that no more than a few documents are in memory.

    The exporter of a format that is a folder of files also has `is_ours(path: Path) -> bool`:
    whether it wrote this folder, which may then be replaced.
    """

    def render(self, document: ExportedDocument, changes: Counter[str]) -> Any:
        """Turn a document into what is written of it.

        document (ExportedDocument): The document.
        changes (Counter[str]): Counts what the format can't hold as it is, by what was done.
        RETURNS (Any): Plain data, or a Doc.
        """

    def write(self, rendered: Iterable[Any], path: Path, changes: Counter[str]) -> None:
        """Write documents.

        rendered (Iterable[Any]): What `render` returned for each, in order.
        path (Path): A file that may be overwritten, or an empty folder.
        changes (Counter[str]): Counts what can't be held as it is beside the other documents.
        """
