"""Store annotated mentions and their gold concept ids on a Doc, and read them back.

Every annotated mention is a span of `doc.spans[MENTIONS_KEY]`; those in one piece that do not
overlap a longer one are in `doc.ents` too. A span can be wider than its mention, since spans end
at token boundaries, so the mention's own characters are stored as well.
"""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from spacy.tokens import Doc

from ..concepts import NIL

MENTIONS_KEY = "mentions"
NO_ID = "-1"
# For ids without a vocabulary, in formats whose ids need one.
LOCAL_PREFIX = "LOCAL"
_RECORDS_KEY = "spacy_connorm.mentions"
_ID_SEPARATORS = re.compile(r"[|+]")
_NO_IDS = ("", NO_ID, NIL)
# How corpora annotated with UMLS mark a mention without a concept.
_CUI_LESS = re.compile(r"cui[-_ ]?less", re.IGNORECASE)


class Mention(NamedTuple):
    """A span of text that names a concept, as annotated.

    text (str): The mention; the fragments of a discontinuous one are joined by a space.
    label (str): The entity type.
    kb_id (str): Gold ids, separated by `|` in a composite and by `+` in a combination; empty if
        the annotators gave none, `-1` or `CUI-less` for a part without one.
    fragments (Tuple[Tuple[int, int], ...]): Start and end of each fragment in the document's text
        (characters), in order.
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
        """RETURNS (Tuple[int, int]): The start of the first fragment and the end of the last."""
        return self.fragments[0][0], max(end for _, end in self.fragments)

    def shifted(self, offset: int) -> "Mention":
        """Shift the offsets of a mention.

        offset (int): By how many characters.
        RETURNS (Mention): The shifted mention.
        """
        fragments = tuple((start + offset, end + offset) for start, end in self.fragments)
        return self._replace(fragments=fragments)


def split_ids(kb_id: str) -> tuple[str, ...]:
    """Split joined concept ids.

    kb_id (str): Ids joined by `|` or `+`.
    RETURNS (Tuple[str, ...]): Each id once, in order, without `-1`, `CUI-less` and spaCy's `NIL`,
        which say that there is no concept.
    """
    parts = (part.strip() for part in _ID_SEPARATORS.split(kb_id))
    return tuple(dict.fromkeys(part for part in parts if not _is_no_id(part)))


def _is_no_id(part: str) -> bool:
    return part in _NO_IDS or _CUI_LESS.fullmatch(part) is not None


def set_mentions(doc: Doc, mentions: Iterable[Mention]) -> None:
    """Store the exact characters of annotated mentions on their document.

    doc (Doc): A document with one span per mention in `spans[MENTIONS_KEY]`, in the same order.
    mentions (Iterable[Mention]): The mentions.
    """
    doc.user_data[_RECORDS_KEY] = [tuple(mention) for mention in mentions]


def annotated_mentions(doc: Doc, *, spans_key: str | None = None) -> Iterator[Mention]:
    """Read the annotated mentions of a document: those stored by `set_mentions`, or else the
    spans of `doc.spans[spans_key]`, or else the entities.

    doc (Doc): A document.
    spans_key (Optional[str]): `MENTIONS_KEY` if None.
    YIELDS (Mention): The mentions, including those without gold ids.
    """
    records = doc.user_data.get(_RECORDS_KEY)
    if records is not None:
        for text, label, kb_id, fragments in records:
            yield Mention(text, label, kb_id, tuple((start, end) for start, end in fragments))
        return
    for span in doc.spans.get(spans_key or MENTIONS_KEY, doc.ents):
        fragment = (span.start_char, span.end_char)
        yield Mention(span.text, span.label_, span.kb_id_, (fragment,))
