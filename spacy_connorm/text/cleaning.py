"""The cleaning that every concept text and every mention goes through first."""

import re

_DIRT = re.compile(r"[\s\x00-\x1f\x7f-\x9f\ud800-\udfff]+")


def clean(text: str) -> str:
    """Replace each run of whitespace, control characters and lone surrogates by one space, and
    strip the ends. Nothing else changes: direction marks, joiners and emoji stay.

    text (str): Any string, even one that cannot be encoded as UTF-8.
    RETURNS (str): A string that files, sqlite and tokenizers accept; the same object if it was
        clean already.
    """
    # Printable text has no whitespace but U+0020, no controls and no surrogates.
    if text.isprintable() and "  " not in text and text[:1] != " " and text[-1:] != " ":
        return text
    cleaned = _DIRT.sub(" ", text).strip(" ")
    return text if cleaned == text else cleaned
