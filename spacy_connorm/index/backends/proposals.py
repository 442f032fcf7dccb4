"""Exact scores decide among what a search proposes."""

from collections.abc import Iterable

import numpy as np

from ...encoders.vectors import Raw
from ..vectors.base import Vectors
from .protocol import Neighbours


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
