"""Converting an annotated corpus to spaCy's format."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import spacy
from spacy.language import Language
from tqdm import tqdm

from ...concepts import Ontology
from ...errors import ConnormError, Errors
from ...files.docbin import write_docs
from ...files.overlap import require_apart
from ..labels import set_label
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
    **options: Any,
) -> CorpusReport:
    """Convert an annotated corpus to a `.spacy` file: `python -m spacy connorm corpus`.

    input_path (Union[str, Path]): The corpus, which may be gzipped, see `read_corpus`.
    output_path (Union[str, Path]): A .spacy file.
    format (Optional[str]): One of `FORMATS`; detected from the file name if None.
    types (Sequence[str]): Keep only mentions of these types (for CRAFT, of these ontologies). If
        empty, all types that should be linked.
    label (Optional[str]): One label for all mentions, to train an NER on.
    lang (str): The language, for its tokenizer.
    ids_of (Optional[Union[str, Path]]): Replace ids of another vocabulary by those of the concepts
        of this ontology that refer to them, such as MeSH's by MONDO's. As `connorm ontology` writes
        it. Ids that no or several concepts refer to are kept.
    **options (Any): Options of the format, see its reader.
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
