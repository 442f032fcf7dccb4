"""The interface of search backends, and the exact one, which the others fall back on: all vectors
are compared with whatever is fastest, and what could be among the nearest is compared again in
float32.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple, Protocol

import numpy as np

from ...encoders.protocol import Raw
from ...encoders.storage import DTYPES
from ...errors import require_choice, require_positive
from ..vectors import METRICS, Metric, Vectors


class AllowedItems:
    """Items that may be found. What searches need to know of them is worked out once, when it is
    first asked for, so that searches with the same filter cost nothing that grows with all items.
    """

    def __init__(self, mask: np.ndarray) -> None:
        """mask (np.ndarray): bool (items,): which may be found."""
        self.mask = mask

    @cached_property
    def count(self) -> int:
        """The number of allowed items.

        RETURNS (int): How many may be found.
        """
        return int(np.count_nonzero(self.mask))

    @cached_property
    def items(self) -> np.ndarray:
        """The allowed items by number.

        RETURNS (Ints1d): int64 (count,): the items, ascending.
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
        """What scores of items are changed by.

        RETURNS (Floats1d): float32 (items,): 0 for what may be found, -inf for the rest: added
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


# Rows that may be among the nearest of a query, and their scores.
_Scored = tuple[np.ndarray, np.ndarray]


def rescore(vectors: Vectors, queries: Raw, proposed: Iterable[np.ndarray], n: int) -> Neighbours:
    """Keep the best proposals by exact score.

    vectors (Vectors): The items.
    queries (Floats2d): float32 (b, width), at unit length unless the vectors are scaled.
    proposed (Iterable[Ints1d]): The proposals for each query, without duplicates.
    n (int): How many to keep.
    RETURNS (Neighbours): (b, n) neighbours.
    """
    scored = [(rows, vectors.rescore(queries, query, rows)) for query, rows in enumerate(proposed)]
    return _best(scored, n)


def _best(scored: Sequence[_Scored], n: int) -> Neighbours:
    """RETURNS (Neighbours): (b, n), the best of what was proposed for each of b queries."""
    items = np.full((len(scored), n), -1, dtype="int64")
    scores = np.full(items.shape, -np.inf, dtype="float32")
    for query, (rows, own) in enumerate(scored):
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


class Backend(Protocol):
    """Builds and opens searchers, e.g. `AnnoyIndex` and `ExactIndex`.

    extra (str): The extra of spacy-connorm that it needs; empty if none. What its scores are says
        `vectors.metric_of`.
    """

    extra: ClassVar[str]

    @property
    def dtype(self) -> Any: ...

    def build(self, vectors: Vectors, path: Path, earlier: Earlier | None = None) -> str | None:
        """Write what a searcher over the vectors needs, if anything.

        vectors (Vectors): The items, one per row.
        path (Path): The file to write, which is not the earlier one.
        earlier (Optional[Earlier]): What it built before, of which it may keep what still fits.
        RETURNS (Optional[str]): What became of that, for the manifest; None if there is nothing to
            tell.
        """

    def open(self, vectors: Vectors, path: Path) -> Searcher:
        """Open what `build` wrote, as a searcher over the same vectors."""


# How much more it costs to compare scattered rows than consecutive ones.
_SCATTERED_COST = 4
# How many scores are computed at once, in a core's cache, and how many are kept in memory.
_COMPUTED = 1 << 17
_KEPT = 1 << 24
# The best of at most so many scores stands for all of them, and of how many such groups each of the
# nearest may choose one: fewer leave more rows to compare again.
_GROUP = 64
_GROUPS_FOR_ONE = 8


@dataclass(frozen=True)
class ExactIndex:
    """Settings of the exact backend, `spacy-connorm.ExactIndex.v1`.

    dtype (str): How dense vectors are stored: int8 quarters the file, and is searched several
        times as fast. Scores are float32, and exact for the stored vectors.
    metric (str): "cosine"; or "dot": vectors keep the lengths that the encoder gives them, and
        scores are inner products.
    """

    extra: ClassVar[str] = ""

    dtype: Literal["float32", "int8"] = "float32"
    metric: Metric = "cosine"

    def __post_init__(self) -> None:
        """RAISES (ConnormError): CN118 for an invalid setting."""
        require_choice("dtype", self.dtype, DTYPES)
        require_choice("metric", self.metric, METRICS)

    def build(self, vectors: Vectors, path: Path, earlier: Earlier | None = None) -> None:
        """Do nothing: an exact search only needs the vectors."""

    def open(self, vectors: Vectors, path: Path) -> "ExactSearcher":
        """Open a searcher.

        RETURNS (ExactSearcher): A searcher over the vectors.
        """
        return ExactSearcher(vectors)


class ExactSearcher:
    """Compares every query with every vector."""

    def __init__(self, vectors: Vectors) -> None:
        """vectors (Vectors): The items, one per row."""
        self.vectors = vectors

    def __len__(self) -> int:
        return len(self.vectors)

    def nearest(self, queries: Raw, n: int, allowed: AllowedItems | None = None) -> Neighbours:
        """Find the n nearest items of each query.

        queries (Union[Floats2d, csr_matrix]): (b, width): at unit length, unless the vectors are
            scaled.
        n (int): How many.
        allowed (Optional[AllowedItems]): The items that may be found; all if None.
        RETURNS (Neighbours): Exact float32 scores of the nearest, ties in item order. Neither
            depends on the other queries of the batch.
        """
        size = len(self.vectors)
        n = min(n, size)
        at_once = max(_KEPT // max(size, 1), 1)
        scored: list[_Scored] = []
        for first in range(0, queries.shape[0], at_once):
            scored += self._propose(queries[first : first + at_once], n, allowed)
        return _best(scored, n)

    def complete(
        self, found: Neighbours, queries: Raw, wanted: int, allowed: AllowedItems | None
    ) -> Neighbours:
        """Search again for queries for which another search found too few neighbours.

        found (Neighbours): (b, n) neighbours, changed in place.
        queries (Floats2d): float32 (b, width), as for `nearest`.
        wanted (int): How many neighbours each query must have, at most n.
        allowed (Optional[AllowedItems]): The items that may be found; all if None.
        RETURNS (Neighbours): The same neighbours, completed.
        """
        short = np.flatnonzero(np.count_nonzero(found.items >= 0, axis=1) < wanted)
        if len(short):
            best = self.nearest(queries[short], found.items.shape[1], allowed)
            found.items[short, : best.items.shape[1]] = best.items
            found.scores[short, : best.scores.shape[1]] = best.scores
        return found

    def verify(self, path: Path) -> None:
        """Do nothing: only the vectors are searched."""

    def _propose(self, queries: Raw, n: int, allowed: AllowedItems | None) -> list[_Scored]:
        """RETURNS (List[Tuple[Ints1d, Floats1d]]): What can be among the n nearest of each query,
        int64, and its exact scores, float32.
        """
        size = len(self.vectors)
        few = allowed is not None and allowed.count * _SCATTERED_COST < size
        rows = allowed.items if allowed is not None and few else None
        count, batch = size if rows is None else len(rows), queries.shape[0]
        group = min(max(count // (_GROUPS_FOR_ONE * max(n, 1)), 1), _GROUP)
        groups = -(-count // group)
        scores = np.full((group * groups, batch), -np.inf, dtype="float32")
        dots, error = self.vectors.compare(queries)
        step = max(_COMPUTED // max(batch, 1), 1)
        for start in range(0, count, step):
            stop = min(start + step, count)
            if rows is not None:
                chosen = self.vectors.take(rows[start:stop]).compare(queries)
                scores[start:stop] = chosen.dots(0, stop - start)
                continue
            scores[start:stop] = dots(start, stop)
            if allowed is not None:
                scores[start:stop] += allowed.penalties[start:stop, None]
        found = _near_best(scores.reshape(group, groups, batch), n, error)
        if rows is not None:
            found = [(rows[items], own) for items, own in found]
        if error.any():
            for query, (items, _) in enumerate(found):
                found[query] = items, self.vectors.rescore(queries, query, items)
        return found


def _near_best(scores: np.ndarray, n: int, error: np.ndarray) -> list[_Scored]:
    """Find the items that can be among the n best.

    scores (Floats3d): float32 (group, groups, b): -inf for what may not be found.
    n (int): How many are wanted.
    error (Floats1d): float32 (b,): by how much the scores may be off.
    RETURNS (List[Tuple[Ints1d, Floats1d]]): Of each query the items, int64, and their scores.
        Exactly n if its scores are never off: all others may be at the same score.
    """
    _, groups, batch = scores.shape
    if not groups or not n:
        return [(np.empty(0, dtype="int64"), np.empty(0, dtype="float32"))] * batch
    best = scores.max(axis=0)
    last = max(groups - n, 0)
    # At least n items score as high; written so that NaN is found, and then refused.
    least = np.partition(best, last, axis=0)[last] - 2 * error
    group, query = np.nonzero(~(best < least))
    values = scores[:, group, query]
    place, which = np.nonzero(~(values < least[query]) & (values != -np.inf))
    items, query, values = place * groups + group[which], query[which], values[place, which]
    order = np.lexsort((items, -values, query))
    counts = np.bincount(query, minlength=batch)
    rank = np.arange(len(order)) - np.repeat(np.cumsum(counts) - counts, counts)
    order = order[(rank < n) | (error[query[order]] > 0)]
    bounds = np.searchsorted(query[order], np.arange(1, batch))
    return list(zip(np.split(items[order], bounds), np.split(values[order], bounds), strict=True))
