"""Names that mentions become when words are replaced by others that mean the same."""

from collections.abc import Sequence

import numpy as np

from ..index.concept_index import ConceptIndex
from ..index.rewriting import Rewritten, rewrite
from ..text.signs import are_opposite, has_sign
from .extra_words import known_bag

# Names that a text becomes by less certain substitutions are not looked at.
_MIN_CERTAINTY = 0.3


def rewrite_mentions(
    texts: Sequence[str], rows: np.ndarray, index: ConceptIndex, *, weight: float
) -> list[Rewritten]:
    """Find the names that mentions become.

    texts (Sequence[str]): b cleaned texts.
    rows (Ints1d): int64 (b,): their rows in the index, -1 if it lacks them. Only these are
        rewritten.
    index (ConceptIndex): Has the names and the substitutions.
    weight (float): How much certain substitutions of words raise cosines, 0 to 1.
    RETURNS (List[Rewritten]): One per text; empty if no text becomes any name.
    """
    if not weight:
        return []
    bags = [() if row >= 0 else known_bag(text) for text, row in zip(texts, rows, strict=True)]
    rewritten = [
        rewrite(bag, index.word_bags, index.rewriting, min_certainty=_MIN_CERTAINTY) for bag in bags
    ]
    if not any(len(each.rows) for each in rewritten):
        return []
    return [
        _without_opposites(text, each._replace(certainty=weight * each.certainty), index)
        for text, each in zip(texts, rewritten, strict=True)
    ]


def _without_opposites(text: str, found: Rewritten, index: ConceptIndex) -> Rewritten:
    """Leave out the names that have a minus where the text has a plus, or the reverse."""
    if not len(found.rows) or not has_sign(text):
        return found
    members = index.members.start[found.rows].tolist()
    names = index.store.texts(members)
    kept = np.array([not are_opposite(text, names[member]) for member in members])
    return Rewritten(found.rows[kept], found.certainty[kept])
