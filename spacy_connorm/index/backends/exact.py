"""Exact search: blocked matrix products over memory-mapped vectors."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal

import numpy as np

from ...encoders.vectors import Raw
from ..metrics import Metric, require_metric
from ..vectors.base import Vectors
from .allowed_items import AllowedItems
from .proposals import rescore
from .protocol import Neighbours, require_positive_settings

# How much more it costs to compare scattered rows than consecutive ones.
_SCATTERED_COST = 4
# With fewer queries, more vectors are compared at once, so the scores take the same memory.
_FEW = 32


@dataclass(frozen=True)
class ExactIndex:
    """Settings of the exact backend, `spacy-connorm.ExactIndex.v1`.

    dtype (str): How dense vectors are stored: float16 halves the file, int8 quarters it. Scores are
        float32, and exact for the stored vectors.
    block_rows (int): How many vectors are compared at once with 32 queries or more; with fewer
        queries, proportionally more.
    metric (str): "cosine"; or "dot": vectors keep the lengths that the encoder gives them, and
        scores are inner products.
    """

    extra: ClassVar[str] = ""

    dtype: Literal["float32", "float16", "int8"] = "float32"
    block_rows: int = 32768
    metric: Metric = "cosine"

    def __post_init__(self) -> None:
        """RAISES (ConnormError): CN006 for an invalid setting."""
        require_metric(self.metric)
        require_positive_settings(self, "block_rows")

    def build(self, vectors: Vectors, path: Path) -> None:
        """Do nothing: an exact search only needs the vectors."""

    def open(self, vectors: Vectors, path: Path) -> "ExactSearcher":
        """RETURNS (ExactSearcher): A searcher over the vectors."""
        return ExactSearcher(vectors, block_rows=self.block_rows)


class ExactSearcher:
    """Compares every query with every vector."""

    def __init__(self, vectors: Vectors, *, block_rows: int = 32768) -> None:
        """Wrap vectors.

        vectors (Vectors): The items, one per row.
        block_rows (int): How many rows are compared at once, see `ExactIndex`.
        """
        self.vectors = vectors
        self.block_rows = block_rows

    def __len__(self) -> int:
        return len(self.vectors)

    def nearest(self, queries: Raw, n: int, allowed: AllowedItems | None = None) -> Neighbours:
        """Find the n nearest items of each query.

        queries (Union[Floats2d, csr_matrix]): (b, width): at unit length, unless the vectors are
            scaled.
        n (int): How many.
        allowed (Optional[AllowedItems]): The items that may be found; all if None.
        RETURNS (Neighbours): Exact float32 scores, which do not depend on the other queries of
            the batch.
        """
        if allowed is not None and allowed.count * _SCATTERED_COST < len(self):
            found = self._find_among(queries, min(n, len(self)), allowed.items)
        else:
            found = self._find(queries, n, allowed)
        if "dense" in self.vectors.widths:
            return self._rescored(found, queries)
        return found

    def verify(self, path: Path) -> None:
        """Do nothing: only the vectors are searched."""

    def _rescored(self, found: Neighbours, queries: Raw) -> Neighbours:
        """Make scores independent of the batch: the order of summation in a matrix product depends
        on its size.
        """
        proposed = (np.sort(items[items >= 0]) for items in found.items)
        return rescore(self.vectors, queries, proposed, found.items.shape[1])

    def _find(self, queries: Raw, n: int, allowed: AllowedItems | None) -> Neighbours:
        found = Neighbours(*_nothing(queries.shape[0]))
        for start, scores in self._blocks(queries):
            if allowed is not None:
                scores = np.where(allowed.mask[start : start + scores.shape[1]], scores, -np.inf)
            best = _better if found.items.shape[1] == n else _best
            found = _keep_best(found, best(scores, found, n, start), n)
        return found

    def _find_among(self, queries: Raw, n: int, items: np.ndarray) -> Neighbours:
        """RETURNS (Neighbours): (b, n): the nearest of some items, found without reading others."""
        shape = (queries.shape[0], n)
        found = Neighbours(np.full(shape, -1, dtype="int64"), np.full(shape, -np.inf, "float32"))
        for start in range(0, len(items), self.block_rows):
            rows = items[start : start + self.block_rows]
            chosen = self.vectors.take(rows)
            best = _best(chosen.dots(queries, 0, len(rows)), found, n, 0)
            found = _keep_best(found, best._replace(items=rows[best.items]), n)
        return found

    def _blocks(self, queries: Raw) -> Iterator[tuple[int, np.ndarray]]:
        # The first block is small: ranking it is expensive, and later ones only have to beat it.
        start, rows = 0, max(1, self.block_rows // 8)
        while start < len(self.vectors):
            stop = min(start + rows, len(self.vectors))
            yield start, self.vectors.dots(queries, start, stop)
            start, rows = stop, self.block_rows * max(1, _FEW // max(1, queries.shape[0]))


def _nothing(count: int) -> tuple[np.ndarray, np.ndarray]:
    return np.empty((count, 0), dtype="int64"), np.empty((count, 0), dtype="float32")


def _best(scores: np.ndarray, found: Neighbours, n: int, start: int) -> Neighbours:
    """RETURNS (Neighbours): The n best of a block."""
    if scores.shape[1] > n:
        items = np.argpartition(scores, scores.shape[1] - n, axis=1)[:, -n:]
        scores = np.take_along_axis(scores, items, axis=1)
    else:
        items = np.broadcast_to(np.arange(scores.shape[1]), scores.shape)
    return Neighbours(items.astype("int64") + start, scores.astype("float32", copy=False))


def _better(scores: np.ndarray, found: Neighbours, n: int, start: int) -> Neighbours:
    """RETURNS (Neighbours): The items of a block that beat the worst of the n found before."""
    # NumPy finds the few places in a flat array several times as fast as in one of two dimensions.
    is_better = scores > found.scores[:, -1:]
    queries, places = np.unravel_index(np.flatnonzero(is_better), is_better.shape)
    counts = np.bincount(queries, minlength=len(scores))
    columns = np.arange(len(queries)) - np.repeat(np.cumsum(counts) - counts, counts)
    shape = (len(scores), counts.max(initial=0))
    items = np.full(shape, -1, dtype="int64")
    best = np.full(shape, -np.inf, dtype="float32")
    items[queries, columns] = places + start
    best[queries, columns] = scores[queries, places]
    return Neighbours(items, best)


def _keep_best(one: Neighbours, other: Neighbours, n: int) -> Neighbours:
    items = np.concatenate([one.items, other.items], axis=1)
    scores = np.concatenate([one.scores, other.scores], axis=1)
    items = np.where(np.isneginf(scores), -1, items)
    order = np.lexsort((items, -scores), axis=1)[:, :n]
    return Neighbours(
        np.take_along_axis(items, order, axis=1), np.take_along_axis(scores, order, axis=1)
    )
