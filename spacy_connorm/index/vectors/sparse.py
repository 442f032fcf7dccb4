"""Sparse unit vectors, such as those of n-grams."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from .arrays import make_csr, write_csr
from .dense import RowScores

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix


class SparseVectors:
    """Vectors as a CSR matrix of float32."""

    is_scaled = False

    def __init__(self, unit: "csr_matrix", norms: np.ndarray) -> None:
        """Wrap a matrix.

        unit (csr_matrix): (n, width) rows of length one (or zero).
        norms (Floats1d): (n,) the original lengths of the rows.
        """
        self.unit = unit
        self.norms = norms
        self.width = int(unit.shape[1])

    @classmethod
    def from_raw(cls, raw: "csr_matrix") -> "SparseVectors":
        """RETURNS (SparseVectors): The vectors at unit length, and their lengths; float32.

        raw (csr_matrix): (n, width) vectors of any length.
        """
        from scipy import sparse

        raw = sparse.csr_matrix(raw, dtype="float32")
        norms = np.sqrt(np.asarray(raw.multiply(raw).sum(axis=1)).ravel()).astype("float32")
        scale = sparse.diags(1 / np.where(norms > 0, norms, 1), dtype="float32")
        return cls(sparse.csr_matrix(scale @ raw), norms)

    @property
    def widths(self) -> dict[str, int]:
        return {"sparse": self.width}

    def __len__(self) -> int:
        return int(self.unit.shape[0])

    def view(self, start: int, stop: int) -> "SparseVectors":
        first, last = self.unit.indptr[start], self.unit.indptr[stop]
        pointers = self.unit.indptr[start : stop + 1] - first
        parts = (self.unit.data[first:last], self.unit.indices[first:last], pointers)
        return SparseVectors(make_csr(parts, self.width), self.norms[start:stop])

    def take(self, rows: np.ndarray) -> "SparseVectors":
        return SparseVectors(self.unit[rows], self.norms[rows])

    @classmethod
    def join(cls, parts: "Sequence[SparseVectors]") -> "SparseVectors":
        from scipy import sparse

        unit = sparse.vstack([part.unit for part in parts], format="csr")
        return cls(unit, np.concatenate([part.norms for part in parts]))

    def compare(self, queries: "csr_matrix") -> RowScores:
        """Compare by the features of each row, always in one order; see `Vectors.compare`."""
        columns = queries.T.toarray()
        return RowScores(
            lambda start, stop: self.view(start, stop).unit @ columns,
            np.zeros(queries.shape[0], dtype="float32"),
        )

    def rescore(self, queries: "csr_matrix", query: int, rows: np.ndarray) -> np.ndarray:
        """RETURNS (Floats1d): float32 (m,): see `Vectors.rescore`."""
        return (self.unit[rows] @ queries[query].T).toarray().ravel()

    def queries(self, rows: np.ndarray, *, weight: float = 1.0) -> "csr_matrix":
        return self.unit[rows]

    def sums(self, incidence: "csr_matrix") -> "csr_matrix":
        """RETURNS (csr_matrix): float32 (m, width): see `Vectors.sums`."""
        weights = incidence.multiply(self.norms[None, :]).tocsr().astype("float32")
        return weights @ self.unit

    def write(self, folder: Path, stem: str) -> None:
        """Write the matrix, its shape and the lengths; see `Vectors.write`."""
        write_csr(self.unit, folder, stem)
        np.save(folder / f"{stem}.shape.npy", np.asarray(self.unit.shape))
        np.save(folder / f"{stem}.norms.npy", self.norms)
