"""spaCy's own format, `.spacy`: documents with all that they carry. They are written at the end, so
all of them are in memory, compressed."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from spacy.tokens import Doc, DocBin

from .document import Document


@dataclass(frozen=True, slots=True)
class DocBinExporter:
    """Writes documents for `spacy.Corpus.v1`."""

    def render(self, document: Document, changes: Counter[str]) -> Doc | None:
        return document.doc

    def write(self, rendered: Iterable[Doc], path: Path, changes: Counter[str]) -> None:
        DocBin(docs=rendered, store_user_data=True).to_disk(path)
