"""An inverted index of sparse vectors: a search reads only the features of the query."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import require_installed
from ...files.checksums import damaged
from ..vectors.arrays import make_csr, open_csr, write_csr
from ..vectors.sparse import SparseVectors
from .protocol import Neighbours

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix


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
