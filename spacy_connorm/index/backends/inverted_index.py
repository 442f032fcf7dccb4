"""Sparse vectors by feature: a search reads only those features that the query has."""

from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from ...errors import ConnormError, Errors
from ..vectors.arrays import CSR_PARTS, make_csr, write_csr
from ..vectors.sparse import SparseVectors
from .protocol import Neighbours


class InvertedIndex:
    """For each feature, such as an n-gram, the rows that have it and its share in each."""

    def __init__(self, matrix: sparse.csr_matrix) -> None:
        """Wrap a matrix.

        matrix (csr_matrix): float32 (width, n), the unit vectors transposed.
        RAISES (ConnormError): CN415 without the library that searches them.
        """
        self._matrix = matrix
        self._library = _load_library()

    @classmethod
    def from_vectors(cls, vectors: SparseVectors) -> "InvertedIndex":
        return cls(vectors.unit.T.tocsr())

    def nearest(self, queries: sparse.csr_matrix, n: int) -> Neighbours:
        """Find the n rows with the highest cosines among those that share a feature with a query.

        queries (csr_matrix): (b, width) unit vectors.
        n (int): How many.
        RETURNS (Neighbours): Exact float32 cosines; where fewer rows share a feature, the scores
            are 0, as are those of all the others.
        """
        kind = self._matrix.indices.dtype
        parts = (queries.data, queries.indices.astype(kind), queries.indptr.astype(kind))
        aligned = make_csr(parts, queries.shape[1])
        best = self._library.sp_matmul_topn(aligned, self._matrix, top_n=n, sort=True)
        found = np.arange(n) < np.diff(best.indptr)[:, None]
        items = np.full(found.shape, -1, dtype="int64")
        scores = np.zeros(found.shape, dtype="float32")
        # Where nothing is found at all, the library leaves one value behind.
        items[found], scores[found] = best.indices[: best.indptr[-1]], best.data[: best.indptr[-1]]
        return Neighbours(items, scores)

    def write(self, folder: Path, stem: str) -> None:
        write_csr(self._matrix, folder, stem)

    @classmethod
    def open(cls, folder: Path, stem: str, *, rows: int) -> "InvertedIndex":
        """Open postings memory-mapped.

        folder (Path): Where they were written.
        stem (str): How their files begin.
        rows (int): n, which no file tells.
        RETURNS (InvertedIndex): The postings.
        """
        # The library takes only arrays that can be written to; a write would stay in this process.
        parts = (
            np.asarray(np.load(folder / f"{stem}.{part}.npy", mmap_mode="c")) for part in CSR_PARTS
        )
        return cls(make_csr(tuple(parts), rows))


def _load_library() -> Any:
    try:
        import sparse_dot_topn
    except ImportError as error:
        raise ConnormError(Errors.CN415.format()) from error
    return sparse_dot_topn
