"""The interface of search backends."""

from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np

from ...encoders.raw import Raw
from ..vectors.kinds import Vectors


class AllowedItems:
    """Items that may be found. The forms that searches need are computed once, on first use, so
    that further searches with the same filter need no work proportional to the number of items.
    """

    def __init__(self, mask: np.ndarray) -> None:
        """Store the mask.

        mask (np.ndarray): bool (items,): which items may be found.
        """
        self.mask = mask

    @cached_property
    def count(self) -> int:
        """The number of allowed items.

        RETURNS (int): 0 or more.
        """
        return int(np.count_nonzero(self.mask))

    @cached_property
    def items(self) -> np.ndarray:
        """The numbers of the allowed items.

        RETURNS (Ints1d): int64 (count,), ascending.
        """
        return np.flatnonzero(self.mask)

    @cached_property
    def bits(self) -> np.ndarray:
        """The allowed items as bits, for faiss.

        RETURNS (np.ndarray): uint8: one bit per item, the first items in the lowest bits.
        """
        return np.packbits(self.mask, bitorder="little")

    @cached_property
    def penalties(self) -> np.ndarray:
        """What to add to the scores of items so that only allowed ones remain.

        RETURNS (Floats1d): float32 (items,): 0 for allowed items, -inf for others.
        """
        return np.where(self.mask, np.float32(0), np.float32(-np.inf))


class Neighbours(NamedTuple):
    """The nearest items of each query, best first; equal scores are in item order. If several equal
    items compete for the last places, an exact search finds the first of them.

    items (Ints2d): int64 (b, n), -1 if fewer were found.
    scores (Floats2d): float32 (b, n) cosines or inner products, -inf if fewer were found.
    """

    items: np.ndarray
    scores: np.ndarray


class Searcher(Protocol):
    """Finds nearest neighbours among vectors."""

    @property
    def vectors(self) -> Vectors:
        """The vectors to search, one item per row."""

    def nearest(self, queries: Raw, n: int, allowed: AllowedItems | None = None) -> Neighbours:
        """Find the n nearest allowed items of each query.

        queries (Raw): (b, width), at unit length unless the vectors are scaled.
        n (int): The number of items.
        allowed (Optional[AllowedItems]): The items that may be found; all if None.
        RETURNS (Neighbours): b rows.
        """


class Earlier(NamedTuple):
    """An earlier build of a backend, from mostly the same vectors.

    path (Path): The file that was written.
    size (int): The number of items in it.
    items (Ints1d): int64 (n,): for each of the n current items, the earlier item with the same
        vector; -1 for a new one.
    """

    path: Path
    size: int
    items: np.ndarray


class Backend(Protocol):
    """Builds and opens searchers, e.g. `AutoIndex` and `ExactIndex`. For the metric of its scores,
    see `search.metric_of`.

    extra (str): The extra of spacy-connorm that it needs; empty if none.
    """

    extra: ClassVar[str]

    @property
    def dtype(self) -> Any: ...

    def build(self, vectors: Vectors, path: Path, earlier: Earlier | None = None) -> str:
        """Write the file that a searcher over the vectors needs, if any.

        vectors (Vectors): The items, one per row.
        path (Path): The file to write; different from the earlier one.
        earlier (Optional[Earlier]): An earlier build, of which it may reuse parts.
        RETURNS (str): What was built, and why, for the manifest.
        """

    def open(self, vectors: Vectors, path: Path) -> Searcher:
        """Open the file written by `build`, as a searcher over the same vectors."""
