"""Group names into rows and their members, all at once in NumPy: there may be ten million names."""

from typing import NamedTuple

import numpy as np

from ..members import D, Members, O
from .name_file import Names

# Rows that are only in O come first, then those in both O and D, then those only in D.
_PLACES = {O: 0, O | D: 1, D: 2}


class GroupedNames(NamedTuple):
    """Names grouped into rows and members.

    members (Members): The members.
    texts (Ints1d): int32 (members,): the text of each member, as written for its concept.
    hashes (np.ndarray): uint64 (rows,): the hashes of the encoder inputs.
    """

    members: Members
    texts: np.ndarray
    hashes: np.ndarray

    @property
    def encoded(self) -> np.ndarray:
        """RETURNS (Ints1d): int32 (rows,): the text to encode for each row."""
        return self.texts[self.members.start[:-1]]


def group_names(names: Names) -> GroupedNames:
    """Give each distinct encoder input one row, and each row its members.

    names (Names): The names. Repetitions in D are counted.
    RETURNS (GroupedNames): Rows and members in the order that `Members` needs, ties in order of
        first occurrence.
    """
    hashes, rows = _rows(names)
    pairs = rows * (int(names.concepts.max(initial=0)) + 1) + names.concepts
    by_pair = np.argsort(pairs, kind="stable")
    starts = np.flatnonzero(np.diff(pairs[by_pair], prepend=-1))
    first = by_pair[starts]
    texts = _texts(names, by_pair, starts)
    order = np.lexsort((first, rows[first]))
    first = first[order]
    members = Members(
        start=np.searchsorted(rows[first], np.arange(len(hashes) + 1)).astype("int64"),
        concept=names.concepts[first],
        target=np.bitwise_or.reduceat(names.targets[by_pair], starts)[order],
        count=np.add.reduceat(names.targets[by_pair] == D, starts, dtype="int32")[order],
        preferred=np.logical_or.reduceat(names.preferred[by_pair], starts)[order],
        inexact=np.logical_and.reduceat(names.inexact[by_pair], starts)[order],
    )
    return GroupedNames(members, texts[order], hashes)


def _rows(names: Names) -> tuple[np.ndarray, np.ndarray]:
    """RETURNS (Tuple[np.ndarray, np.ndarray]): The hash of each row, and the row of each name."""
    hashes, first, which = np.unique(names.hashes, return_index=True, return_inverse=True)
    targets = np.zeros(len(hashes), dtype="uint8")
    for target in (O, D):
        targets[which[names.targets == target]] |= target
    places = np.zeros(4, dtype="uint8")
    places[list(_PLACES)] = list(_PLACES.values())
    order = np.lexsort((first, places[targets]))
    row_of = np.empty(len(hashes), dtype="int64")
    row_of[order] = np.arange(len(hashes))
    return hashes[order], row_of[which]


def _texts(names: Names, by_pair: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """RETURNS (np.ndarray): The text of each pair of a row and a concept: the preferred name, or
    else the first text.
    """
    preferred = names.preferred[by_pair]
    chosen = by_pair[starts].copy()
    pair_of = np.searchsorted(starts, np.flatnonzero(preferred), side="right") - 1
    # The first of several preferred names wins, since it is written last.
    chosen[pair_of[::-1]] = by_pair[preferred][::-1]
    return names.texts[chosen]
