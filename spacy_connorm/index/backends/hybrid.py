"""Search over dense and lexical vectors: each side proposes, and both scores decide.

On each side, an item that was not proposed scores at most as high as the last proposal. As long as
such items could still win, both sides propose more (the threshold algorithm of Fagin et al. 2003).
So the result is exact if the search of the dense side is.
"""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ...encoders.vectors import HybridArray
from ..vectors.base import HybridVectors
from .allowed_items import AllowedItems
from .exact import ExactSearcher
from .inverted_index import InvertedIndex
from .proposals import rescore
from .protocol import Neighbours

if TYPE_CHECKING:
    from .protocol import Searcher

# Proposals of each side per requested item: on MEDIC nineteen of twenty mentions need more than
# one, and one in a hundred needs more than four.
_MORE = 4
# How much more it costs to compare single rows than consecutive ones.
_SINGLE_ROW_COST = 16


class HybridSearcher:
    """Searches dense and lexical vectors together."""

    def __init__(self, vectors: HybridVectors, dense: "Searcher", lexical: InvertedIndex) -> None:
        """Combine both sides.

        vectors (HybridVectors): The items, one per row.
        dense (Searcher): Proposes items by dense score.
        lexical (InvertedIndex): Proposes items by lexical cosine.
        """
        self.vectors = vectors
        self._dense = dense
        self._lexical = lexical
        self._exact = ExactSearcher(vectors)

    def __len__(self) -> int:
        return len(self.vectors)

    def nearest(
        self, queries: HybridArray, n: int, allowed: AllowedItems | None = None
    ) -> Neighbours:
        """Find the n nearest items of each query.

        queries (HybridArray): (b, width), the lexical side at unit length.
        n (int): How many.
        allowed (Optional[AllowedItems]): The items that may be found; all if None.
        RETURNS (Neighbours): Exact float32 scores.
        """
        return self._nearest(queries, n, allowed, depth=_MORE * n)

    def verify(self, path: Path) -> None:
        self._dense.verify(path)
        self._lexical.verify(self.vectors.lexical, path)

    def _nearest(
        self, queries: HybridArray, n: int, allowed: AllowedItems | None, depth: int
    ) -> Neighbours:
        if depth * _SINGLE_ROW_COST > len(self):
            return self._exact.nearest(queries, n, allowed)
        dense = self._dense.nearest(queries.dense, depth, allowed)
        lexical = self._lexical.nearest(queries.lexical, depth)
        found = self._weigh(queries, np.hstack([dense.items, lexical.items]), n, allowed)
        # A row without any feature of the query has a lexical cosine of 0. If the dense side found
        # fewer items than requested, there are no others.
        others = self.vectors.score(
            queries, dense.scores[:, -1], np.maximum(lexical.scores[:, -1], 0)
        )
        uncertain = np.flatnonzero(found.scores[:, -1] < others)
        if len(uncertain):
            better = self._nearest(queries[uncertain], n, allowed, depth * _MORE)
            found.items[uncertain], found.scores[uncertain] = better
        return found

    def _weigh(
        self, queries: HybridArray, proposed: np.ndarray, n: int, allowed: AllowedItems | None
    ) -> Neighbours:
        rows = (np.unique(each[each >= 0]) for each in proposed)
        if allowed is not None:
            rows = (each[allowed.mask[each]] for each in rows)
        return rescore(self.vectors, queries, rows, n)
