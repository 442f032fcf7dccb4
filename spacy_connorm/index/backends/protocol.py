"""The interface of search backends, and what all of them use."""

from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Protocol, runtime_checkable

import numpy as np

from ...encoders.vectors import Raw
from ...errors import require_positive
from ..vectors.base import Vectors


class AllowedItems:
    """Items that may be found. What searches need to know of them is worked out once, when it is
    first asked for, so that searches with the same filter cost nothing that grows with all items.
    """

    def __init__(self, mask: np.ndarray) -> None:
        """mask (np.ndarray): bool (items,): which may be found."""
        self.mask = mask

    @cached_property
    def count(self) -> int:
        """RETURNS (int): How many may be found."""
        return int(np.count_nonzero(self.mask))

    @cached_property
    def items(self) -> np.ndarray:
        """RETURNS (Ints1d): int64 (count,): the items, ascending."""
        return np.flatnonzero(self.mask)

    @cached_property
    def bits(self) -> np.ndarray:
        """RETURNS (np.ndarray): uint8: one bit per item, the first items in the lowest bits."""
        return np.packbits(self.mask, bitorder="little")

    @cached_property
    def penalties(self) -> np.ndarray:
        """RETURNS (Floats1d): float32 (items,): 0 for what may be found, -inf for the rest: added
        to scores, they leave only what may be found.
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

    def only(self, queries: np.ndarray) -> "Neighbours":
        """RETURNS (Neighbours): The neighbours of some queries.

        queries (np.ndarray): bool (b,), or int64 positions.
        """
        return Neighbours(self.items[queries], self.scores[queries])


def rescore(vectors: Vectors, queries: Raw, proposed: Iterable[np.ndarray], n: int) -> Neighbours:
    """Keep the best proposals by exact score.

    vectors (Vectors): The items.
    queries (Floats2d): float32 (b, width), at unit length unless the vectors are scaled.
    proposed (Iterable[Ints1d]): The proposals for each query, without duplicates.
    n (int): How many to keep.
    RETURNS (Neighbours): (b, n) neighbours.
    """
    items = np.full((queries.shape[0], n), -1, dtype="int64")
    scores = np.full(items.shape, -np.inf, dtype="float32")
    for query, rows in enumerate(proposed):
        own = vectors.rescore(queries, query, rows)
        order = np.lexsort((rows, -own))[:n]
        items[query, : len(order)] = rows[order]
        scores[query, : len(order)] = own[order]
    return Neighbours(items, scores)


def require_positive_settings(backend: Any, *settings: str) -> None:
    """Refuse settings of a backend below 1.

    backend (Any): The backend.
    *settings (str): Their names.
    RAISES (ConnormError): CN006 for the first invalid one.
    """
    for setting in settings:
        require_positive(setting, getattr(backend, setting))


class Searcher(Protocol):
    """Finds nearest neighbours among vectors."""

    @property
    def vectors(self) -> Vectors:
        """The vectors to search, one item per row."""

    def __len__(self) -> int: ...

    def nearest(self, queries: Raw, n: int, allowed: AllowedItems | None = None) -> Neighbours:
        """Find the n nearest allowed items of each query.

        queries (Raw): (b, width), at unit length unless the vectors are scaled.
        n (int): How many.
        allowed (Optional[AllowedItems]): The items that may be found; all if None.
        RETURNS (Neighbours): b rows.
        """

    def verify(self, path: Path) -> None:
        """Check that what is searched holds every item once, and nothing else.

        path (Path): What the backend's `build` wrote.
        RAISES (ConnormError): CN402.
        """


class Backend(Protocol):
    """Builds and opens searchers, e.g. `AnnoyIndex` and `ExactIndex`.

    extra (str): The extra of spacy-connorm that it needs; empty if none. What its scores are says
        `metrics.metric_of`.
    """

    extra: ClassVar[str]

    @property
    def dtype(self) -> Any: ...

    def build(self, vectors: Vectors, path: Path) -> None:
        """Write what a searcher over the vectors needs to the file `path`, if anything."""

    def open(self, vectors: Vectors, path: Path) -> Searcher:
        """Open what `build` wrote, as a searcher over the same vectors."""


class Earlier(NamedTuple):
    """What a backend built before, of vectors that were mostly the same.

    path (Path): The file that it wrote.
    size (int): How many items there were.
    items (Ints1d): int64 (n,): for each of n items now, the item that had the same vector then; -1
        for a new one.
    """

    path: Path
    size: int
    items: np.ndarray


@runtime_checkable
class UpdatingBackend(Backend, Protocol):
    """A backend that can keep a part of what it built before, e.g. `IvfIndex`."""

    def update(self, vectors: Vectors, path: Path, earlier: Earlier) -> str | None:
        """As `build`, but keep what still fits.

        vectors (Vectors): The items, one per row.
        path (Path): The file to write, which is not the earlier one.
        earlier (Earlier): The earlier build.
        RETURNS (Optional[str]): What became of it, for the manifest; None if there is nothing to
            tell.
        """
