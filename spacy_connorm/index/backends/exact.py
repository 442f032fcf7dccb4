"""The interface of search backends, and the exact backend, which the others fall back on: all
vectors are compared by the fastest available method, and those that could be among the nearest are
compared again in float32.
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


# Rows that may be among the nearest to a query, and their scores.
_Scored = tuple[np.ndarray, np.ndarray]


def rescore(vectors: Vectors, queries: Raw, proposed: Iterable[np.ndarray], n: int) -> Neighbours:
    """Keep the best proposals by exact score.

    vectors (Vectors): The items.
    queries (Floats2d): float32 (b, width), at unit length unless the vectors are scaled.
    proposed (Iterable[Ints1d]): The proposals for each query, without duplicates.
    n (int): The number to keep.
    RETURNS (Neighbours): (b, n) neighbours.
    """
    scored = [(rows, vectors.rescore(queries, query, rows)) for query, rows in enumerate(proposed)]
    return _best(scored, n)


def _best(scored: Sequence[_Scored], n: int) -> Neighbours:
    """Select the best proposals for each of b queries.

    RETURNS (Neighbours): (b, n) neighbours.
    """
    items = np.full((len(scored), n), -1, dtype="int64")
    scores = np.full(items.shape, -np.inf, dtype="float32")
    for query, (rows, own) in enumerate(scored):
        order = np.lexsort((rows, -own))[:n]
        items[query, : len(order)] = rows[order]
        scores[query, : len(order)] = own[order]
    return Neighbours(items, scores)


def require_positive_settings(backend: Any, *settings: str) -> None:
    """Refuse settings of a backend that are below 1.

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
        n (int): The number of items.
        allowed (Optional[AllowedItems]): The items that may be found; all if None.
        RETURNS (Neighbours): b rows.
        """

    def verify(self, path: Path) -> None:
        """Check that the searcher holds every item once, and nothing else.

        path (Path): The file written by the backend's `build`.
        RAISES (ConnormError): CN402.
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
    """Builds and opens searchers, e.g. `AnnoyIndex` and `ExactIndex`. For the metric of its scores,
    see `vectors.metric_of`.

    extra (str): The extra of spacy-connorm that it needs; empty if none.
    """

    extra: ClassVar[str]

    @property
    def dtype(self) -> Any: ...

    def build(self, vectors: Vectors, path: Path, earlier: Earlier | None = None) -> str | None:
        """Write the file that a searcher over the vectors needs, if any.

        vectors (Vectors): The items, one per row.
        path (Path): The file to write; different from the earlier one.
        earlier (Optional[Earlier]): An earlier build, of which it may reuse parts.
        RETURNS (Optional[str]): A note for the manifest on what was reused; None if there is
            nothing to note.
        """

    def open(self, vectors: Vectors, path: Path) -> Searcher:
        """Open the file written by `build`, as a searcher over the same vectors."""


# The cost of comparing scattered rows, relative to consecutive ones.
_SCATTERED_COST = 4
# The number of scores computed at once, in a core's cache, and the number kept in memory.
_COMPUTED = 1 << 17
_KEPT = 1 << 24
# Scores are reduced to the best of each group of at most this many; the second number is how many
# groups there are for each of the nearest: fewer groups leave more rows to compare again.
_GROUP = 64
_GROUPS_FOR_ONE = 8


@dataclass(frozen=True)
class ExactIndex:
    """Settings of the exact backend, `spacy-connorm.ExactIndex.v1`.

    dtype (str): How dense vectors are stored: int8 makes the file four times smaller, and searches
        several times faster. Scores are float32, and exact for the stored vectors.
    metric (str): "cosine" or "dot". With "dot", vectors keep the lengths given by the encoder, and
        scores are inner products.
    """

    extra: ClassVar[str] = ""

    dtype: Literal["float32", "int8"] = "float32"
    metric: Metric = "cosine"

    def __post_init__(self) -> None:
        """Check the settings.

        RAISES (ConnormError): CN118 for an invalid setting.
        """
        require_choice("dtype", self.dtype, DTYPES)
        require_choice("metric", self.metric, METRICS)

    def build(self, vectors: Vectors, path: Path, earlier: Earlier | None = None) -> None:
        """Do nothing: an exact search only needs the vectors."""

    def open(self, vectors: Vectors, path: Path) -> "ExactSearcher":
        """Open a searcher.

        RETURNS (ExactSearcher): It compares with all of the vectors.
        """
        return ExactSearcher(vectors)


class ExactSearcher:
    """Compares every query with every vector."""

    def __init__(self, vectors: Vectors) -> None:
        """Store the vectors.

        vectors (Vectors): The items, one per row.
        """
        self.vectors = vectors

    def __len__(self) -> int:
        return len(self.vectors)

    def nearest(self, queries: Raw, n: int, allowed: AllowedItems | None = None) -> Neighbours:
        """Find the n nearest items of each query.

        queries (Union[Floats2d, csr_matrix]): (b, width): at unit length, unless the vectors are
            scaled.
        n (int): The number of items.
        allowed (Optional[AllowedItems]): The items that may be found; all if None.
        RETURNS (Neighbours): The nearest items with exact float32 scores, ties in item order. The
            result for a query does not depend on the other queries in the batch.
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
        wanted (int): The number of neighbours that each query must have, at most n.
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
        """Find the items that can be among the n nearest of each query.

        RETURNS (List[Tuple[Ints1d, Floats1d]]): The items, int64, and their exact scores, float32.
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

    scores (Floats3d): float32 (group, groups, b): -inf for items that may not be found.
    n (int): The number of items wanted.
    error (Floats1d): float32 (b,): the maximum error of the scores.
    RETURNS (List[Tuple[Ints1d, Floats1d]]): For each query, the items, int64, and their scores.
        Exactly n if the scores have no error, even if other items have the same score.
    """
    _, groups, batch = scores.shape
    if not groups or not n:
        return [(np.empty(0, dtype="int64"), np.empty(0, dtype="float32"))] * batch
    best = scores.max(axis=0)
    last = max(groups - n, 0)
    # At least n items have such a score. The condition is written so that NaN passes, and is
    # refused later.
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
