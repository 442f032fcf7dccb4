"""Reading a corpus in any format."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc

from ...concepts import Ontology
from ...errors import ConnormError, Errors
from .documents import keep_types, make_doc
from .formats import find_corpus_format
from .report import CorpusReport
from .translation import IdTranslation


def read_corpus(
    path: str | Path,
    *,
    nlp: Language,
    format: str | None = None,
    types: Sequence[str] = (),
    report: CorpusReport | None = None,
    ids_of: Ontology | None = None,
    **options: Any,
) -> Iterator[Doc]:
    """Read an annotated corpus, document by document.

    path (Union[str, Path]): The file, which may be compressed (`.gz`); for BRAT, MCN and ShARe/CLEF
        also a folder of files.
    nlp (Language): Its tokenizer creates the documents.
    format (Optional[str]): One of `FORMATS`; detected from the file name if None.
    types (Sequence[str]): The mention types to keep (for CRAFT, the ontologies); if empty, all
        types that should be linked.
    report (Optional[CorpusReport]): Filled with counts.
    ids_of (Optional[Ontology]): Replace each gold id of another vocabulary by the id of the concept
        that refers to it, if there is exactly one.
    **options (Any): Options of the format, see its reader.
    YIELDS (Doc): The documents, annotated as described in `annotations/mentions.py`.
    RAISES (ConnormError): CN105 for a folder in a format of files, CN200 if the format cannot be
        detected, CN201 if it is unknown, CN202 if it has no such option, CN203 for a corpus without
        documents, and what its reader raises.
    """
    path = Path(path)
    report = report if report is not None else CorpusReport()
    form = find_corpus_format(path, format)
    unknown = [option for option in options if option not in form.options]
    if unknown:
        known = ", ".join(form.options) or "none"
        message = Errors.CN202.format(format=form.name, options=", ".join(unknown), known=known)
        raise ConnormError(message)
    translation = None if ids_of is None else IdTranslation(ids_of)
    for document in form.reader(path, report=report, **options):
        if not document.text:
            report.skipped["documents without text"] += 1
            continue
        report.count_document(document.doc_id, passages=document.passages)
        report.without_mentions += not document.mentions
        kept = keep_types(document, types=types, unlinked=form.unlinked, report=report)
        if translation is not None:
            kept = translation.translate(kept, report.translated)
        yield make_doc(kept, nlp=nlp, report=report)
    if not report.doc_ids:
        raise ConnormError(Errors.CN203.format(path=path, format=form.name))
    report.warn(types=types)
