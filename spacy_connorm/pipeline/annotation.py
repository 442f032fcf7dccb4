"""Annotating files of texts with a saved pipeline."""

import json
import os
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from spacy.language import Language
from spacy.tokens import Doc
from spacy.tokens.underscore import Underscore
from spacy.util import minibatch
from tqdm import tqdm

from ..annotations.spans import choose_spans
from ..concepts import NIL
from ..encoders.devices import choose_device
from ..errors import ConnormError, Errors, Warnings, refuse, warn
from ..files.atomic import atomic_file
from ..files.docbin import write_docs
from ..files.overlap import require_apart
from ..files.text import open_text
from .concept_normalizer import ConceptNormalizer
from .inputs import other_fields, read_inputs
from .loading import find_normalizer, load_pipeline
from .worker_pool import map_in_processes

_JSONL, _SPACY = ".jsonl", ".spacy"
Record = dict[str, Any]


@dataclass(slots=True)
class AnnotationCounts:
    """What was annotated.

    texts (int): Texts.
    mentions (int): Mentions in them.
    linked (int): Mentions that have a concept.
    """

    texts: int = 0
    mentions: int = 0
    linked: int = 0

    def add(self, record: Record) -> None:
        """Count a text.

        record (Dict[str, Any]): From `to_record`.
        """
        self.texts += 1
        self.mentions += len(record["ents"])
        self.linked += sum(ent["kb_id"] not in ("", NIL) for ent in record["ents"])

    def update(self, other: "AnnotationCounts") -> None:
        """Add other counts.

        other (AnnotationCounts): Those of other texts.
        """
        self.texts += other.texts
        self.mentions += other.mentions
        self.linked += other.linked


def annotate(
    pipeline: str | Path | Language,
    input_path: str | Path,
    output_path: str | Path,
    *,
    batch_size: int = 128,
    n_process: int = 1,
    gpu_id: int = -1,
    component: str | None = None,
    on_record: Callable[[Record], None] | None = None,
) -> AnnotationCounts:
    """Run a pipeline over texts and write what it finds: `python -m spacy connorm annotate`. The
    texts are never all in memory.

    pipeline (Union[str, Path, Language]): An installed package, a pipeline's folder, or a pipeline.
    input_path (Union[str, Path]): A `.txt`, `.jsonl`, `.jsonl.gz` or `.spacy` file; see
        `read_inputs`.
    output_path (Union[str, Path]): A `.jsonl` file with the records of `to_record`, or a `.spacy`
        file.
    batch_size (int): Texts in one batch.
    n_process (int): Processes; -1 for all cores.
    gpu_id (int): The GPU for the pipeline; -1 for the CPU.
    component (Optional[str]): Which concept normalizer's answers to write, if there are several.
    on_record (Optional[Callable[[Dict[str, Any]], None]]): Called with the record of each text.
    RETURNS (AnnotationCounts): Texts, mentions and linked mentions.
    RAISES (ConnormError): CN006 for no process, CN105 or CN108 if the file cannot be written, CN121
        if it would replace the input, CN700 to CN704 as `load_normalizer`, CN708 for another
        suffix, CN713 if the GPU cannot be used, CN716 if a worker process dies, CN717 if it fails,
        and the errors of `read_inputs`.
    WARNS (ConnormWarning): CNW701 if the pipeline finds no mention at all.
    """
    output_path = Path(output_path)
    if output_path.suffix not in (_JSONL, _SPACY):
        known = f"{_JSONL} or {_SPACY}"
        raise ConnormError(Errors.CN708.format(action="write", path=output_path, known=known))
    if n_process == 0:
        refuse("n_process", n_process, "at least 1, or -1 for all cores")
    require_apart(output_path, input_path)
    choose_device(gpu_id)
    nlp = load_pipeline(pipeline)
    normalizer = find_normalizer(nlp, component=component)
    writes_docs = output_path.suffix == _SPACY
    annotator = _Annotator(
        nlp,
        normalizer,
        batch_size=batch_size,
        with_lines=not writes_docs,
        with_records=on_record is not None,
        with_docs=writes_docs,
        extensions=Underscore.get_state(),
    )
    annotated = annotator.run(read_inputs(input_path, nlp), n_process)
    counts = AnnotationCounts()
    hidden = True if on_record else None
    with (
        closing(annotated),
        tqdm(annotated, unit=" texts", delay=2, leave=False, disable=hidden) as bar,
    ):
        counted = _counted(bar, counts, on_record)
        if writes_docs:
            write_docs((each.doc for each in counted), output_path)
        else:
            _write_lines((each.line for each in counted), output_path)
    if counts.texts and not counts.mentions:
        warn(Warnings.CNW701.format(count=counts.texts, component=normalizer.name))
    return counts


def to_record(doc: Doc, normalizer: ConceptNormalizer) -> Record:
    """Turn an annotated document into JSON.

    doc (Doc): The document.
    normalizer (ConceptNormalizer): Whose answers to take.
    RETURNS (Dict[str, Any]): "text", "ents" with "start", "end" (characters), "text", "label",
        "kb_id" and "candidates", and the fields that came with the text. Spans that the normalizer
        skips for their label are included.
    """
    prefix = normalizer.cfg["attribute_prefix"]
    ents = [
        {
            "start": span.start_char,
            "end": span.end_char,
            "text": span.text,
            "label": span.label_,
            "kb_id": span._.get(f"{prefix}kb_id"),
            "candidates": [each._asdict() for each in span._.get(f"{prefix}candidates")],
        }
        for span in choose_spans(doc, spans_key=normalizer.cfg["spans_key"], labels=None)
    ]
    return {**other_fields(doc), "text": doc.text, "ents": ents}


class _Annotated(NamedTuple):
    """What is written of a text."""

    counts: AnnotationCounts
    line: str
    record: Record | None
    doc: Any  # a Doc; its bytes on the way from a worker; None if none is written


@dataclass(frozen=True, slots=True)
class _Annotator:
    """Annotates documents in this process, or in others, which get a copy of it."""

    nlp: Language
    normalizer: ConceptNormalizer
    batch_size: int
    with_lines: bool
    with_records: bool
    with_docs: bool
    extensions: Any

    def run(self, docs: Iterable[Doc], processes: int) -> Generator[_Annotated, None, None]:
        if processes == 1:
            yield from self._annotate(docs)
            return
        batches = ([doc.to_bytes() for doc in each] for each in minibatch(docs, self.batch_size))
        count = (os.cpu_count() or 1) if processes < 0 else processes
        with closing(map_in_processes(self.work, batches, processes=count)) as results:
            for each in chain.from_iterable(results):
                if self.with_docs:
                    each = each._replace(doc=Doc(self.nlp.vocab).from_bytes(each.doc))
                yield each

    def work(self, batch: Sequence[bytes]) -> list[_Annotated]:
        """Annotate a batch in a worker."""
        Underscore.load_state(self.extensions)  # a spawned process has none
        docs = (Doc(self.nlp.vocab).from_bytes(each) for each in batch)
        return [
            each._replace(doc=each.doc.to_bytes()) if self.with_docs else each
            for each in self._annotate(docs)
        ]

    def _annotate(self, docs: Iterable[Doc]) -> Iterator[_Annotated]:
        for doc in self.nlp.pipe(docs, batch_size=self.batch_size):
            record, counts = to_record(doc, self.normalizer), AnnotationCounts()
            counts.add(record)
            line = json.dumps(record, ensure_ascii=False) if self.with_lines else ""
            yield _Annotated(
                counts,
                line,
                record if self.with_records else None,
                doc if self.with_docs else None,
            )


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


def _write_lines(lines: Iterable[str], path: Path) -> None:
    with atomic_file(path) as aside, open_text(aside, "wt") as file:
        for line in lines:
            file.write(f"{line}\n")
