"""Search over dense and lexical vectors: each side proposes, and both scores decide.

On each side, an item that was not proposed scores at most as high as the last proposal. As long as
such items could still win, both sides propose more (the threshold algorithm of Fagin et al. 2003).
So the result is exact if the search of the dense side is.
"""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from ...encoders.protocol import HybridArray
from ...errors import require_installed
from ...files.folders import damaged
from ..vectors import HybridVectors, SparseVectors, Vectors, make_csr, open_csr, write_csr
from .exact import AllowedItems, ExactSearcher, Neighbours, rescore

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

    from .exact import Searcher

Built = TypeVar("Built")
# Proposals of each side per requested item: on MEDIC nineteen of twenty mentions need more than
# one, and one in a hundred needs more than four.
_MORE = 4
# How much more it costs to compare single rows than consecutive ones.
_SINGLE_ROW_COST = 16


class InvertedIndex:
    """For each feature, such as an n-gram, its posting list: rows and weights."""

    def __init__(self, matrix: "csr_matrix") -> None:
        """Wrap a matrix.

        matrix (csr_matrix): float32 (width, n), the transposed unit vectors.
        RAISES (ConnormError): CN126 without the library that searches it.
        """
        self._matrix = matrix
        self._library = _load_library()

    @classmethod
    def from_vectors(cls, vectors: SparseVectors) -> "InvertedIndex":
        """RETURNS (InvertedIndex): The index of some vectors.
        RAISES (ConnormError): CN126 without the library that searches it.
        """
        return cls(vectors.unit.T.tocsr())

    def nearest(self, queries: "csr_matrix", n: int) -> Neighbours:
        """Find the n rows with the highest cosines among those that share a feature with a query.

        queries (csr_matrix): (b, width) unit vectors.
        n (int): How many.
        RETURNS (Neighbours): Exact float32 cosines; 0 instead of -inf if fewer rows share a feature
            with the query, since 0 is the cosine of all others.
        """
        kind = self._matrix.indices.dtype
        parts = (queries.data, queries.indices.astype(kind), queries.indptr.astype(kind))
        aligned = make_csr(parts, queries.shape[1])
        best = self._library.sp_matmul_topn(aligned, self._matrix, top_n=n, sort=True)
        found = np.arange(n) < np.diff(best.indptr)[:, None]
        items = np.full(found.shape, -1, dtype="int64")
        scores = np.zeros(found.shape, dtype="float32")
        # If nothing is found, the library leaves one value behind.
        items[found], scores[found] = best.indices[: best.indptr[-1]], best.data[: best.indptr[-1]]
        return Neighbours(items, scores)

    def verify(self, vectors: SparseVectors, path: Path) -> None:
        """Check that the lists have the features of all vectors, and nothing else.

        vectors (SparseVectors): The vectors.
        path (Path): The file of the dense vectors, beside those of the lists.
        RAISES (ConnormError): CN402.
        """
        differing = abs(self._matrix.T.tocsr() - vectors.unit)
        if differing.nnz and differing.max() > 0:
            path = path.with_name(f"{path.stem}.postings.data.npy")
            raise damaged(path, "its lists are not those of the vectors")

    def write(self, folder: Path, stem: str) -> None:
        write_csr(self._matrix, folder, stem)

    @classmethod
    def open(cls, folder: Path, stem: str, *, rows: int, width: int) -> "InvertedIndex":
        """Open an inverted index, memory-mapped.

        folder (Path): The folder of its files.
        stem (str): How their names start.
        rows (int): The number of vectors.
        width (int): The number of features.
        RETURNS (InvertedIndex): The inverted index.
        RAISES (ConnormError): CN402 if it does not belong to such vectors.
        """
        # The library takes only writable arrays.
        return cls(open_csr(folder, stem, rows=width, width=rows, writable=True))


def _load_library() -> Any:
    require_installed(
        "For a hybrid encoder, AnnoyIndex",
        "hybrid",
        "sparse_dot_topn",
        instead=', or use `index = {"@misc": "spacy-connorm.ExactIndex.v1"}`',
    )
    import sparse_dot_topn

    return sparse_dot_topn


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
