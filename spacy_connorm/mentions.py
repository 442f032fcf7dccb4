"""Annotated mentions: how gold concept ids live on a Doc, and how they are read back.

Every annotated mention is a span of `doc.spans[MENTIONS_KEY]`, overlapping ones included; those
that do not overlap also stand in `doc.ents`. A span can be wider than its mention, since spans
end at token borders, so the mention's own characters are kept beside it.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from spacy.tokens import Doc

MENTIONS_KEY = "mentions"
_RECORDS_KEY = "spacy_connorm.mentions"
_ID_SEPARATORS = re.compile(r"[|+]")


class Mention(NamedTuple):
    """A span of text that names a concept, as annotated.

    text (str): The mention; the parts of a discontinuous one are joined by a space.
    label (str): The entity type.
    kb_id (str): Gold ids, `|` between those of a composite, `+` between those of a
        combination; empty where the annotators gave none.
    fragments (Tuple[Tuple[int, int], ...]): Character offsets in the document's text.
    """

    text: str
    label: str
    kb_id: str
    fragments: tuple[tuple[int, int], ...]

    @property
    def concept_ids(self) -> tuple[str, ...]:
        """RETURNS (Tuple[str, ...]): The gold ids, split."""
        return split_ids(self.kb_id)


def split_ids(kb_id: str) -> tuple[str, ...]:
    """Split joined concept ids.

    kb_id (str): Ids joined by `|` or `+`.
    RETURNS (Tuple[str, ...]): Each id once, in order.
    """
    parts = (part.strip() for part in _ID_SEPARATORS.split(kb_id))
    return tuple(dict.fromkeys(part for part in parts if part))


def set_mentions(doc: Doc, mentions: list[Mention]) -> None:
    """Keep the exact characters of annotated mentions with their document.

    doc (Doc): A document whose `spans[MENTIONS_KEY]` holds one span a mention, in this order.
    mentions (List[Mention]): The mentions.
    """
    doc.user_data[_RECORDS_KEY] = [tuple(mention) for mention in mentions]


def annotated_mentions(doc: Doc) -> Iterator[Mention]:
    """Read the annotated mentions of a document: those kept by `set_mentions`, or else the
    spans of `doc.spans[MENTIONS_KEY]`, or else the entities.

    doc (Doc): A document.
    YIELDS (Mention): The mentions, those without gold ids included.
    """
    records = doc.user_data.get(_RECORDS_KEY)
    if records is not None:
        for text, label, kb_id, fragments in records:
            yield Mention(text, label, kb_id, tuple((start, end) for start, end in fragments))
        return
    for span in doc.spans.get(MENTIONS_KEY, doc.ents):
        fragment = (span.start_char, span.end_char)
        yield Mention(span.text, span.label_, span.kb_id_, (fragment,))
