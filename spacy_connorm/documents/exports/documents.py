"""What every format is written from: a document's text, its mentions and what was found for them,
as plain data that processes can exchange."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from spacy.tokens import Doc, Span

from ...concepts import Candidate
from ..abbreviations import find_long_forms
from ..mentions import MENTIONS_KEY, Mention, annotated_mentions, split_ids
from ..metadata import find_doc_id, other_fields
from ..spans import choose_spans, get_candidates, get_kb_id, is_normalized

ID_FIELD = "id"


class ExportedMention(NamedTuple):
    """A mention and what was found for it.

    text (str): The mention; the fragments of a discontinuous one are joined by a space.
    label (str): The entity type.
    kb_id (str): Its concept id, `NIL`, several joined by `|` (composite) or `+` (combination);
        empty if nobody looked for one.
    fragments (Tuple[Tuple[int, int], ...]): Start and end of each fragment in the document's text
        (code points), in order. Nearly all mentions have one.
    candidates (Tuple[Candidate, ...]): Part by part, best first.
    long_form (str): What the document defines the mention to stand for; empty if nothing.
    """

    text: str
    label: str
    kb_id: str
    fragments: tuple[tuple[int, int], ...]
    candidates: tuple[Candidate, ...] = ()
    long_form: str = ""

    @property
    def start(self) -> int:
        """RETURNS (int): The offset of its first character."""
        return self.fragments[0][0]

    @property
    def end(self) -> int:
        """RETURNS (int): The offset after its last character."""
        return max(end for _, end in self.fragments)

    @property
    def concept_ids(self) -> tuple[str, ...]:
        """RETURNS (Tuple[str, ...]): The concept ids, split; none for `NIL`."""
        return split_ids(self.kb_id)

    @property
    def is_nil(self) -> bool:
        """RETURNS (bool): Whether a concept was looked for and none was found."""
        return bool(self.kb_id) and not self.concept_ids

    @property
    def leading(self) -> list[Candidate]:
        """RETURNS (List[Candidate]): The best candidate of each part, NIL or not."""
        return [next(part) for _, part in groupby(self.candidates, key=lambda each: each.part)]

    def found(self, concept_id: str) -> Candidate | None:
        """RETURNS (Optional[Candidate]): The best candidate with a concept id."""
        return next((each for each in self.candidates if each.concept_id == concept_id), None)


class ExportedDocument(NamedTuple):
    """A document as all formats need it.

    doc_id (str): Its id: from its JSON, from its corpus, or its number, from 1.
    text (str): Its text.
    mentions (Tuple[ExportedMention, ...]): Its mentions, in order; they may overlap.
    fields (Dict[str, Any]): The other fields of the JSON object that the text came in.
    number (int): Its number, from 1.
    doc (Doc): The document itself, for spaCy's format.
    has_id (bool): Whether `doc_id` is its own, not its number.
    """

    doc_id: str
    text: str
    mentions: tuple[ExportedMention, ...]
    fields: dict[str, Any]
    number: int
    doc: Doc
    has_id: bool


def read_document(
    doc: Doc,
    number: int,
    *,
    spans_key: str | None = None,
    attribute_prefix: str = "",
    id_field: str = ID_FIELD,
) -> ExportedDocument:
    """Read what a concept normalizer wrote on a document or, if none has seen it, the annotated
    mentions and gold ids of a corpus.

    doc (Doc): The document.
    number (int): Its number, from 1: its id, if it has no other.
    spans_key (Optional[str]): The mentions are in `doc.spans[spans_key]`; in `doc.ents` if None.
    attribute_prefix (str): The normalizer's.
    id_field (str): The field of its JSON that may hold its id.
    RETURNS (ExportedDocument): Its text, mentions and fields.
    """
    if is_normalized(doc, attribute_prefix):
        mentions = _normalized(doc, spans_key=spans_key, prefix=attribute_prefix)
    else:
        mentions = (ExportedMention(*each) for each in annotated_mentions(doc, spans_key=spans_key))
    own_id, fields = find_doc_id(doc, id_field), other_fields(doc)
    return ExportedDocument(
        own_id or str(number), doc.text, tuple(mentions), fields, number, doc, bool(own_id)
    )


def _normalized(doc: Doc, *, spans_key: str | None, prefix: str) -> Iterator[ExportedMention]:
    spans = choose_spans(doc, spans_key=spans_key, labels=None)
    exact = _exact(doc, spans) if spans_key == MENTIONS_KEY else {}
    long_forms = find_long_forms(doc, spans)
    for number, (span, long_form) in enumerate(zip(spans, long_forms, strict=True)):
        place = (span.start_char, span.end_char)
        annotated = exact.get(number)
        yield ExportedMention(
            annotated.text if annotated else span.text,
            span.label_,
            get_kb_id(span, prefix),
            annotated.fragments if annotated else (place,),
            tuple(get_candidates(span, prefix) or ()),
            long_form,
        )


def _exact(doc: Doc, spans: Sequence[Span]) -> dict[int, Mention]:
    """RETURNS (Dict[int, Mention]): The exact characters of the spans of a corpus, by number: a
    span ends at tokens, and has no gaps.
    """
    mentions = list(annotated_mentions(doc))
    if len(mentions) != len(spans):
        return {}
    return {
        number: mention
        for number, (mention, span) in enumerate(zip(mentions, spans, strict=True))
        if span.start_char <= mention.extent[0] and mention.extent[1] <= span.end_char
    }
