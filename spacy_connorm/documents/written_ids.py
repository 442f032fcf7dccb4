"""Concept ids that a text has beside a name: "HP:0000033 (Ambiguous genitalia, male)"."""

import re

from spacy.tokens import Doc

# An id has a digit, and a colon or several digits: "HP:0000033", "HP_0000033", "D003924", "E11.9".
_ID = re.compile(r"(?=.*\d)[A-Za-z][\w.]*[:_][\w.-]+|[A-Za-z]?\d\d[\w.]*")
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
    before = range(start - 1, max(-1, start - 2 - _MOST_BETWEEN), -1)
    after = range(end, min(len(doc), end + 1 + _MOST_BETWEEN))
    ids = []
    for places in (before, after):
        nearest = next((doc[at].text for at in places if doc[at].text not in _BETWEEN), "")
        if _ID.fullmatch(nearest):
            ids.append(nearest)
    return ids
