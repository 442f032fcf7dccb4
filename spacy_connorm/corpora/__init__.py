"""Readers of annotated corpora, one file per format; they yield spaCy documents."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc

from ..errors import ConnormError, Errors
from .documents import Document, keep_types, make_doc, write_docs
from .report import Report

__all__ = ["FORMATS", "Report", "read_corpus", "write_docs"]


@dataclass(frozen=True, slots=True)
class CorpusFormat:
    """A corpus format; its reader is the function `read_NAME_corpus` of the module `NAME`.

    name (str): The format's name.
    suffixes (Tuple[str, ...]): Suffixes of its files, lower-cased.
    options (Tuple[str, ...]): Settings of its reader.
    unlinked (Tuple[str, ...]): Mention types that are kept only on request.
    """

    name: str
    suffixes: tuple[str, ...]
    options: tuple[str, ...] = ()
    unlinked: tuple[str, ...] = ()

    @property
    def reader(self) -> Callable[..., Iterator[Document]]:
        """RETURNS (Callable[..., Iterator[Document]]): The reader, imported on demand."""
        module = import_module(f".{self.name}", __name__)
        return getattr(module, f"read_{self.name}_corpus")


FORMATS = {
    form.name: form
    for form in (
        CorpusFormat(
            name="pubtator",
            suffixes=(".pubtator", ".txt"),
            unlinked=("OTHER", "NonStandardRef"),  # of NLM-Chem
        ),
        CorpusFormat(name="craft", suffixes=(".jsonl",)),
        CorpusFormat(name="tsv", suffixes=(".tsv",), options=("columns", "header")),
    )
}


def read_corpus(
    path: str | Path,
    *,
    nlp: Language,
    format: str | None = None,
    types: Sequence[str] = (),
    report: Report | None = None,
    **options: Any,
) -> Iterator[Doc]:
    """Read an annotated corpus, document by document.

    path (Union[str, Path]): The file; may be compressed (`.gz`).
    nlp (Language): Its tokenizer creates the documents.
    format (Optional[str]): One of `FORMATS`; detected from the file name if None.
    types (Sequence[str]): The mention types to keep (for CRAFT, the ontologies); if empty, all
        types that should be linked.
    report (Optional[Report]): Filled with counts.
    **options: Settings of the format's reader.
    YIELDS (Doc): The documents, annotated as described in `annotations/mentions.py`.
    RAISES (ConnormError): CN105 for a folder, CN200 if the format cannot be detected, CN201 if it
        is unknown, CN202 if it has no such option, CN203 for a corpus without documents, and what
        its reader raises.
    """
    path = Path(path)
    report = report if report is not None else Report()
    form = _format(path, format)
    unknown = [option for option in options if option not in form.options]
    if unknown:
        raise ConnormError(Errors.CN202.format(format=form.name, options=", ".join(unknown)))
    for document in form.reader(path, report=report, **options):
        if not document.text:
            report.skipped["documents without text"] += 1
            continue
        report.count_document(document.doc_id, passages=document.passages)
        report.without_mentions += not document.mentions
        kept = keep_types(document, types=types, unlinked=form.unlinked, report=report)
        yield make_doc(kept, nlp=nlp, report=report)
    if not report.doc_ids:
        raise ConnormError(Errors.CN203.format(path=path, format=form.name))
    report.warn(types=types)


def _format(path: Path, name: str | None) -> CorpusFormat:
    known = ", ".join(FORMATS)
    if name is not None:
        if name not in FORMATS:
            raise ConnormError(Errors.CN201.format(format=name, known=known))
        return FORMATS[name]
    suffixes = {suffix.lower() for suffix in path.suffixes}
    for form in FORMATS.values():
        if suffixes.intersection(form.suffixes):
            return form
    if path.is_dir():
        raise ConnormError(Errors.CN105.format(path=path))
    raise ConnormError(Errors.CN200.format(path=path, known=known))
