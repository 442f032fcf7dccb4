"""Concept ids that a text has beside a name, "HP:0000033 (Ambiguous genitalia, male)", or in place
of one.
"""

import re
from collections.abc import Iterator

from spacy.tokens import Doc

# An id has a digit, and a colon or several digits: "HP:0000033", "HP_0000033", "D003924", "E11.9".
_ID = re.compile(r"(?=.*\d)[A-Za-z][\w.]*[:_][\w.-]+|[A-Za-z]?\d\d[\w.]*")
# What nobody takes for a number or a part of the body, as "T12" may be: "HP:0001250", "J45.909",
# "D003924".
_ALONE = re.compile(r"[A-Za-z]\w*[:_]\d[\w.-]*|[A-Z]\d\w\.\w+|[A-Z]\d{6,}")
# What may stand between an id and its name.
_BETWEEN = frozenset("([:,-–=|")
_MOST_BETWEEN = 2


def ids_beside(doc: Doc, start: int, end: int) -> list[str]:
    """Find the texts directly before and after a part of a document that look like ids.

    doc (Doc): The document.
    start (int): The first token of the part.
    end (int): The token after it.
    RETURNS (List[str]): At most two texts, which are not necessarily ids of an ontology.
    """
    return [doc[place].text for place in places_beside(doc, start, end)]


def places_beside(doc: Doc, start: int, end: int) -> list[int]:
    """Find the tokens of `ids_beside`.

    RETURNS (List[int]): At most two places.
    """
    before = range(start - 1, max(-1, start - 2 - _MOST_BETWEEN), -1)
    after = range(end, min(len(doc), end + 1 + _MOST_BETWEEN))
    ids = []
    for places in (before, after):
        nearest = next((place for place in places if doc[place].text not in _BETWEEN), None)
        if nearest is not None and _ID.fullmatch(doc[nearest].text):
            ids.append(nearest)
    return ids


def ids_alone(doc: Doc) -> Iterator[tuple[int, str]]:
    """Find the tokens that look like nothing but ids.

    doc (Doc): The document.
    YIELDS (Tuple[int, str]): Their places and texts, which are not necessarily ids of an ontology.
    """
    for token in doc:
        if _ALONE.fullmatch(token.text):
            yield token.i, token.text
