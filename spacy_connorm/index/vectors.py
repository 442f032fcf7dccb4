"""Unit vectors on disk, dense, sparse or both, opened memory-mapped.

Rows are stored at unit length beside their norms, so a cosine is one dot product and a mean of
raw vectors (the concept representation of design section 5) is still exact.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import numpy as np
from scipy import sparse

from ..joined import Joined, stack_joined

# An array, a CSR matrix or a `Joined`: whichever the encoder gives.
Raw: TypeAlias = Any

CSR_PARTS = ("data", "indices", "indptr")


class Vectors(Protocol):
    """Unit vectors, one a row."""

    unit: Any
    norms: np.ndarray
    width: int

    def __len__(self) -> int: ...

    def view(self, start: int, stop: int) -> "Vectors":
        """Rows start to stop, without a copy."""

    def dots(self, queries: Raw, start: int, stop: int) -> np.ndarray:
        """Cosines of unit queries (b, width) with rows start to stop: float32 (b, stop - start)."""

    def rescore(self, queries: Raw, query: int, rows: np.ndarray) -> np.ndarray:
        """Cosines of one query with some rows: float32 (len(rows),)."""

    def queries(self, rows: np.ndarray, *, weight: float = 1.0) -> Raw:
        """Some rows (b,) as unit queries (b, width): what their texts, encoded again, would be to
        the precision of the rows. The weight is that of the lexical side of hybrid ones."""

    def sums(self, incidence: sparse.csr_matrix) -> Raw:
        """Sums of raw vectors: (m, n) incidence times (n, width) raw vectors."""

    def write(self, folder: Path, stem: str) -> None:
        """Write the rows under `folder`, in files that begin with `stem`."""


class DenseVectors:
    """Vectors as one float32 or float16 matrix."""

    def __init__(self, unit: np.ndarray, norms: np.ndarray) -> None:
        """Wrap a matrix.

        unit (Floats2d): (n, width) rows of length one (or zero).
        norms (Floats1d): (n,) the lengths that the rows had.
        """
        self.unit = unit
        self.norms = norms
        self.width = int(unit.shape[1])

    @classmethod
    def from_raw(cls, raw: np.ndarray, *, dtype: str = "float32") -> "DenseVectors":
        raw = np.asarray(raw, dtype="float32")
        norms = np.linalg.norm(raw, axis=1)
        unit = raw / np.where(norms > 0, norms, 1)[:, None]
        return cls(unit.astype(dtype, copy=False), norms)

    def __len__(self) -> int:
        return int(self.unit.shape[0])

    def view(self, start: int, stop: int) -> "DenseVectors":
        return DenseVectors(self.unit[start:stop], self.norms[start:stop])

    def dots(self, queries: np.ndarray, start: int, stop: int) -> np.ndarray:
        return queries @ self.unit[start:stop].astype("float32", copy=False).T

    def rescore(self, queries: np.ndarray, query: int, rows: np.ndarray) -> np.ndarray:
        return self.unit[rows].astype("float32", copy=False) @ queries[query]

    def queries(self, rows: np.ndarray, *, weight: float = 1.0) -> np.ndarray:
        if self.unit.dtype == "float32":
            return self.unit[rows]
        # Rounded to fewer bits they are no longer of length one.
        return DenseVectors.from_raw(self.unit[rows]).unit

    def sums(self, incidence: sparse.csr_matrix) -> np.ndarray:
        weights = incidence.multiply(self.norms[None, :]).tocsr().astype("float32")
        return weights @ self.unit.astype("float32", copy=False)

    def write(self, folder: Path, stem: str) -> None:
        np.save(folder / f"{stem}.unit.npy", self.unit)
        np.save(folder / f"{stem}.norms.npy", self.norms)


class SparseVectors:
    """Vectors as a CSR matrix of float32."""

    def __init__(self, unit: sparse.csr_matrix, norms: np.ndarray) -> None:
        """Wrap a matrix.

        unit (csr_matrix): (n, width) rows of length one (or zero).
        norms (Floats1d): (n,) the lengths that the rows had.
        """
        self.unit = unit
        self.norms = norms
        self.width = int(unit.shape[1])

    @classmethod
    def from_raw(cls, raw: sparse.csr_matrix) -> "SparseVectors":
        raw = sparse.csr_matrix(raw, dtype="float32")
        norms = np.sqrt(np.asarray(raw.multiply(raw).sum(axis=1)).ravel()).astype("float32")
        scale = sparse.diags(1 / np.where(norms > 0, norms, 1), dtype="float32")
        return cls(sparse.csr_matrix(scale @ raw), norms)

    def __len__(self) -> int:
        return int(self.unit.shape[0])

    def view(self, start: int, stop: int) -> "SparseVectors":
        first, last = self.unit.indptr[start], self.unit.indptr[stop]
        pointers = self.unit.indptr[start : stop + 1] - first
        parts = (self.unit.data[first:last], self.unit.indices[first:last], pointers)
        return SparseVectors(make_csr(parts, self.width), self.norms[start:stop])

    def dots(self, queries: sparse.csr_matrix, start: int, stop: int) -> np.ndarray:
        return np.ascontiguousarray((self.view(start, stop).unit @ queries.T.toarray()).T)

    def rescore(self, queries: sparse.csr_matrix, query: int, rows: np.ndarray) -> np.ndarray:
        return (self.unit[rows] @ queries[query].T).toarray().ravel()

    def queries(self, rows: np.ndarray, *, weight: float = 1.0) -> sparse.csr_matrix:
        return self.unit[rows]

    def sums(self, incidence: sparse.csr_matrix) -> sparse.csr_matrix:
        weights = incidence.multiply(self.norms[None, :]).tocsr().astype("float32")
        return weights @ self.unit

    def write(self, folder: Path, stem: str) -> None:
        write_csr(self.unit, folder, stem)
        np.save(folder / f"{stem}.shape.npy", np.asarray(self.unit.shape))
        np.save(folder / f"{stem}.norms.npy", self.norms)


class HybridVectors:
    """Dense and lexical vectors of the same texts. Queries say what a lexical cosine counts."""

    def __init__(self, dense: DenseVectors, lexical: SparseVectors, *, weight: float = 1.0) -> None:
        """Put both sides together.

        dense (DenseVectors): n rows.
        lexical (SparseVectors): n rows.
        weight (float): That of `unit` as queries; what is stored has none of its own.
        """
        self.dense = dense
        self.lexical = lexical
        self.unit = Joined(dense.unit, lexical.unit, weight)
        self.norms = np.sqrt(dense.norms**2 + weight * lexical.norms**2)
        self.width = dense.width + lexical.width

    @classmethod
    def from_raw(cls, raw: Joined, *, dtype: str = "float32") -> "HybridVectors":
        dense = DenseVectors.from_raw(raw.dense, dtype=dtype)
        return cls(dense, SparseVectors.from_raw(raw.lexical), weight=raw.weight)

    def __len__(self) -> int:
        return len(self.dense)

    def view(self, start: int, stop: int) -> "HybridVectors":
        return HybridVectors(self.dense.view(start, stop), self.lexical.view(start, stop))

    def dots(self, queries: Joined, start: int, stop: int) -> np.ndarray:
        return queries.score(
            self.dense.dots(queries.dense, start, stop),
            self.lexical.dots(queries.lexical, start, stop),
        )

    def rescore(self, queries: Joined, query: int, rows: np.ndarray) -> np.ndarray:
        return queries.score(
            self.dense.rescore(queries.dense, query, rows),
            self.lexical.rescore(queries.lexical, query, rows),
        )

    def queries(self, rows: np.ndarray, *, weight: float = 1.0) -> Joined:
        return Joined(self.dense.queries(rows), self.lexical.queries(rows), weight)

    def parts(
        self, queries: Joined, asked: np.ndarray, rows: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Tell apart what `rescore` weighs, for pairs of a query and a row.

        queries (Joined): (b, width) unit vectors.
        asked (Ints1d): int64 (n,): the query of each pair.
        rows (Ints1d): int64 (n,): its row.
        RETURNS (Tuple[np.ndarray, np.ndarray]): The dense cosines and the lexical ones; float32
            (n,).
        """
        dense = np.einsum("ij,ij->i", self.dense.unit[rows], queries.dense[asked], dtype="float32")
        shared = self.lexical.unit[rows].multiply(queries.lexical[asked])
        return dense, np.asarray(shared.sum(axis=1)).ravel()

    def sums(self, incidence: sparse.csr_matrix) -> Joined:
        return Joined(self.dense.sums(incidence), self.lexical.sums(incidence))

    def write(self, folder: Path, stem: str) -> None:
        self.dense.write(folder, f"{stem}.dense")
        self.lexical.write(folder, f"{stem}.lexical")


def from_raw(raw: Raw, *, dtype: str = "float32") -> Vectors:
    """Normalize what an encoder gives.

    raw (Union[Floats2d, csr_matrix, Joined]): (n, width) vectors of any length.
    dtype (str): "float32" or "float16", for dense ones.
    RETURNS (Vectors): The same, at unit length.
    """
    if isinstance(raw, Joined):
        return HybridVectors.from_raw(raw, dtype=dtype)
    if sparse.issparse(raw):
        return SparseVectors.from_raw(raw)
    return DenseVectors.from_raw(raw, dtype=dtype)


def open_vectors(folder: Path, stem: str) -> Vectors:
    """Open vectors memory-mapped.

    folder (Path): Where they were written.
    stem (str): How their files begin.
    RETURNS (Vectors): The vectors.
    """
    if (folder / f"{stem}.dense.unit.npy").exists():
        dense: Any = open_vectors(folder, f"{stem}.dense")
        lexical: Any = open_vectors(folder, f"{stem}.lexical")
        return HybridVectors(dense, lexical)
    norms = map_array(folder / f"{stem}.norms.npy")
    if (folder / f"{stem}.unit.npy").exists():
        return DenseVectors(map_array(folder / f"{stem}.unit.npy"), norms)
    parts = tuple(map_array(folder / f"{stem}.{part}.npy") for part in CSR_PARTS)
    width = int(np.load(folder / f"{stem}.shape.npy")[1])
    return SparseVectors(make_csr(parts, width), norms)


def stack(raws: Iterable[Raw]) -> Raw:
    """Stack encoded batches: each (b, width), at least one of them.

    raws (Iterable[Union[Floats2d, csr_matrix, Joined]]): The batches.
    RETURNS (Union[Floats2d, csr_matrix, Joined]): All rows.
    """
    batches = list(raws)
    if isinstance(batches[0], Joined):
        return stack_joined(batches)
    if sparse.issparse(batches[0]):
        return sparse.vstack(batches, format="csr")
    return np.vstack(batches)


def map_array(path: Path) -> np.ndarray:
    """Open an array memory-mapped and read-only.

    path (Path): A `.npy` file.
    RETURNS (np.ndarray): A plain array over the mapped pages; `np.memmap` itself is slow to index.
    """
    return np.asarray(np.load(path, mmap_mode="r", allow_pickle=False))


def write_csr(matrix: sparse.csr_matrix, folder: Path, stem: str) -> None:
    """Write the three arrays of a CSR matrix under `folder`, in files that begin with `stem`."""
    for part in CSR_PARTS:
        np.save(folder / f"{stem}.{part}.npy", getattr(matrix, part))


def make_csr(parts: Any, width: int) -> sparse.csr_matrix:
    """RETURNS (csr_matrix): (n, width), of three arrays that are neither copied nor looked at: that
    would read the files that they are mapped from.
    """
    data, indices, pointers = parts
    matrix = sparse.csr_matrix((len(pointers) - 1, width), dtype="float32")
    matrix.data, matrix.indices, matrix.indptr = data, indices, pointers
    return matrix
