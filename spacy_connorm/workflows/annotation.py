"""Annotate files of texts with a saved pipeline."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc
from spacy.tokens.underscore import Underscore
from spacy.util import minibatch

from ..documents.document import (
    DOC_ID_KEY,
    ID_FIELD,
    Document,
    Mention,
    contents,
    read_document,
    set_other_fields,
)
from ..documents.mentions import ALL_MENTIONS_KEY
from ..documents.records import Record, make_record
from ..documents.writing import Exporter, find_target, render
from ..encoders import choose_device
from ..errors import Errors, Warnings, require_path, require_range
from ..files.atomic import require_apart
from ..files.progress import progress_bar
from ..pipeline.concept_normalizer import ConceptNormalizer
from ..pipeline.loading import find_normalizer, load_pipeline
from ..pipeline.mention_finder import find_nested_mentions
from ..pipeline.tokenization import speed_up_urls
from .pool import map_batches, require_processes
from .texts import TEXT_FIELD, InputText, read_inputs

_FILE = "a file or folder (for texts in Python: `export_docs(nlp.pipe(texts), output_path)`)"


@dataclass(slots=True)
class AnnotationCounts:
    """Counts of what was annotated.

    texts (int): Texts.
    mentions (int): Mentions in them.
    linked (int): Mentions that have a concept.
    without_code (Counter[str]): Linked mentions without a code in a vocabulary of `code_systems`,
        by its prefix.
    changes (Counter[str]): Changes made because the format can't hold something, by kind.
    contents (Counter[str]): Texts with something that some formats have no place for, by kind.
    failed (int): Texts that failed.
    first_failed (str): The id of the first text that failed; empty if there is none.
    first_error (str): The reason.
    """

    texts: int = 0
    mentions: int = 0
    linked: int = 0
    without_code: Counter[str] = field(default_factory=Counter)
    changes: Counter[str] = field(default_factory=Counter)
    contents: Counter[str] = field(default_factory=Counter, compare=False)
    failed: int = 0
    first_failed: str = ""
    first_error: str = ""

    def add(self, document: Document) -> None:
        """Count a text.

        document (Document): The text and its mentions.
        """
        self.texts += 1
        self.mentions += len(document.mentions)
        for mention in document.mentions:
            self.linked += bool(mention.concept_ids)
            self.without_code.update(_systems_without_code(mention))

    def update(self, other: "AnnotationCounts") -> None:
        """Add other counts.

        other (AnnotationCounts): The counts of later texts.
        """
        if not self.failed:
            self.first_failed, self.first_error = other.first_failed, other.first_error
        self.texts += other.texts
        self.mentions += other.mentions
        self.linked += other.linked
        self.without_code.update(other.without_code)
        self.changes += other.changes  # without zeros
        self.contents.update(other.contents)
        self.failed += other.failed


def _systems_without_code(mention: Mention) -> set[str]:
    """List the vocabularies in which a concept of a mention has no code."""
    return {
        system
        for candidate in mention.candidates
        if candidate.concept_id in mention.concept_ids
        for system, codes in (candidate.codes or {}).items()
        if not codes
    }


def annotate(
    pipeline: str | Path | Language,
    input_path: str | Path,
    output_path: str | Path,
    *,
    format: str | None = None,
    text_field: str = TEXT_FIELD,
    id_field: str = ID_FIELD,
    batch_size: int = 128,
    n_process: int = 1,
    gpu_id: int = -1,
    component: str | None = None,
    nested_mentions: bool = False,
    **options: Any,
) -> AnnotationCounts:
    """Run a pipeline over texts and write the mentions that it finds: `connorm annotate`.
    The texts are never all in memory.

    pipeline (Union[str, Path, Language]): An installed package, or a pipeline's folder.
        Or a pipeline.
    input_path (Union[str, Path]): A `.txt`, `.jsonl`, `.csv`, `.tsv` or `.spacy` file, or a folder
        of `.txt` files; see `read_inputs`.
    output_path (Union[str, Path]): The file to write, or the folder for BRAT.
    format (Optional[str]): One of `EXPORT_FORMATS`; detected from the output's name if None.
    text_field (str): The field of a JSON object, or the column of a table, with the text.
    id_field (str): The field or column with the text's id, for formats that have ids; it may be
        missing if it has the default name.
    batch_size (int): Texts in one batch.
    n_process (int): Processes; -1 for all cores.
    gpu_id (int): The GPU for the pipeline; -1 for the CPU.
    component (Optional[str]): The concept normalizer to use, if there are several.
    nested_mentions (bool): Whether to write also the mentions inside longer ones that
        `mention_finder` finds.
    **options (Any): Options of the format; see its exporter.
    RETURNS (AnnotationCounts): Texts, mentions and linked mentions.
    RAISES (ConnormError): CN006 for texts instead of a path, no process or an empty batch, CN105 or
        CN108 if the file cannot be written, CN121 if it would replace the input, CN700 to CN704 as
        for `load_normalizer`, CN708 for another extension, CN713 if the GPU cannot be used, CN716
        if a worker process dies, CN717 if it fails, CN719 if it can't start, and the errors of
        `find_target` and `read_inputs`.
    WARNS (ConnormWarning): CNW701 if the pipeline finds no mentions at all, CNW770 for changes made
        because the format can't hold something.
    """
    require_path("input_path", input_path, _FILE)
    target = find_target(output_path, format, options)
    require_processes(n_process)
    require_range(least=1, batch_size=batch_size)
    require_apart(output_path, input_path)
    annotator = Annotator(
        pipeline,
        id_field=id_field,
        batch_size=batch_size,
        gpu_id=gpu_id,
        component=component,
        nested_mentions=nested_mentions,
    )
    _, normalizer = annotator.load()
    exporter: Any = target.exporter
    vocabulary = normalizer.lookup.index.store.own_vocabulary
    if vocabulary and hasattr(exporter, "database") and not options.get("database"):
        exporter = replace(exporter, database=vocabulary)
    work = partial(_render, annotator, exporter)
    # Fields with default names may be missing, those that the user has named may not.
    named = ("" if id_field == ID_FIELD else id_field, options.get("subject_field"))
    needed = list(filter(None, named))
    texts = read_inputs(input_path, text_field=text_field, needed_fields=needed)
    batches = enumerate(minibatch(texts, batch_size))
    numbered = ((1 + number * batch_size, batch) for number, batch in batches)
    counts = AnnotationCounts()
    with (
        closing(map_batches(work, numbered, processes=n_process)) as rendered,
        progress_bar(unit="texts") as bar,
    ):

        def counted() -> Iterator[Any]:
            for batch_counts, batch in rendered:
                counts.update(batch_counts)
                bar.update(batch_counts.texts)
                yield from batch

        target.write(counted(), counts.changes)
    if counts.texts and not counts.mentions:
        Warnings.CNW701.warn(count=counts.texts)
    target.warn_of(counts.changes)
    return counts


def to_record(doc: Doc, normalizer: ConceptNormalizer) -> Record:
    """Convert an annotated document to JSON.

    doc (Doc): The document.
    normalizer (ConceptNormalizer): The concept normalizer to use.
    RETURNS (Dict[str, Any]): "text", "ents" with "start", "end" (characters), "text", "label",
        "kb_id" and "candidates", and the fields that came with the text. Spans that the normalizer
        skips because of their label are included.
    """
    return make_record(_read(doc, 1, normalizer, normalizer.cfg["spans_key"], ID_FIELD))


def _read(
    doc: Doc, number: int, normalizer: ConceptNormalizer, spans_key: str | None, id_field: str
) -> Document:
    prefix = normalizer.cfg["attribute_prefix"]
    return read_document(
        doc, number, spans_key=spans_key, attribute_prefix=prefix, id_field=id_field
    )


@dataclass(kw_only=True)
class Annotator:
    """Converts texts to documents and annotates them with a pipeline, which each process loads
    once: a copy sent to another process does not contain what was loaded from files.

    pipeline (Union[str, Path, Language]): An installed package, or a pipeline's folder.
        Or a pipeline.
        It is not loaded yet.
    id_field (str): The field of a text that may hold its id.
    batch_size (int): Texts that the pipeline processes together.
    gpu_id (int): The GPU for the pipeline; -1 for the CPU.
    component (Optional[str]): The concept normalizer to use, if there are several.
    nested_mentions (bool): Whether to read the mentions inside longer ones, too.
    """

    pipeline: str | Path | Language = field(kw_only=False)
    id_field: str = ID_FIELD
    batch_size: int = 128
    gpu_id: int = -1
    component: str | None = None
    nested_mentions: bool = False
    _loaded: tuple[Language, ConceptNormalizer] | None = field(default=None, init=False)

    def __getstate__(self) -> dict[str, Any]:
        # A spawned process has only the span attributes that loading a pipeline registers.
        is_loaded = isinstance(self.pipeline, Language)
        extensions = Underscore.get_state() if is_loaded else None
        return {**self.__dict__, "_loaded": None, "_extensions": extensions}

    def __setstate__(self, state: dict[str, Any]) -> None:
        extensions = state.pop("_extensions")
        if extensions:
            Underscore.load_state(extensions)
        self.__dict__ = state

    def load(self) -> tuple[Language, ConceptNormalizer]:
        """Load the pipeline, unless this process has already done so.

        RETURNS (Tuple[Language, ConceptNormalizer]): The pipeline and its normalizer.
        RAISES (ConnormError): CN713 if the GPU cannot be used, and the errors of `load_pipeline`,
            `find_normalizer` and `find_nested_mentions`.
        """
        if self._loaded is None:
            choose_device(self.gpu_id)
            nlp = load_pipeline(self.pipeline)
            speed_up_urls(nlp)
            normalizer = find_normalizer(nlp, component=self.component)
            if self.nested_mentions:
                find_nested_mentions(nlp, normalizer)
            self._loaded = nlp, normalizer
        return self._loaded

    def make_doc(self, text: InputText) -> Doc:
        """Create the document of a text, with its other fields and its id.

        text (InputText): The text.
        RETURNS (Doc): The document.
        RAISES (ConnormError): CN709 for a text longer than the pipeline allows.
        """
        nlp, _ = self.load()
        if text.content:
            return Doc(nlp.vocab).from_bytes(text.content)
        content = text.text or ""
        if len(content) > nlp.max_length:
            raise Errors.CN709(place=text.place, length=len(content), limit=nlp.max_length)
        doc = nlp.make_doc(content)
        set_other_fields(doc, text.fields)
        if text.doc_id:
            doc.user_data[DOC_ID_KEY] = text.doc_id
        return doc

    def read(self, docs: Iterable[tuple[Doc, int]]) -> Iterator[Document]:
        """Run the pipeline.

        docs (Iterable[Tuple[Doc, int]]): Documents with their numbers.
        YIELDS (Document): The annotations of each document that the pipeline returns.
        """
        nlp, normalizer = self.load()
        spans_key = ALL_MENTIONS_KEY if self.nested_mentions else normalizer.cfg["spans_key"]
        for doc, number in nlp.pipe(docs, as_tuples=True, batch_size=self.batch_size):
            yield _read(doc, number, normalizer, spans_key, self.id_field)


def _render(
    annotator: Annotator, exporter: Exporter, numbered: tuple[int, Sequence[InputText]]
) -> tuple[AnnotationCounts, list[Any]]:
    """Annotate a batch of texts, given the number of its first text, in any process."""
    first, texts = numbered
    counts, rendered = AnnotationCounts(), []
    known = {annotator.id_field, getattr(exporter, "subject_field", annotator.id_field)}
    docs = ((annotator.make_doc(text), number) for number, text in enumerate(texts, start=first))
    for document in annotator.read(docs):
        counts.add(document)
        counts.contents.update(contents(document, known))
        rendered.append(render(exporter, document, counts.changes))
    return counts, rendered
