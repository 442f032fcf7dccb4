"""Names with the head in front, as indexes sort them: "Cancer, Breast"."""

import re

_MOST_COMMAS = 2
_COMMA = re.compile(" ?, ")
# What follows such a word is said of the whole name, so it belongs at its end.
_STAYS = re.compile(
    r"^(?:and|as|associated|by|due|from|in|of|or|secondary|susceptibility|to|with|without)\b"
    r"|\b(?:and|or|to)$|\b(?:and|or)\b",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"\d+[A-Za-z]?|[IVX]+")


def turn_inversion(text: str) -> str:
    """Put the qualifiers of an inverted name in front of its head: "Leukemia, Myeloid, Acute"
    becomes "Acute Myeloid Leukemia", "Tooth Agenesis, Selective, 6" "Selective Tooth Agenesis 6".
    Names with a conjunction, with a qualifier such as "due to ..." or with more than two commas
    stay as they are; so a list of two ("nausea, vomiting") is turned as well.

    text (str): A cleaned text.
    RETURNS (str): The name in natural order.
    """
    if ", " not in text or text.count(",") > _MOST_COMMAS:
        return text
    head, *qualifiers = _COMMA.split(text)
    if any(not part.strip(", ") or _STAYS.search(part) for part in (head, *qualifiers)):
        return text
    if any(part.endswith(",") for part in (head, *qualifiers)):
        return text
    number = qualifiers.pop() if _NUMBER.fullmatch(qualifiers[-1]) else ""
    return " ".join([*reversed(qualifiers), head, number])
