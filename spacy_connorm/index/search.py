"""The six searches, each a target (O, D or OD) in a representation (T or C), and the order of what
they find: score, count in D, rank of the name, concept id.
"""

from collections.abc import Iterable
from enum import StrEnum
from typing import Any, NamedTuple

import numpy as np

from ..errors import require_choice
from .members import TARGETS

# Scores closer than this are ties: the cosine of a text with itself, in float32, is off by 1e-6.
# Inner products of 10 and more have six digits that count.
DIGITS = 5
_LARGE = 10
_NO_MEMBER = -1


class Search(StrEnum):
    """One of the six searches (Xu & Bethard 2021, section 3.2), such as "OD-T". It equals its name,
    so it can stand wherever configs and files have a string; `Search("OD-T")` parses one.

    target (int): Which texts are searched: `O`, `D` or both.
    representation (str): "T": every text is a vector. "C": a concept is the mean of its texts'
        vectors.
    """

    O_T = "O-T"
    O_C = "O-C"
    D_T = "D-T"
    D_C = "D-C"
    OD_T = "OD-T"
    OD_C = "OD-C"

    def __init__(self, name: str) -> None:
        target, representation = name.split("-")
        self.target: int = TARGETS[target]
        self.representation: str = representation

    @classmethod
    def _missing_(cls, value: Any) -> None:
        require_choice("search", value, list(cls))


SEARCHES = tuple(Search)


def rounded(scores: np.ndarray) -> np.ndarray:
    """RETURNS (np.ndarray): Cosines or inner products without rounding noise, float64."""
    wide = scores.astype("float64")
    found = np.round(wide, DIGITS)
    large = np.isfinite(wide) & (np.abs(wide) >= _LARGE)
    if large.any():
        units = 10.0 ** (np.floor(np.log10(np.abs(wide[large]))) - DIGITS)
        found[large] = np.round(np.round(wide[large] / units) * units, DIGITS)
    return found


class Hit(NamedTuple):
    """A concept found by one search. Hits sort best first.

    distance (float): Minus the score, rounded to five digits: the cosine or inner product, raised
        for a name that the mention becomes by substitutions, lowered for words that it lacks.
    rarity (int): Minus how often D gives the text this concept.
    rank (int): Of the text among the concept's names, from `Members.ranks`.
    concept (int): The concept's number; numbers follow the order of ids.
    item (int): Its place among the vectors that were searched.
    member (int): The member of the index with the text; -1 if none has it.
    text (str): The text, if no member has it or if it was read already; empty for a mean.
    parts (Optional[Tuple[float, float]]): The dense and the lexical score of a hybrid encoder.
    """

    distance: float
    rarity: int
    rank: int
    concept: int
    item: int
    member: int = _NO_MEMBER
    text: str = ""
    parts: tuple[float, float] | None = None

    @property
    def score(self) -> float:
        """RETURNS (float): The score."""
        return 0.0 - self.distance  # never minus zero


def best_hits(hits: Iterable[Hit], top_k: int) -> list[Hit]:
    """RETURNS (List[Hit]): The best hit of each concept, best first, at most top_k."""
    by_concept: dict[int, Hit] = {}
    for hit in sorted(hits):
        by_concept.setdefault(hit.concept, hit)
        if len(by_concept) == top_k:
            break
    return list(by_concept.values())


def best_members(mention: np.ndarray, fields: tuple[np.ndarray, ...], top_k: int) -> np.ndarray:
    """Rank as `best_hits`, but all mentions at once and before there are any hits.

    mention (Ints1d): int64 (members,): whose members they are.
    fields (Tuple[np.ndarray, ...]): The first fields of `Hit`, one value per member.
    top_k (int): At most how many members to keep for each mention.
    RETURNS (Ints1d): int64: the places of the members kept, best first.
    """
    order = np.lexsort((*fields[::-1], mention))
    concept = fields[3].astype("int64")
    pairs = mention * (concept.max(initial=0) + 1) + concept
    _, first = np.unique(pairs[order], return_index=True)
    order = order[np.sort(first)]
    starts = np.searchsorted(mention[order], mention[order])
    return order[np.arange(len(order)) - starts < top_k]
