"""Characters of a text as spans of a document."""

from spacy.tokens import Doc, Span

from ..errors import ConnormError, Errors

# The start, the end (characters) and the label of a mention.
Boundaries = tuple[int, int, str]


def find_span(doc: Doc, start: int, end: int, label: str = "") -> Span:
    """Find the whole tokens that characters stand in, without spaces at either end.

    doc (Doc): The document.
    start, end (int): The characters.
    label (str): The span's label.
    RETURNS (Span): The span.
    RAISES (ConnormError): CN755 if there is nothing.
    """
    if 0 <= start < end <= len(doc.text):
        mention = doc.text[start:end]
        start += len(mention) - len(mention.lstrip())
        end -= len(mention) - len(mention.rstrip())
        if start < end:
            found = doc.char_span(start, end, label=label, alignment_mode="expand")
            if found is not None:
                return found
    raise ConnormError(Errors.CN755.format(start=start, end=end, length=len(doc.text)))
