"""What approximate searches share: files, blocks of vectors, and exact searches that help out."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from ...encoders.vectors import Raw
from ..vectors.base import HybridVectors, Vectors
from .allowed_items import AllowedItems
from .exact import ExactSearcher
from .hybrid import HybridSearcher
from .inverted_index import InvertedIndex
from .protocol import Neighbours

if TYPE_CHECKING:
    from .protocol import Searcher

# How many vectors are read at once.
_BLOCK = 16_384
Built = TypeVar("Built")


def build_dense(
    vectors: Vectors, path: Path, build: Callable[[Vectors, Path], Built]
) -> Built | None:
    """Build what an approximate search needs. Sparse vectors need nothing, they are searched
    exactly; the lexical side of hybrid vectors gets an inverted index.

    vectors (Vectors): The items, one per row.
    path (Path): The file for dense vectors; an inverted index is written beside it.
    build (Callable): Writes that file.
    RETURNS (Optional[Built]): What `build` returned; None if it was not called.
    """
    if isinstance(vectors, HybridVectors):
        InvertedIndex.from_vectors(vectors.lexical).write(path.parent, _postings_of(path))
        return build(vectors.dense, path)
    return None if "sparse" in vectors.widths else build(vectors, path)


def open_dense(
    vectors: Vectors, path: Path, open: Callable[[Vectors, Path], "Searcher"]
) -> "Searcher":
    """Open what `build_dense` wrote.

    vectors (Vectors): The items, one per row.
    path (Path): The file for dense vectors.
    open (Callable): Opens that file.
    RETURNS (Searcher): A searcher over the vectors.
    """
    if isinstance(vectors, HybridVectors):
        lexical = InvertedIndex.open(
            path.parent, _postings_of(path), rows=len(vectors), width=vectors.lexical.width
        )
        return HybridSearcher(vectors, open(vectors.dense, path), lexical)
    if "sparse" in vectors.widths:
        return ExactSearcher(vectors)
    return open(vectors, path)


def _postings_of(path: Path) -> str:
    return f"{path.stem}.postings"


def blocks(vectors: Vectors) -> Iterator[np.ndarray]:
    """YIELDS (Floats2d): All vectors in order as float32 unit vectors, some thousands at a time."""
    for rows in row_blocks(np.arange(len(vectors))):
        yield vectors.queries(rows)


def row_blocks(rows: np.ndarray) -> Iterator[np.ndarray]:
    """YIELDS (Ints1d): Some thousand rows at a time."""
    for start in range(0, len(rows), _BLOCK):
        yield rows[start : start + _BLOCK]


def fill_exactly(
    found: Neighbours,
    exact: ExactSearcher,
    queries: Raw,
    *,
    wanted: int,
    allowed: AllowedItems | None,
) -> Neighbours:
    """Repeat the search exactly for queries that found too few neighbours.

    found (Neighbours): (b, n) neighbours, changed in place.
    exact (ExactSearcher): A searcher over the same items.
    queries (Floats2d): float32 (b, width), at unit length unless the vectors are scaled.
    wanted (int): How many neighbours each query must have, at most n.
    allowed (Optional[AllowedItems]): The items that may be found; all if None.
    RETURNS (Neighbours): The same neighbours, completed.
    """
    short = np.flatnonzero(np.count_nonzero(found.items >= 0, axis=1) < wanted)
    if len(short):
        best = exact.nearest(queries[short], found.items.shape[1], allowed)
        found.items[short, : best.items.shape[1]] = best.items
        found.scores[short, : best.scores.shape[1]] = best.scores
    return found
