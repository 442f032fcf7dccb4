"""A pipeline whose answers include the corrections that people have made, in texts with known
mentions or in any.
"""

import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any, Unpack

from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.util import filter_spans

from ..concepts import NIL, Candidate, Concept
from ..documents.abbreviations import find_long_forms, long_forms_of
from ..documents.document import DEFAULT_TYPE
from ..documents.mentions import split_ids
from ..documents.spans import choose_spans
from ..errors import Errors
from ..linker.explanation import Explanation
from ..pipeline.abbreviation_resolver import read_alone
from ..pipeline.limits import Limits
from ..pipeline.loading import component_name, find_normalizer, load_pipeline
from ..pipeline.mention_marker import add_marker
from ..pipeline.tokenization import speed_up_urls
from .annotation import to_record
from .applied_corrections import AppliedCorrections
from .corrections import Correction, CorrectionRecord, CorrectionsFile, Undo, effective, require_ids
from .memory_zones import MemoryZones
from .texts import batched

# The start, the end (characters) and the label of a mention.
Boundaries = tuple[int, int, str]


def find_span(doc: Doc, start: int, end: int, label: str = "") -> Span:
    """Find the whole tokens that cover some characters, without spaces at either end.

    doc (Doc): The document.
    start, end (int): The characters.
    label (str): The span's label.
    RETURNS (Span): The span.
    RAISES (ConnormError): CN755 if there are no such tokens.
    """
    if 0 <= start < end <= len(doc.text):
        mention = doc.text[start:end]
        first = start + len(mention) - len(mention.lstrip())
        last = end - len(mention) + len(mention.rstrip())
        if first < last:
            # Never None: "expand" finds a span for all characters inside the text.
            return doc.char_span(first, last, label, alignment_mode="expand")  # type: ignore[return-value]
    raise Errors.CN755(start=start, end=end, length=len(doc.text))


def mark_known(
    doc: Doc, mentions: Iterable[Boundaries], *, spans_key: str | None, label: str
) -> None:
    """Mark known mentions in a document.

    doc (Doc): The document.
    mentions (Iterable[Tuple[int, int, str]]): The start, the end and the label of each.
    spans_key (Optional[str]): Where the normalizer looks for mentions; `doc.ents` if None.
    label (str): The label of mentions that have none.
    RAISES (ConnormError): CN755 for a mention outside the text.
    """
    spans = [find_span(doc, start, end, given or label) for start, end, given in mentions]
    if spans_key is not None:
        doc.spans[spans_key] = spans
    elif spans:
        doc.ents = filter_spans(spans)


# The number of characters that are read before others get their turn.
_CHARACTERS = 10_000


class CorrectedPipeline:
    """A pipeline and a file of corrections. It can be shared between threads; other processes may
    append to the same file.

    A correction is a synonym: its text is added to D at once, so similar texts benefit. For the
    corrected text itself, people have the last word, whatever the sieve finds, even if they decide
    that it has no concept, which a synonym can't express. The last correction of a text counts.
    """

    def __init__(
        self,
        pipeline: str | Path | Language,
        corrections: str | Path,
        *,
        component: str | None = None,
    ) -> None:
        """Load the pipeline and the corrections.

        pipeline (Union[str, Path, Language]): An installed package, a folder, or a pipeline, which
            gets a component before its normalizer.
        corrections (Union[str, Path]): The file; see `CorrectionsFile`.
        component (Optional[str]): The concept normalizer to use, if there are several.
        RAISES (ConnormError): The errors of `load_pipeline`, `find_normalizer` and
            `CorrectionsFile.read`, CN001 if the normalizer has no index, CN108 if the file can't be
            written.
        """
        self._file = CorrectionsFile(corrections)
        self._file.require_writable()
        self.nlp = load_pipeline(pipeline)
        speed_up_urls(self.nlp)
        self._zones = MemoryZones()
        self.normalizer = find_normalizer(self.nlp, component=component)
        marker = add_marker(self.nlp, before=self.normalizer.name)
        self._applied = AppliedCorrections(self.normalizer, marker)
        self._records: list[CorrectionRecord] = []
        self._unapplied: list[CorrectionRecord] = []
        self._changing = threading.RLock()
        self._running = _TurnTaking()
        self.refresh()

    @property
    def revision(self) -> int:
        """The number of the last change.

        RETURNS (int): The number of records in the file. It grows with each change.
        """
        return len(self._records)

    @property
    def records(self) -> list[CorrectionRecord]:
        """All corrections and undos.

        RETURNS (List[CorrectionRecord]): In the order of the file.
        """
        return list(self._records)

    @property
    def effective(self) -> list[Correction]:
        """The corrections that apply.

        RETURNS (List[Correction]): See `effective`.
        """
        return list(self._applied.corrections)

    @property
    def labels(self) -> list[str]:
        """The labels that mentions can get.

        RETURNS (List[str]): The labels; the first one is the default.
        """
        trained = chain.from_iterable(self.nlp.pipe_labels.values())
        known = self.normalizer.labels or sorted(set(trained))
        return list(known) or [DEFAULT_TYPE]

    def refresh(self) -> None:
        """Read and apply what other processes have appended.

        RAISES (ConnormError): The errors of `CorrectionsFile.read`.
        """
        if self._unapplied or self._file.has_more():
            with self._changing:
                self._take_new()

    def annotate(
        self, texts: Sequence[str], mentions: Sequence[Iterable[Boundaries] | None] = ()
    ) -> list[dict[str, Any]]:
        """Annotate texts.

        texts (Sequence[str]): The texts.
        mentions (Sequence[Optional[Iterable[Tuple[int, int, str]]]]): For each text, if known, the
            start, end and label of its mentions.
        RETURNS (List[Dict[str, Any]]): One record per text, as `connorm annotate` writes them.
        RAISES (ConnormError): CN755 for a mention outside its text.
        """
        self.refresh()
        spans_key, label = self.normalizer.cfg["spans_key"], self.labels[0]
        records = []
        for batch in batched(zip_longest(texts, mentions), lambda pair: len(pair[0]), _CHARACTERS):
            with self._reading():
                docs = [self.nlp.make_doc(text) for text, _ in batch]
                for doc, (_, known) in zip(docs, batch, strict=True):
                    mark_known(doc, known or (), spans_key=spans_key, label=label)
                records += [self._record(doc) for doc in self.nlp.pipe(docs)]
        return records

    def search(
        self, mentions: Sequence[str], *, search: str | None = None, **limits: Unpack[Limits]
    ) -> list[tuple[str, list[Candidate]]]:
        """Find the candidates of texts, as if they were mentions.

        mentions (Sequence[str]): b texts.
        search (Optional[str]): A single search to use instead of the sieve.
        **limits (Limits): As in `ConceptNormalizer.candidates`.
        RETURNS (List[Tuple[str, List[Candidate]]]): For each text, the id that would be written,
            and the candidates.
        """
        self.refresh()
        with self._reading():
            long_forms = long_forms_of(read_alone(self.nlp, mentions))
        answers = self.normalizer.candidates(
            mentions, long_forms=long_forms, search=search, **limits
        )
        corrected = self._applied.answers(mentions, long_forms)
        return [
            (kb_id or (self.normalizer.decide(candidates) if candidates else NIL), candidates)
            for kb_id, candidates in zip(corrected, answers, strict=True)
        ]

    def explain(
        self, mention: str, *, text: str = "", start: int = 0, **limits: Unpack[Limits]
    ) -> Explanation:
        """Explain how a mention is interpreted; see `ConceptNormalizer.explain`.

        mention (str): The mention.
        text (str): The text around it, which may define its long form; may be empty.
        start (int): The mention's first character there.
        **limits (Limits): As in `ConceptNormalizer.candidates`.
        RETURNS (Explanation): The interpretations and searches.
        RAISES (ConnormError): CN755 if the mention is not there.
        """
        self.refresh()
        with self._reading():
            if text:
                span = self._find_span(text, start, start + len(mention))
            else:
                (span,) = read_alone(self.nlp, [mention])
            return self.normalizer.explain(span, **limits)

    def concept(self, concept_id: str) -> Concept:
        """Look up a concept by its id or an alternate id.

        RETURNS (Concept): The concept in the index.
        RAISES (ConnormError): CN411 for an unknown id.
        """
        return self.normalizer.concept(concept_id)

    def correct(
        self,
        text: str,
        start: int,
        end: int,
        kb_id: str,
        *,
        label: str = "",
        marked: bool = False,
        replaces: tuple[int, int] | None = None,
        author: str = "",
    ) -> Correction:
        """Correct the concept of a mention. The correction is on disk when this returns, and all
        later answers take it into account.

        text (str): The text around the mention.
        start, end (int): Its characters; extended to whole tokens.
        kb_id (str): The concept id, "NIL" for none, ids joined by `|` for a composite.
        label (str): Its type; the first of `labels` if empty.
        marked (bool): Whether its boundaries are new, so that it is marked in all texts.
        replaces (Optional[Tuple[int, int]]): The boundaries that the pipeline had found.
        author (str): Who makes the correction.
        RETURNS (Correction): The record appended to the file.
        RAISES (ConnormError): CN006 for no id, and for "NIL" together with ids, CN755 if the
            mention is not in the text, CN411 for an unknown concept, CN009 for a text in which
            the encoder recognizes nothing, CN108 if the file can't be written.
        """
        require_ids(kb_id)
        concept_ids = [self.concept(concept_id).concept_id for concept_id in split_ids(kb_id)]
        with self._reading():
            span = self._find_span(text, start, end)
            (long_form,) = find_long_forms(span.doc, [span])
            start, end = span.start_char, span.end_char
        correction = Correction(
            text=text,
            start=start,
            end=end,
            kb_id="|".join(concept_ids) or NIL,
            label=label or self.labels[0],
            long_form=long_form,
            marked=marked or replaces is not None,
            replaces=replaces,
            author=author,
        )
        self._applied.require_readable(correction)
        with self._writing():
            self._append(correction)
        return correction

    def undo(self, correction_id: str, *, author: str = "") -> Undo:
        """Undo a correction.

        correction_id (str): Its id.
        author (str): Who undoes it.
        RETURNS (Undo): The record appended to the file.
        RAISES (ConnormError): CN753 if there is no such correction, CN754 if it was already undone,
            CN108 if the file can't be written.
        """
        with self._writing():
            known = {record.id for record in self._records if isinstance(record, Correction)}
            undone = {record.undoes for record in self._records if isinstance(record, Undo)}
            if correction_id not in known:
                raise Errors.CN753()
            if correction_id in undone:
                raise Errors.CN754()
            undo = Undo(correction_id, author=author)
            self._append(undo)
        return undo

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Keep other threads and processes from writing, and apply what they have written."""
        with self._changing, self._file.locked():
            self._take_new()
            yield

    def _append(self, record: CorrectionRecord) -> None:
        """Apply a record, then write it: a correction that the pipeline can't apply is not
        written.
        """
        before = self._records
        try:
            self._take([record])
            self._file.append(record)
        except BaseException:
            self._records = before
            self._apply(effective(before))
            raise

    def _take_new(self) -> None:
        """Apply new records. Those that can't be applied now are kept for the next time, not read
        again.
        """
        self._unapplied += self._file.read()
        self._take(self._unapplied)
        self._unapplied = []

    def _take(self, records: Sequence[CorrectionRecord]) -> None:
        if records:
            taken = [*self._records, *records]
            self._apply(effective(taken))
            self._records = taken

    def _apply(self, corrections: list[Correction]) -> None:
        with self._running:
            self._applied.use(corrections)

    def _record(self, doc: Doc) -> dict[str, Any]:
        record = to_record(doc, self.normalizer)
        spans_key = self.normalizer.cfg["spans_key"]
        spans = choose_spans(doc, spans_key=spans_key, labels=None)
        mentions = [span.text for span in spans]
        said = self._applied.answers(mentions, find_long_forms(doc, spans))
        for ent, kb_id in zip(record["ents"], said, strict=True):
            if kb_id is not None:
                ent["kb_id"] = kb_id
                ent["candidates"] = _chosen_first(ent["candidates"], kb_id)
        return record

    def _find_span(self, text: str, start: int, end: int) -> Span:
        doc = self.nlp(text, disable=[component_name(self.nlp, self.normalizer)])
        return find_span(doc, start, end)

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """Read texts in a memory zone. Otherwise, the vocabulary would keep every word of all
        texts. No Doc or Span may be used after the block.
        """
        with self._running, self._zones.open(self.nlp):
            yield


class _TurnTaking:
    """A lock that is passed to the thread waiting for it, even if its holder wants it again at
    once.
    """

    def __init__(self) -> None:
        self._next, self._running = threading.Lock(), threading.Lock()

    def __enter__(self) -> None:
        with self._next:
            self._running.acquire()

    def __exit__(self, *error: object) -> None:
        self._running.release()


def _chosen_first(candidates: list[dict[str, Any]], kb_id: str) -> list[dict[str, Any]]:
    chosen = split_ids(kb_id)
    # The sort is stable, so the candidates of a composite stay in the order of its parts.
    return sorted(
        candidates, key=lambda candidate: (candidate["part"], candidate["concept_id"] not in chosen)
    )
