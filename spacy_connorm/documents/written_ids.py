"""Concept ids that a text has beside a name, "HP:0000033 (Ambiguous genitalia, male)", or in place
of one.
"""

import re
from collections.abc import Iterable, Sequence

# An id has a digit, and a colon or several digits: "HP:0000033", "HP_0000033", "D003924", "E11.9".
_ID = re.compile(r"(?=.*\d)[A-Za-z][\w.]*[:_][\w.-]+|[A-Za-z]?\d\d[\w.]*")
# What nobody takes for a number or a part of the body, as "T12" may be: "HP:0001250", "J45.909",
# "D003924".
_ALONE = re.compile(r"[A-Za-z]\w*[:_]\d[\w.-]*|[A-Z]\d\w\.\w+|[A-Z]\d{6,}")
# What may stand between an id and its name.
_BETWEEN = frozenset("([:,-–=|")
_MOST_BETWEEN = 2


def ids_beside(texts: Sequence[str], start: int, end: int) -> dict[int, str]:
    """Find the texts that look like ids directly before and after a part of a document, and the
    part itself if it looks like nothing else.

    texts (Sequence[str]): The tokens of the document.
    start (int): The first token of the part.
    end (int): The token after it.
    RETURNS (Dict[int, str]): At most three texts, which are not necessarily ids of an ontology, by
        their places.
    """
    before = range(start - 1, max(-1, start - 2 - _MOST_BETWEEN), -1)
    after = range(end, min(len(texts), end + 1 + _MOST_BETWEEN))
    ids = {}
    if end - start == 1 and _ALONE.fullmatch(texts[start]):
        ids[start] = texts[start]
    for places in (before, after):
        nearest = next((place for place in places if texts[place] not in _BETWEEN), -1)
        if nearest >= 0 and _ID.fullmatch(texts[nearest]):
            ids[nearest] = texts[nearest]
    return ids


def look_like_ids(texts: Iterable[str]) -> list[str]:
    """Select the tokens that look like nothing but ids.

    texts (Iterable[str]): The texts of tokens.
    RETURNS (List[str]): Some of these, which are not necessarily ids of an ontology.
    """
    return list(filter(_ALONE.fullmatch, texts))
