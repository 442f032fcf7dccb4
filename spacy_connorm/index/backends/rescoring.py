"""What approximate searches share: the exact cosines of what they propose decide."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ...encoders.vectors import Raw
from ..vectors.base import HybridVectors, SparseVectors, Vectors
from .exact import ExactSearcher
from .hybrid import HybridSearcher
from .inverted_index import InvertedIndex
from .protocol import Neighbours

if TYPE_CHECKING:
    from .protocol import Searcher

# Vectors read at once.
_BLOCK = 16_384


def build_dense(vectors: Vectors, path: Path, build: Callable[[Vectors, Path], None]) -> None:
    """Build what a search over dense vectors needs. Sparse vectors get nothing: they are searched
    exactly; those beside dense ones, by their features.

    vectors (Vectors): The items, one a row.
    path (Path): The file to write. Features stand in others beside it.
    build (Callable): Writes that file for dense vectors.
    """
    if isinstance(vectors, HybridVectors):
        build(vectors.dense, path)
        InvertedIndex.from_vectors(vectors.lexical).write(path.parent, _postings_of(path))
    elif not isinstance(vectors, SparseVectors):
        build(vectors, path)


def open_dense(
    vectors: Vectors, path: Path, open: Callable[[Vectors, Path], "Searcher"]
) -> "Searcher":
    """Open what `build_dense` wrote.

    vectors (Vectors): The items, one a row.
    path (Path): The file.
    open (Callable): Opens it for dense vectors.
    RETURNS (Searcher): A searcher over all sides of the vectors.
    """
    if isinstance(vectors, HybridVectors):
        postings = InvertedIndex.open(path.parent, _postings_of(path), rows=len(vectors))
        return HybridSearcher(vectors, open(vectors.dense, path), postings)
    if isinstance(vectors, SparseVectors):
        return ExactSearcher(vectors)
    return open(vectors, path)


def _postings_of(path: Path) -> str:
    return f"{path.stem}.postings"


def blocks(vectors: Vectors) -> Iterator[np.ndarray]:
    """YIELDS (Floats2d): All vectors in order: float32 unit vectors, some thousands at a time."""
    for start in range(0, len(vectors), _BLOCK):
        yield vectors.queries(np.arange(start, min(start + _BLOCK, len(vectors))))


def rescore(vectors: Vectors, queries: Raw, proposed: Iterable[np.ndarray], n: int) -> Neighbours:
    """Choose the best of what is proposed, by exact cosine.

    vectors (Vectors): The items.
    queries (Floats2d): float32 (b, width) unit vectors.
    proposed (Iterable[Ints1d]): Different items for each query.
    n (int): How many of them are kept.
    RETURNS (Neighbours): (b, n) neighbours.
    """
    items = np.full((queries.shape[0], n), -1, dtype="int64")
    scores = np.full(items.shape, -np.inf, dtype="float32")
    for query, rows in enumerate(proposed):
        cosines = vectors.rescore(queries, query, rows)
        order = np.lexsort((rows, -cosines))[:n]
        items[query, : len(order)] = rows[order]
        scores[query, : len(order)] = cosines[order]
    return Neighbours(items, scores)


def fill_exactly(
    found: Neighbours,
    exact: ExactSearcher,
    queries: Raw,
    *,
    wanted: int,
    allowed: np.ndarray | None,
) -> Neighbours:
    """Search exactly for those queries that found too little.

    found (Neighbours): (b, n) neighbours.
    exact (ExactSearcher): Finds all there are.
    queries (Floats2d): float32 (b, width) unit vectors.
    wanted (int): How many neighbours each must have, at most n.
    allowed (Optional[np.ndarray]): bool (items,): the items that may be found.
    RETURNS (Neighbours): The same, in place.
    """
    short = np.flatnonzero(np.count_nonzero(found.items >= 0, axis=1) < wanted)
    if len(short):
        best = exact.nearest(queries[short], found.items.shape[1], allowed)
        found.items[short, : best.items.shape[1]] = best.items
        found.scores[short, : best.scores.shape[1]] = best.scores
    return found
