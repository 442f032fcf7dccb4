"""Undo inverted names such as "Cancer, Breast"."""

import re

_MOST_COMMAS = 2
_COMMA = re.compile(" ?, ")
# Such words start a qualifier of the whole name, which belongs at its end.
_STAYS = re.compile(
    r"^(?:and|as|associated|by|due|from|in|of|or|secondary|susceptibility|to|with|without)\b"
    r"|\b(?:and|or|to)$|\b(?:and|or)\b",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"\d+[A-Za-z]?|[IVX]+")


def turn_inversion(text: str) -> str:
    """Move the qualifiers of an inverted name before its head: "Leukemia, Myeloid, Acute" becomes
    "Acute Myeloid Leukemia", "Tooth Agenesis, Selective, 6" "Selective Tooth Agenesis 6". Names
    with a conjunction, a qualifier such as "due to ..." or more than two commas do not change. A
    list of two ("nausea, vomiting") looks like an inverted name, so it changes too.

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
