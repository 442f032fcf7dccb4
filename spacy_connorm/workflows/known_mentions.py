"""Mentions whose boundaries are known: the tokens of a document that cover them."""

from collections.abc import Iterable

from spacy.tokens import Doc, Span
from spacy.util import filter_spans

from ..errors import ConnormError, Errors

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
            found = doc.char_span(first, last, label=label, alignment_mode="expand")
            if found is not None:
                return found
    raise ConnormError(Errors.CN755.format(start=start, end=end, length=len(doc.text)))


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
    spans = [find_span(doc, start, end, own or label) for start, end, own in mentions]
    if spans_key is not None:
        doc.spans[spans_key] = spans
    elif spans:
        doc.ents = filter_spans(spans)
