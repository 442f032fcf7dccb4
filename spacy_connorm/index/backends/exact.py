"""The exact backend, which the others fall back on: all vectors are compared by the fastest
available method, and those that could be among the nearest are compared again in float32.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import ClassVar, Literal, TypeGuard

import numpy as np

from ...encoders.raw import Raw
from ...encoders.storage import DTYPES
from ...errors import require_choice
from ...files.threads import map_in_threads, thread_count
from ..search import METRICS, Metric
from ..vectors.kinds import Vectors
from ..vectors.postings import LEAST_ROWS, Postings
from ..vectors.sparse import SparseVectors
from .protocol import AllowedItems, Earlier, Neighbours

# The cost of comparing scattered rows, relative to consecutive ones.
_SCATTERED_COST = 4
# The number of scores computed at once, in a core's cache, and the number kept in memory.
_COMPUTED = 1 << 17
_KEPT = 1 << 24
# The smallest number of vectors that a thread is started for.
_LEAST_PART = 1 << 14
# The largest number of queries compared at once: more are not faster, and memory that is too large
# for malloc to reuse costs more than it saves.
_QUERIES = 64
# Scores are reduced to the best of each group of at most this many; the second number is how many
# groups there are for each of the nearest: fewer groups leave more rows to compare again.
_GROUP = 16
_GROUPS_FOR_ONE = 8
# Postings are read if no more than this share of the items is wanted: otherwise, a product with all
# items takes less time.
_LARGEST_SHARE = 1 / 16


@dataclass(frozen=True)
class ExactIndex:
    """Settings of the exact backend, `spacy-connorm.ExactIndex.v1`.

    dtype (str): How dense vectors are stored: int8 makes the file four times smaller, and searches
        several times faster. Scores are float32, and exact for the stored vectors.
    metric (str): "cosine" or "dot". With "dot", vectors keep the lengths given by the encoder, and
        scores are inner products.
    compact (bool): Whether to write only what the vectors of n-grams can be computed from, when the
        index is opened: packages are a fifth as large, but loading takes longer, and processes do
        not share the vectors. Scores are the same.
    """

    extra: ClassVar[str] = ""

    dtype: Literal["float32", "int8"] = "float32"
    metric: Metric = "cosine"
    compact: bool = False

    def __post_init__(self) -> None:
        """Check the settings.

        RAISES (ConnormError): CN118 for an invalid setting.
        """
        require_choice("dtype", self.dtype, DTYPES)
        require_choice("metric", self.metric, METRICS)

    def build(self, vectors: Vectors, path: Path, earlier: Earlier | None = None) -> str:
        """Write what an exact search needs; see `write_exact`."""
        return write_exact(vectors, path, compact=self.compact)

    def open(self, vectors: Vectors, path: Path) -> "ExactSearcher":
        """Open a searcher; see `open_exact`."""
        return open_exact(vectors, path)


def write_exact(
    vectors: Vectors, path: Path, *, below: int | None = None, compact: bool = False
) -> str:
    """Write what an exact search needs besides the vectors: the postings of many sparse ones.

    vectors (Vectors): The items, one per row.
    path (Path): The beginning of the paths of the files.
    below (Optional[int]): The number of vectors below which another backend's search is exact.
    compact (bool): Whether to leave the postings to `open_exact`.
    RETURNS (str): What was built, and why, as from `Backend.build`.
    """
    if _have_postings(vectors) and not compact:
        Postings.from_vectors(vectors).write(path.parent, path.name)
    if "sparse" in vectors.widths:
        return "exact, as always for n-grams"
    return "exact" if below is None else f"exact, for fewer than {below:,} vectors"


def open_exact(vectors: Vectors, path: Path) -> "ExactSearcher":
    """Open an exact search.

    vectors (Vectors): The items, one per row.
    path (Path): As for `write_exact`.
    RETURNS (ExactSearcher): A searcher over the vectors.
    RAISES (ConnormError): CN402 if the files do not fit the vectors.
    """
    if not _have_postings(vectors):
        return ExactSearcher(vectors)
    if not (path.parent / f"{path.name}.levels.npy").exists():
        return ExactSearcher(vectors, Postings.from_vectors(vectors))
    size, width = len(vectors), vectors.width
    return ExactSearcher(vectors, Postings.open(path.parent, path.name, rows=size, width=width))


def _have_postings(vectors: Vectors) -> TypeGuard[SparseVectors]:
    return isinstance(vectors, SparseVectors) and len(vectors) >= LEAST_ROWS


class ExactSearcher:
    """Compares queries with all vectors that can be among the nearest."""

    def __init__(self, vectors: Vectors, postings: Postings | None = None) -> None:
        """Store the vectors.

        vectors (Vectors): The items, one per row.
        postings (Optional[Postings]): Those of sparse vectors; if None, every query is compared
            with every vector.
        """
        self.vectors = vectors
        self.postings = postings
        self._size = len(vectors)

    def nearest(self, queries: Raw, n: int, allowed: AllowedItems | None = None) -> Neighbours:
        """Find the n nearest items of each query.

        queries (Union[Floats2d, csr_matrix]): (b, width): at unit length, unless the vectors are
            scaled.
        n (int): The number of items.
        allowed (Optional[AllowedItems]): The items that may be found; all if None.
        RETURNS (Neighbours): The nearest items with exact float32 scores, ties in item order. The
            result for a query does not depend on the other queries in the batch.
        """
        n = min(n, self._size)
        search = self._compare
        if self.postings is not None and queries.shape[0]:
            possible = self._size if allowed is None else allowed.count
            # To compare a few allowed items alone is faster than to read postings.
            are_few = possible * _SCATTERED_COST < self._size
            if not are_few and 0 < n <= possible * _LARGEST_SHARE:
                search = partial(self._read_postings, self.postings)
        at_once = min(max(_KEPT // max(self._size, 1), 1), _QUERIES)
        if queries.shape[0] <= at_once:
            return search(queries, n, allowed)
        found = [
            search(queries[first : first + at_once], n, allowed)
            for first in range(0, queries.shape[0], at_once)
        ]
        return Neighbours(*map(np.concatenate, zip(*found, strict=True)))

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

    def _read_postings(
        self, postings: Postings, queries: Raw, n: int, allowed: AllowedItems | None
    ) -> Neighbours:
        """Find the n nearest items of sparse queries."""
        penalties = None if allowed is None else allowed.penalties
        compare = partial(self.vectors.rescore, queries)
        return _best_of_each(postings.best(queries, n, compare, penalties), n)

    def _compare(self, queries: Raw, n: int, allowed: AllowedItems | None) -> Neighbours:
        """Find the n nearest items of queries whose scores with all items fit in memory."""
        few = allowed is not None and allowed.count * _SCATTERED_COST < self._size
        rows = allowed.items if allowed is not None and few else None
        count, batch = self._size if rows is None else len(rows), queries.shape[0]
        group = min(max(count // (_GROUPS_FOR_ONE * max(n, 1)), 1), _GROUP)
        groups = -(-count // group)
        scores = np.empty((group * groups, batch), dtype="float32")
        scores[count:] = -np.inf
        dots, error = self.vectors.compare(queries)
        if rows is not None:
            dots = partial(self._dots_of_few, queries, rows)
        step = max(_COMPUTED // max(batch, 1), 1)
        threaded = count >= 2 * _LEAST_PART
        if threaded:
            step = min(step, max(-(-count // thread_count()), _LEAST_PART))
        bounds = [*range(0, count, step), count]
        calls = dots, bounds[:-1], bounds[1:]
        parts = map_in_threads(*calls) if threaded else map(*calls)
        for start, part in zip(bounds[:-1], parts, strict=True):
            scores[start : start + len(part)] = part
        if allowed is not None and rows is None:
            scores[:count] += allowed.penalties[:, None]
        query, items, values = _near_best(scores.reshape(group, groups, batch), n, error)
        if rows is not None:
            items = rows[items]
        if not error.any():
            return _best(batch, n, query, items, values)
        order = np.argsort(query, kind="stable")
        firsts = np.searchsorted(query[order], np.arange(1, batch))
        return rescore(self.vectors, queries, np.split(items[order], firsts), n)

    def _dots_of_few(self, queries: Raw, rows: np.ndarray, start: int, stop: int) -> np.ndarray:
        """Compute the scores of some of the few rows that are allowed."""
        return self.vectors.take(rows[start:stop]).compare(queries).dots(0, stop - start)


def _near_best(
    scores: np.ndarray, n: int, error: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Find the items that can be among the n best.

    scores (Floats3d): float32 (group, groups, b): -inf for items that may not be found.
    n (int): The number of items wanted.
    error (Floats1d): float32 (b,): the maximum error of the scores.
    RETURNS (Tuple[Ints1d, Ints1d, Floats1d]): (p,): the query, the item and the score of each
        proposal, for each query at least n if there are as many.
    """
    _, groups, _ = scores.shape
    if not scores.size or not n:
        return _NO_PROPOSALS
    # One row per query: a partition and a search of rows are faster than of columns.
    best = np.ascontiguousarray(scores.max(axis=0).T)
    last = max(groups - n, 0)
    # At least n items have such a score. The condition is written so that NaN passes, and is
    # refused later.
    least = np.partition(best, last, axis=1)[:, last] - 2 * error
    query, group = np.nonzero(~(best < least[:, None]))
    values = scores[:, group, query]
    place, which = np.nonzero(~(values < least[query]) & (values != -np.inf))
    return query[which], place * groups + group[which], values[place, which]


def rescore(vectors: Vectors, queries: Raw, proposed: Iterable[np.ndarray], n: int) -> Neighbours:
    """Keep the best proposals by exact score.

    vectors (Vectors): The items.
    queries (Floats2d): float32 (b, width), at unit length unless the vectors are scaled.
    proposed (Iterable[Ints1d]): The proposals for each query, without duplicates.
    n (int): The number to keep.
    RETURNS (Neighbours): (b, n) neighbours.
    """
    found = [(rows, vectors.rescore(queries, query, rows)) for query, rows in enumerate(proposed)]
    return _best_of_each(found, n)


def _best_of_each(found: Sequence[tuple[np.ndarray, np.ndarray]], n: int) -> Neighbours:
    """Select the best of the items and scores that were proposed for each query."""
    if not found:
        return _best(0, n, *_NO_PROPOSALS)
    items, scores = zip(*found, strict=True)
    query = np.repeat(np.arange(len(found)), [*map(len, items)])
    return _best(len(found), n, query, np.concatenate(items), np.concatenate(scores))


def _best(
    batch: int, n: int, query: np.ndarray, items: np.ndarray, scores: np.ndarray
) -> Neighbours:
    """Select the best of p proposals.

    batch (int): The number of queries, b.
    n (int): The number to keep for each.
    query, items, scores (np.ndarray): (p,): the query, the item and the score of each proposal.
    RETURNS (Neighbours): (b, n) neighbours.
    """
    order = np.lexsort((items, -scores, query))
    counts = np.bincount(query, minlength=batch)
    rank = np.arange(len(order)) - np.repeat(np.cumsum(counts) - counts, counts)
    order, rank = order[rank < n], rank[rank < n]
    found = Neighbours(
        np.full((batch, n), -1, dtype="int64"), np.full((batch, n), -np.inf, dtype="float32")
    )
    found.items[query[order], rank] = items[order]
    found.scores[query[order], rank] = scores[order]
    return found


# The queries, items and scores of no proposals.
_NO_PROPOSALS = np.empty(0, "int64"), np.empty(0, "int64"), np.empty(0, "float32")
