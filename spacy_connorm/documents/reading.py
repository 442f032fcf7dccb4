"""Read an annotated corpus in any format, and convert it to spaCy's."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import spacy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from ..concepts import Ontology
from ..concepts.curies import PREFIXES
from ..errors import Errors, require_options
from ..files.atomic import require_apart
from ..files.odd_lines import MAX_ODD, OddLines
from ..files.progress import progress_bar
from .docbin import write_docs
from .document import (
    AMBIGUOUS,
    KNOWN,
    TRANSLATED,
    UNKNOWN,
    CorpusReport,
    Document,
    keep_types,
    make_doc,
)
from .formats import find_corpus_format
from .mentions import Mention, set_label, split_ids

_SEPARATORS = re.compile(r"([|+])")


def read_corpus(
    path: str | Path,
    *,
    nlp: Language,
    format: str | None = None,
    types: Sequence[str] = (),
    report: CorpusReport | None = None,
    ids_of: Ontology | None = None,
    max_odd: float = MAX_ODD,
    **options: Any,
) -> Iterator[Doc]:
    """Read an annotated corpus, document by document.

    path (Union[str, Path]): The file, which may be compressed (`.gz`); for BRAT,
        also a folder of files.
    nlp (Language): Its tokenizer creates the documents.
    format (Optional[str]): One of `CORPUS_FORMATS`; detected from the file name if None.
    types (Sequence[str]): The mention types to keep; if empty, all types that should be
        linked.
    report (Optional[CorpusReport]): Filled with counts.
    ids_of (Optional[Ontology]): Replace each gold id from another vocabulary by the id of the
        concept that refers to it, if there is exactly one.
    max_odd (float): The largest share of lines that may be skipped since they can't be read.
    **options (Any): Options of the format; see its reader.
    YIELDS (Doc): The documents, annotated as described in `documents/mentions.py`.
    RAISES (ConnormError): CN105 for a folder in a format of files, CN111 if the format cannot be
        detected, CN118 if it is unknown, CN113 if it has no such option, CN104 for a corpus without
        documents, the error of the first line that can't be read if there are too many, and the
        errors of its reader.
    """
    path = Path(path)
    report = report if report is not None else CorpusReport()
    report.odd = OddLines(max_odd)
    form = find_corpus_format(path, format)
    require_options(form.name, form.read, options)
    translation = None if ids_of is None else IdTranslation(ids_of)
    for document in form.read(path, report=report, **options):
        if not document.text:
            report.skipped["documents without text"] += 1
            continue
        report.count_document(document.doc_id, passages=document.passages)
        report.without_mentions += not document.mentions
        chosen = keep_types(document, types=types, unlinked=form.unlinked, report=report)
        if translation is not None:
            chosen = translation.translate(chosen, report.translated)
        yield make_doc(chosen, nlp=nlp, report=report)
    report.odd.require_few()
    if not report.doc_ids:
        raise Errors.CN104(path=path, what=f"documents in the format `{form.name}`")
    report.warn(path, types=types)


def convert_corpus(
    input_path: str | Path,
    output_path: str | Path,
    *,
    format: str | None = None,
    types: Sequence[str] = (),
    label: str | None = None,
    lang: str = "en",
    ids_of: str | Path | None = None,
    max_odd: float = MAX_ODD,
    **options: Any,
) -> CorpusReport:
    """Convert an annotated corpus to a `.spacy` file: `connorm corpus`.

    input_path (Union[str, Path]): The corpus: a file, which may be gzipped, or a folder. See
        `read_corpus`.
    output_path (Union[str, Path]): A .spacy file.
    format (Optional[str]): One of `CORPUS_FORMATS`; detected from the file name if None.
    types (Sequence[str]): Keep only mentions of these types. If empty, all types that should be
        linked.
    label (Optional[str]): A single label for all mentions, for training an NER.
    lang (str): The language, for its tokenizer.
    ids_of (Optional[Union[str, Path]]): Replace ids from another vocabulary by those of the
        concepts in this ontology that refer to them, such as MeSH's by MONDO's. The file must be
        written by `connorm ontology`. An id that no concept, or more than one, refers to is kept.
    max_odd (float): The largest share of lines that may be skipped since they can't be read, 0 to
        1. With 0, the first one is an error.
    **options (Any): Options of the format; see its reader.
    RETURNS (CorpusReport): Counts of the corpus.
    RAISES (ConnormError): CN121 if the output would replace the input, CN213 for an unknown
        language, and the errors of `Ontology.from_disk`, `read_corpus` and `write_docs`.
    """
    require_apart(output_path, input_path, ids_of)
    report = CorpusReport()
    docs = read_corpus(
        input_path,
        nlp=blank_pipeline(lang),
        format=format,
        types=types,
        report=report,
        ids_of=None if ids_of is None else Ontology.from_disk(ids_of),
        max_odd=max_odd,
        **options,
    )
    if label is not None:
        docs = (set_label(doc, label) for doc in docs)
    with progress_bar(docs, unit="documents") as bar:
        write_docs(bar, output_path)
    return report


def blank_pipeline(lang: str) -> Language:
    """Create a pipeline that only has the tokenizer of a language.

    lang (str): The language, e.g. "en".
    RETURNS (Language): The pipeline.
    RAISES (ConnormError): CN213 for an unknown language.
    """
    with Errors.CN213.instead_of(ImportError, lang=lang):
        return spacy.blank(lang)


def create_pubtator_reader(
    path: Path, types: Sequence[str] = ()
) -> Callable[[Language], Iterator[Example]]:
    """Create a reader that uses a PubTator file as a training corpus without converting it first,
    `spacy-connorm.PubTatorCorpus.v1`.

    path (Path): The file.
    types (Sequence[str]): The mention types to keep; if empty, all that should be linked.
    RETURNS (Callable[[Language], Iterator[Example]]): Called with a pipeline, yields examples with
        the plain text as predicted document and the annotated document as reference.
    """

    def read_examples(nlp: Language) -> Iterator[Example]:
        for reference in read_corpus(path, nlp=nlp, format="pubtator", types=types):
            yield Example(nlp.make_doc(reference.text), reference)

    return read_examples


class IdTranslation:
    """Replaces gold ids from another vocabulary by those of an ontology that refers to them."""

    def __init__(self, ontology: Ontology) -> None:
        """Collect the cross-references of an ontology.

        ontology (Ontology): An ontology whose concepts refer to the ids of the corpus (`xrefs`).
        """
        self._ontology = ontology
        self._owners = defaultdict[str, list[str]](list)
        for concept in ontology:
            for curie in PREFIXES.curies(concept.xrefs):
                self._owners[curie].append(concept.concept_id)

    def translate(self, document: Document, counts: Counter[str]) -> Document:
        """Replace the ids of a document's mentions.

        document (Document): The document.
        counts (Counter[str]): Counts what happened to each id, per mention.
        RETURNS (Document): The document with the ontology's ids, where exactly one concept refers
            to an id.
        """
        mentions = tuple(self._translated(mention, counts) for mention in document.mentions)
        return replace(document, mentions=mentions)

    def _translated(self, mention: Mention, counts: Counter[str]) -> Mention:
        parts = _SEPARATORS.split(mention.kb_id)
        for place in range(0, len(parts), 2):
            if split_ids(parts[place]):
                parts[place], outcome = self._look_up(parts[place])
                counts[outcome] += 1
        return mention._replace(kb_id="".join(parts))

    def _look_up(self, concept_id: str) -> tuple[str, str]:
        """Look up an id.

        RETURNS (Tuple[str, str]): The id to write, and what happened to the given one.
        """
        if concept_id in self._ontology:
            return self._ontology.primary_id(concept_id), KNOWN
        owners = self._owners.get(PREFIXES.own_curie(concept_id), [])
        if len(owners) == 1:
            return owners[0], TRANSLATED
        return concept_id, AMBIGUOUS if owners else UNKNOWN
