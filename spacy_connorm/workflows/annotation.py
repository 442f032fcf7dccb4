"""Annotating files of texts with a saved pipeline."""

from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from spacy.language import Language
from spacy.tokens import Doc
from spacy.tokens.underscore import Underscore
from spacy.util import minibatch
from tqdm import tqdm

from ..documents.document import ID_FIELD, Document, Mention, read_document
from ..documents.records import Record, make_record
from ..documents.writing import Exporter, find_target
from ..encoders import choose_device
from ..errors import Warnings, require_positive, warn
from ..files.atomic import require_apart
from ..pipeline.concept_normalizer import ConceptNormalizer
from ..pipeline.loading import find_normalizer, load_pipeline
from .pool import map_in_processes, require_processes
from .texts import TEXT_FIELD, read_inputs, speed_up_urls


@dataclass(slots=True)
class AnnotationCounts:
    """What was annotated.

    texts (int): Texts.
    mentions (int): Mentions in them.
    linked (int): Mentions that have a concept.
    without_code (Counter[str]): Linked ones without a code in a vocabulary of `code_systems`, by
        its prefix.
    changes (Counter[str]): What was changed, since the format can't hold it, by what was done.
    """

    texts: int = 0
    mentions: int = 0
    linked: int = 0
    without_code: Counter[str] = field(default_factory=Counter)
    changes: Counter[str] = field(default_factory=Counter)

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

        other (AnnotationCounts): Those of other texts.
        """
        self.texts += other.texts
        self.mentions += other.mentions
        self.linked += other.linked
        self.without_code.update(other.without_code)
        self.changes.update(other.changes)


def _systems_without_code(mention: Mention) -> set[str]:
    """RETURNS (Set[str]): The vocabularies in which a concept of a mention has no code."""
    return {
        system
        for each in mention.candidates
        if each.concept_id in mention.concept_ids
        for system, codes in (each.codes or {}).items()
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
    on_record: Callable[[Record], None] | None = None,
    **options: Any,
) -> AnnotationCounts:
    """Run a pipeline over texts and write what it finds: `python -m spacy connorm annotate`. The
    texts are never all in memory.

    pipeline (Union[str, Path, Language]): An installed package, a pipeline's folder, or a pipeline.
    input_path (Union[str, Path]): A `.txt`, `.jsonl`, `.csv`, `.tsv` or `.spacy` file; see
        `read_inputs`.
    output_path (Union[str, Path]): The file to write, or the folder for BRAT.
    format (Optional[str]): One of `EXPORT_FORMATS`; told by the output's name if None.
    text_field (str): The field of a JSON object, or the column of a table, that holds the text.
    id_field (str): The one that holds the text's id, for formats that have ids; it may be missing
        if it has the default's name.
    batch_size (int): Texts in one batch.
    n_process (int): Processes; -1 for all cores.
    gpu_id (int): The GPU for the pipeline; -1 for the CPU.
    component (Optional[str]): Which concept normalizer's answers to write, if there are several.
    on_record (Optional[Callable[[Dict[str, Any]], None]]): Called with the record of each text.
    **options (Any): Options of the format, see its exporter.
    RETURNS (AnnotationCounts): Texts, mentions and linked mentions.
    RAISES (ConnormError): CN006 for no process or an empty batch, CN105 or CN108 if the file cannot
        be written, CN121 if it would replace the input, CN700 to CN704 as `load_normalizer`, CN708
        for another ending, CN713 if the GPU cannot be used, CN716 if a worker process dies, CN717
        if it fails, CN719 if it can't start, and the errors of `find_target` and `read_inputs`.
    WARNS (ConnormWarning): CNW701 if the pipeline finds no mention at all, CNW770 for what was
        changed, since the format can't hold it.
    """
    target = find_target(output_path, format, options)
    require_processes(n_process)
    require_positive("batch_size", batch_size)
    require_apart(output_path, input_path)
    choose_device(gpu_id)
    nlp = load_pipeline(pipeline)
    speed_up_urls(nlp)
    normalizer = find_normalizer(nlp, component=component)
    annotator = _Annotator(
        nlp,
        normalizer,
        batch_size=batch_size,
        exporter=target.exporter,
        id_field=id_field,
        with_records=on_record is not None,
        extensions=Underscore.get_state(),
    )
    needed = _needed_fields(id_field, options)
    docs = read_inputs(input_path, nlp, text_field=text_field, needed_fields=needed)
    annotated = annotator.run(docs, n_process)
    counts = AnnotationCounts()
    hidden = True if on_record else None
    with (
        closing(annotated),
        tqdm(annotated, unit=" texts", delay=2, leave=False, disable=hidden) as bar,
    ):
        counted = _counted(bar, counts, on_record)
        target.write((each.rendered for each in counted), counts.changes)
    if counts.texts and not counts.mentions:
        warn(Warnings.CNW701.format(count=counts.texts, component=normalizer.name))
    target.warn_of(counts.changes)
    return counts


def _needed_fields(id_field: str, options: Mapping[str, Any]) -> list[str]:
    """RETURNS (List[str]): The fields that somebody has named; those by default may be missing."""
    named = ("" if id_field == ID_FIELD else id_field, options.get("subject_field"))
    return [each for each in named if each]


def to_record(doc: Doc, normalizer: ConceptNormalizer) -> Record:
    """Turn an annotated document into JSON.

    doc (Doc): The document.
    normalizer (ConceptNormalizer): Whose answers to take.
    RETURNS (Dict[str, Any]): "text", "ents" with "start", "end" (characters), "text", "label",
        "kb_id" and "candidates", and the fields that came with the text. Spans that the normalizer
        skips for their label are included.
    """
    return make_record(read_annotations(doc, normalizer, 1, ID_FIELD))


def read_annotations(
    doc: Doc, normalizer: ConceptNormalizer, number: int, id_field: str
) -> Document:
    """Read what a concept normalizer wrote on a document.

    doc (Doc): The document.
    normalizer (ConceptNormalizer): Whose answers to take.
    number (int): The document's number, from 1: its id, if it has no other.
    id_field (str): The field of its JSON that may hold its id.
    RETURNS (Document): Its text, mentions and fields.
    """
    return read_document(
        doc,
        number,
        spans_key=normalizer.cfg["spans_key"],
        attribute_prefix=normalizer.cfg["attribute_prefix"],
        id_field=id_field,
    )


class _Annotated(NamedTuple):
    """What is written of a text."""

    counts: AnnotationCounts
    rendered: Any  # what the exporter makes of it
    record: Record | None


@dataclass(frozen=True, slots=True)
class _Annotator:
    """Annotates documents in this process, or in others, which get a copy of it."""

    nlp: Language
    normalizer: ConceptNormalizer
    batch_size: int
    exporter: Exporter
    id_field: str
    with_records: bool
    extensions: Any

    def run(self, docs: Iterable[Doc], processes: int) -> Generator[_Annotated, None, None]:
        if processes == 1:
            yield from self._annotate(docs, first=1)
            return
        numbered = enumerate(minibatch(docs, self.batch_size))
        batches = (
            (1 + number * self.batch_size, [doc.to_bytes() for doc in each])
            for number, each in numbered
        )
        with closing(map_in_processes(self.work, batches, processes=processes)) as results:
            for each in chain.from_iterable(results):
                yield self._unpacked(each)

    def work(self, batch: tuple[int, Sequence[bytes]]) -> list[_Annotated]:
        """Annotate a batch in a worker."""
        Underscore.load_state(self.extensions)  # a spawned process has none
        first, contents = batch
        docs = (Doc(self.nlp.vocab).from_bytes(each) for each in contents)
        return [_packed(each) for each in self._annotate(docs, first)]

    def _annotate(self, docs: Iterable[Doc], first: int) -> Iterator[_Annotated]:
        annotated = self.nlp.pipe(docs, batch_size=self.batch_size)
        for number, doc in enumerate(annotated, start=first):
            document = read_annotations(doc, self.normalizer, number, self.id_field)
            counts = AnnotationCounts()
            counts.add(document)
            rendered = self.exporter.render(document, counts.changes)
            record = make_record(document) if self.with_records else None
            yield _Annotated(counts, rendered, record)

    def _unpacked(self, annotated: _Annotated) -> _Annotated:
        if not isinstance(annotated.rendered, _PackedDoc):
            return annotated
        doc = Doc(self.nlp.vocab).from_bytes(annotated.rendered.content)
        return annotated._replace(rendered=doc)


class _PackedDoc(NamedTuple):
    """A document on its way from a worker: a vocabulary goes with each Doc."""

    content: bytes


def _packed(annotated: _Annotated) -> _Annotated:
    if not isinstance(annotated.rendered, Doc):
        return annotated
    return annotated._replace(rendered=_PackedDoc(annotated.rendered.to_bytes()))


def _counted(
    annotated: Iterable[_Annotated],
    counts: AnnotationCounts,
    on_record: Callable[[Record], None] | None,
) -> Iterator[_Annotated]:
    for each in annotated:
        counts.update(each.counts)
        if on_record is not None and each.record is not None:
            on_record(each.record)
        yield each
