"""What every concept text and every mention passes through before anything is done with it."""

import re

_DIRT = re.compile(r"[\s\x00-\x1f\x7f-\x9f\ud800-\udfff]+")


def clean(text: str) -> str:
    """Put one space for each run of white space, control characters and lone surrogates, and
    none at the ends. Nothing else is touched: marks of direction, joiners and emoji stay.

    text (str): Any string, e.g. one that cannot be written as UTF-8.
    RETURNS (str): A string that files, sqlite and tokenizers take; the same object if there
        was nothing to do.
    """
    # What is printable has no white space but U+0020, no controls and no surrogates.
    if text.isprintable() and "  " not in text and text[:1] != " " and text[-1:] != " ":
        return text
    cleaned = _DIRT.sub(" ", text).strip(" ")
    return text if cleaned == text else cleaned
