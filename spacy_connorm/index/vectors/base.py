"""Unit vectors on disk, dense, sparse or both, opened memory-mapped.

Rows are stored at unit length beside their norms, so a cosine is one dot product and a mean of
raw vectors (the concept representation of design section 5) is still exact.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from scipy import sparse

from ...encoders.vectors import HybridArray, Raw
from .arrays import CSR_PARTS, make_csr, map_array
from .dense import DenseVectors, QuantizedVectors
from .sparse import SparseVectors


class Vectors(Protocol):
    """Unit vectors, one a row."""

    norms: np.ndarray
    width: int

    @property
    def unit(self) -> Any:
        """Every row; of those that are stored as they are, without a copy."""

    def __len__(self) -> int: ...

    def view(self, start: int, stop: int) -> "Vectors":
        """Rows start to stop, without a copy."""

    def take(self, rows: np.ndarray) -> "Vectors":
        """Some rows, copied bit by bit."""

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


class HybridVectors:
    """Dense and lexical vectors of the same texts. Queries say what a lexical cosine counts."""

    def __init__(
        self,
        dense: DenseVectors | QuantizedVectors,
        lexical: SparseVectors,
        *,
        weight: float = 1.0,
    ) -> None:
        """Put both sides together.

        dense (Union[DenseVectors, QuantizedVectors]): n rows.
        lexical (SparseVectors): n rows.
        weight (float): That of `unit` as queries; what is stored has none of its own.
        """
        self.dense = dense
        self.lexical = lexical
        self.weight = weight
        self.norms = np.sqrt(dense.norms**2 + weight * lexical.norms**2)
        self.width = dense.width + lexical.width

    @classmethod
    def from_raw(cls, raw: HybridArray, *, dtype: str = "float32") -> "HybridVectors":
        lexical = SparseVectors.from_raw(raw.lexical)
        return cls(_dense(raw.dense, dtype), lexical, weight=raw.weight)

    @property
    def unit(self) -> HybridArray:
        """RETURNS (HybridArray): Every row of both sides."""
        return HybridArray(self.dense.unit, self.lexical.unit, self.weight)

    def __len__(self) -> int:
        return len(self.dense)

    def view(self, start: int, stop: int) -> "HybridVectors":
        return HybridVectors(self.dense.view(start, stop), self.lexical.view(start, stop))

    def take(self, rows: np.ndarray) -> "HybridVectors":
        return HybridVectors(self.dense.take(rows), self.lexical.take(rows))

    def dots(self, queries: HybridArray, start: int, stop: int) -> np.ndarray:
        return queries.score(
            self.dense.dots(queries.dense, start, stop),
            self.lexical.dots(queries.lexical, start, stop),
        )

    def rescore(self, queries: HybridArray, query: int, rows: np.ndarray) -> np.ndarray:
        return queries.score(
            self.dense.rescore(queries.dense, query, rows),
            self.lexical.rescore(queries.lexical, query, rows),
        )

    def queries(self, rows: np.ndarray, *, weight: float = 1.0) -> HybridArray:
        return HybridArray(self.dense.queries(rows), self.lexical.queries(rows), weight)

    def parts(
        self, queries: HybridArray, asked: np.ndarray, rows: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Tell apart what `rescore` weighs, for pairs of a query and a row.

        queries (HybridArray): (b, width) unit vectors.
        asked (Ints1d): int64 (n,): the query of each pair.
        rows (Ints1d): int64 (n,): its row.
        RETURNS (Tuple[np.ndarray, np.ndarray]): The dense cosines and the lexical ones; float32
            (n,).
        """
        dense = self.dense.pairs(queries.dense, asked, rows)
        shared = self.lexical.unit[rows].multiply(queries.lexical[asked])
        return dense, np.asarray(shared.sum(axis=1)).ravel()

    def sums(self, incidence: sparse.csr_matrix) -> HybridArray:
        return HybridArray(self.dense.sums(incidence), self.lexical.sums(incidence))

    def write(self, folder: Path, stem: str) -> None:
        self.dense.write(folder, f"{stem}.dense")
        self.lexical.write(folder, f"{stem}.lexical")


def from_raw(raw: Raw, *, dtype: str = "float32") -> Vectors:
    """Normalize what an encoder gives.

    raw (Union[Floats2d, csr_matrix, HybridArray]): (n, width) vectors of any length.
    dtype (str): "float32", "float16" or "int8", for dense ones.
    RETURNS (Vectors): The same, at unit length.
    """
    if isinstance(raw, HybridArray):
        return HybridVectors.from_raw(raw, dtype=dtype)
    if sparse.issparse(raw):
        return SparseVectors.from_raw(raw)
    return _dense(raw, dtype)


def _dense(raw: np.ndarray, dtype: str) -> DenseVectors | QuantizedVectors:
    if dtype == "int8":
        return QuantizedVectors.from_raw(raw)
    return DenseVectors.from_raw(raw, dtype=dtype)


def join(parts: Sequence[Vectors]) -> Vectors:
    """RETURNS (Vectors): The rows of all parts, at least one, which are of the same kind."""
    if isinstance(parts[0], HybridVectors):
        both: Any = parts
        lexical = SparseVectors.join([part.lexical for part in both])
        dense: Any = join([part.dense for part in both])
        return HybridVectors(dense, lexical)
    return type(parts[0]).join(parts)  # type: ignore[attr-defined]


def open_vectors(folder: Path, stem: str) -> Vectors:
    """Open vectors memory-mapped.

    folder (Path): Where they were written.
    stem (str): How their files begin.
    RETURNS (Vectors): The vectors.
    """
    if (folder / f"{stem}.dense.norms.npy").exists():
        dense: Any = open_vectors(folder, f"{stem}.dense")
        lexical: Any = open_vectors(folder, f"{stem}.lexical")
        return HybridVectors(dense, lexical)
    norms = map_array(folder / f"{stem}.norms.npy")
    if (folder / f"{stem}.unit.npy").exists():
        return DenseVectors(map_array(folder / f"{stem}.unit.npy"), norms)
    if (folder / f"{stem}.codes.npy").exists():
        codes, lengths = (map_array(folder / f"{stem}.{key}.npy") for key in ("codes", "lengths"))
        return QuantizedVectors(codes, lengths, norms)
    parts = tuple(map_array(folder / f"{stem}.{part}.npy") for part in CSR_PARTS)
    width = int(np.load(folder / f"{stem}.shape.npy")[1])
    return SparseVectors(make_csr(parts, width), norms)
