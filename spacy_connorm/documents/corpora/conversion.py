"""Converting an annotated corpus to spaCy's format."""

from collections.abc import Sequence
from pathlib import Path
from typing import Unpack

import spacy
from spacy.language import Language
from tqdm import tqdm

from ...concepts import Ontology
from ...errors import ConnormError, Errors
from ...files.docbin import write_docs
from ...files.overlap import require_apart
from ..labels import set_label
from .formats import CorpusOptions
from .reading import read_corpus
from .report import CorpusReport


def convert_corpus(
    input_path: str | Path,
    output_path: str | Path,
    *,
    format: str | None = None,
    types: Sequence[str] = (),
    label: str | None = None,
    lang: str = "en",
    ids_of: str | Path | None = None,
    **options: Unpack[CorpusOptions],
) -> CorpusReport:
    """Convert an annotated corpus to a `.spacy` file: `python -m spacy connorm corpus`.

    input_path (Union[str, Path]): The corpus, see `read_corpus`.
    output_path (Union[str, Path]): The `.spacy` file to write.
    format (Optional[str]): One of `FORMATS`; detected from the file name if None.
    types (Sequence[str]): The mention types to keep (for CRAFT, the ontologies); if empty, all
        types that should be linked.
    label (Optional[str]): Write it for all types, so that an NER learns mentions as one kind.
    lang (str): Code of the language whose tokenizer is used.
    ids_of (Optional[Union[str, Path]]): An ontology that `connorm ontology` has written. Each gold
        id of another vocabulary is replaced by the id of the concept that refers to it, if there is
        exactly one; others are kept.
    **options (CorpusOptions): Settings of the format's reader.
    RETURNS (CorpusReport): What was found.
    RAISES (ConnormError): CN121 if the output would replace the input, CN213 for an unknown
        language, and the errors of `Ontology.from_disk`, `read_corpus` and `write_docs`.
    """
    require_apart(output_path, input_path, ids_of)
    report = CorpusReport()
    nlp = _blank(lang)
    ontology = None if ids_of is None else Ontology.from_disk(ids_of)
    docs = read_corpus(
        input_path,
        nlp=nlp,
        format=format,
        types=types,
        report=report,
        ids_of=ontology,
        **options,
    )
    if label is not None:
        docs = (set_label(doc, label) for doc in docs)
    with tqdm(docs, unit=" documents", delay=2, leave=False, disable=None) as bar:
        write_docs(bar, output_path)
    return report


def _blank(lang: str) -> Language:
    try:
        return spacy.blank(lang)
    except ImportError as error:
        raise ConnormError(Errors.CN213.format(lang=lang, reason=error)) from error
