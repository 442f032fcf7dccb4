"""Annotated mentions: how gold concept ids live on a Doc, and how they are read back.

Every annotated mention is a span of `doc.spans[MENTIONS_KEY]`; those in one part that do not
overlap a longer one also stand in `doc.ents`. A span can be wider than its mention, since spans
end at token borders, so the mention's own characters are kept beside it.
"""

import re
from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

from spacy.tokens import Doc

from ..concepts import NIL

MENTIONS_KEY = "mentions"
NO_ID = "-1"
_RECORDS_KEY = "spacy_connorm.mentions"
_ID_SEPARATORS = re.compile(r"[|+]")
_NO_IDS = ("", NO_ID, NIL)


class Mention(NamedTuple):
    """A span of text that names a concept, as annotated.

    text (str): The mention; the parts of a discontinuous one are joined by a space.
    label (str): The entity type.
    kb_id (str): Gold ids, `|` between those of a composite, `+` between those of a
        combination; empty where the annotators gave none, `-1` for a part without one.
    fragments (Tuple[Tuple[int, int], ...]): Character offsets in the document's text, in order,
        one pair a part.
    """

    text: str
    label: str
    kb_id: str
    fragments: tuple[tuple[int, int], ...]

    @property
    def concept_ids(self) -> tuple[str, ...]:
        """RETURNS (Tuple[str, ...]): The gold ids, split."""
        return split_ids(self.kb_id)

    @property
    def extent(self) -> tuple[int, int]:
        """RETURNS (Tuple[int, int]): Offsets of the first part's start and the last one's end."""
        return self.fragments[0][0], max(end for _, end in self.fragments)

    def shifted(self, offset: int) -> "Mention":
        """Move a mention along with its text.

        offset (int): How many characters now stand in front of the text.
        RETURNS (Mention): The mention, its offsets counted from the new start.
        """
        fragments = tuple((start + offset, end + offset) for start, end in self.fragments)
        return self._replace(fragments=fragments)


def split_ids(kb_id: str) -> tuple[str, ...]:
    """Split joined concept ids.

    kb_id (str): Ids joined by `|` or `+`.
    RETURNS (Tuple[str, ...]): Each id once, in order; `-1` and spaCy's `NIL` are none.
    """
    parts = (part.strip() for part in _ID_SEPARATORS.split(kb_id))
    return tuple(dict.fromkeys(part for part in parts if part not in _NO_IDS))


def set_mentions(doc: Doc, mentions: Iterable[Mention]) -> None:
    """Keep the exact characters of annotated mentions with their document.

    doc (Doc): A document whose `spans[MENTIONS_KEY]` holds one span a mention, in this order.
    mentions (Iterable[Mention]): The mentions.
    """
    doc.user_data[_RECORDS_KEY] = [tuple(mention) for mention in mentions]


def annotated_mentions(doc: Doc, *, spans_key: str | None = None) -> Iterator[Mention]:
    """Read the annotated mentions of a document: those kept by `set_mentions`, or else the
    spans of `doc.spans[spans_key]`, or else the entities.

    doc (Doc): A document.
    spans_key (Optional[str]): `MENTIONS_KEY` if None.
    YIELDS (Mention): The mentions, those without gold ids included.
    """
    records = doc.user_data.get(_RECORDS_KEY)
    if records is not None:
        for text, label, kb_id, fragments in records:
            yield Mention(text, label, kb_id, tuple((start, end) for start, end in fragments))
        return
    for span in doc.spans.get(spans_key or MENTIONS_KEY, doc.ents):
        fragment = (span.start_char, span.end_char)
        yield Mention(span.text, span.label_, span.kb_id_, (fragment,))


def annotated_synonyms(
    docs: Iterable[Doc],
    labels: Collection[str] | None = None,
    *,
    spans_key: str | None = None,
) -> Iterator[tuple[str, str]]:
    """Read D(c): what annotated mentions say about concepts. A mention of several concepts
    denotes each of them; one without gold ids says nothing.

    docs (Iterable[Doc]): Annotated documents.
    labels (Optional[Collection[str]]): Only mentions with these labels; all if None or empty.
    spans_key (Optional[str]): As in `annotated_mentions`.
    YIELDS (Tuple[str, str]): Text and concept id, as often as they occur.
    """
    for doc in docs:
        for mention in annotated_mentions(doc, spans_key=spans_key):
            if not labels or mention.label in labels:
                for concept_id in mention.concept_ids:
                    yield mention.text, concept_id
