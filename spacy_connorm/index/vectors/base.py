"""Unit vectors on disk: dense, sparse or both, memory-mapped.

Rows are stored with unit length, and their norms beside them. So a cosine is one dot product, and
means of raw vectors (concept representations) are still exact.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ...encoders.vectors import HybridArray, Raw
from ...files.arrays import open_array
from ...files.folders import damaged
from .arrays import ArrayWriter, open_csr
from .dense import DenseVectors, QuantizedVectors, RowScores
from .sparse import SparseVectors

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

_COUNTS = ("int64", "int32")
_MOST_COLUMNS = 2**31
# How many vectors are read at once.
_BLOCK = 16_384


class Vectors(Protocol):
    """Unit vectors, one per row; or scaled ones, whose scores are inner products: see `scaled`."""

    norms: np.ndarray
    width: int

    @property
    def is_scaled(self) -> bool:
        """Whether scores are inner products, not cosines."""

    @property
    def unit(self) -> Any:
        """All rows; without a copy unless they are quantized."""

    @property
    def widths(self) -> dict[str, int]:
        """How many components they have: "dense", "sparse" or both."""

    def __len__(self) -> int: ...

    def view(self, start: int, stop: int) -> "Vectors":
        """RETURNS (Vectors): Rows start to stop, without a copy."""

    def take(self, rows: np.ndarray) -> "Vectors":
        """RETURNS (Vectors): Some rows (m,), in this order, as an exact copy."""

    def compare(self, queries: Raw) -> RowScores:
        """Compare queries with all rows, quickly and up to an error that is known.

        queries (Union[Floats2d, csr_matrix, HybridArray]): float32 (b, width), at unit length
            unless the vectors are scaled.
        RETURNS (RowScores): Computes the scores of ranges of rows.
        """

    def rescore(self, queries: Raw, query: int, rows: np.ndarray) -> np.ndarray:
        """Get the scores of one query with some rows. They do not depend on the other queries.

        queries (Union[Floats2d, csr_matrix, HybridArray]): As for `compare`.
        query (int): Which of them.
        rows (Ints1d): int64 (m,).
        RETURNS (Floats1d): float32 (m,).
        """

    def queries(self, rows: np.ndarray, *, weight: float = 1.0) -> Raw:
        """Get some rows as queries: as if their texts were encoded again, up to the precision of
        the rows.

        rows (Ints1d): int64 (b,).
        weight (float): For the lexical side of hybrid vectors.
        RETURNS (Union[Floats2d, csr_matrix, HybridArray]): float32 (b, width).
        """

    def sums(self, incidence: "csr_matrix") -> Raw:
        """Sum raw vectors, those that the encoder made.

        incidence (csr_matrix): (m, n): how much of each of the n rows is in each of the m sums.
        RETURNS (Union[Floats2d, csr_matrix, HybridArray]): float32 (m, width).
        """

    def write(self, folder: Path, stem: str) -> None:
        """Write the rows, for `open_vectors`.

        folder (Path): The folder of their files.
        stem (str): How the file names start.
        """


class HybridVectors:
    """Dense and lexical vectors of the same texts. Queries carry the weight of lexical cosines. Two
    cosines are averaged; a cosine is added to an inner product.
    """

    def __init__(
        self,
        dense: DenseVectors | QuantizedVectors,
        lexical: SparseVectors,
        *,
        weight: float = 1.0,
    ) -> None:
        """Combine both sides.

        dense (Union[DenseVectors, QuantizedVectors]): n rows.
        lexical (SparseVectors): n rows.
        weight (float): The lexical weight of `unit` as queries; stored vectors have none.
        """
        self.dense = dense
        self.lexical = lexical
        self.weight = weight
        self.norms = np.sqrt(dense.norms**2 + weight * lexical.norms**2)
        self.width = dense.width + lexical.width

    @classmethod
    def from_raw(cls, raw: HybridArray, *, dtype: str = "float32") -> "HybridVectors":
        """RETURNS (HybridVectors): See the function `from_raw`.

        raw (HybridArray): float32 (n, width) vectors of any length.
        dtype (str): "float32", "float16" or "int8", for the dense side.
        """
        lexical = SparseVectors.from_raw(raw.lexical)
        return cls(_dense(raw.dense, dtype), lexical, weight=raw.weight)

    @property
    def is_scaled(self) -> bool:
        """RETURNS (bool): Whether the dense scores are inner products."""
        return self.dense.is_scaled

    @property
    def unit(self) -> HybridArray:
        """RETURNS (HybridArray): All rows of both sides."""
        return HybridArray(self.dense.unit, self.lexical.unit, self.weight)

    @property
    def widths(self) -> dict[str, int]:
        return {**self.dense.widths, **self.lexical.widths}

    def __len__(self) -> int:
        return len(self.dense)

    def view(self, start: int, stop: int) -> "HybridVectors":
        return HybridVectors(self.dense.view(start, stop), self.lexical.view(start, stop))

    def take(self, rows: np.ndarray) -> "HybridVectors":
        return HybridVectors(self.dense.take(rows), self.lexical.take(rows))

    def score(self, queries: HybridArray, dense: np.ndarray, lexical: np.ndarray) -> np.ndarray:
        """Combine the scores of both sides.

        queries (HybridArray): They know the weight.
        dense (np.ndarray): Cosines or inner products.
        lexical (np.ndarray): Cosines, of the same shape.
        RETURNS (np.ndarray): Scores.
        """
        if self.is_scaled:
            return dense + queries.weight * lexical
        return queries.score(dense, lexical)

    def compare(self, queries: HybridArray) -> RowScores:
        """Compare both sides; see `Vectors.compare`."""
        dense, lexical = self.dense.compare(queries.dense), self.lexical.compare(queries.lexical)

        def dots(start: int, stop: int) -> np.ndarray:
            return self.score(queries, dense.dots(start, stop), lexical.dots(start, stop))

        return RowScores(dots, self.score(queries, dense.error, lexical.error))

    def rescore(self, queries: HybridArray, query: int, rows: np.ndarray) -> np.ndarray:
        """RETURNS (Floats1d): float32 (m,): see `Vectors.rescore`."""
        return self.score(
            queries,
            self.dense.rescore(queries.dense, query, rows),
            self.lexical.rescore(queries.lexical, query, rows),
        )

    def queries(self, rows: np.ndarray, *, weight: float = 1.0) -> HybridArray:
        return HybridArray(self.dense.queries(rows), self.lexical.queries(rows), weight)

    def parts(
        self, queries: HybridArray, asked: np.ndarray, rows: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Get the two scores that `rescore` weighs, for pairs of a query and a row.

        queries (HybridArray): (b, width).
        asked (Ints1d): int64 (n,): the query of each pair.
        rows (Ints1d): int64 (n,): the row of each pair.
        RETURNS (Tuple[np.ndarray, np.ndarray]): The dense and the lexical scores; float32 (n,).
        """
        dense = self.dense.pairs(queries.dense, asked, rows)
        shared = self.lexical.unit[rows].multiply(queries.lexical[asked])
        return dense, np.asarray(shared.sum(axis=1)).ravel()

    def sums(self, incidence: "csr_matrix") -> HybridArray:
        """RETURNS (HybridArray): float32 (m, width): see `Vectors.sums`."""
        return HybridArray(self.dense.sums(incidence), self.lexical.sums(incidence))

    def write(self, folder: Path, stem: str) -> None:
        """Write both sides; see `Vectors.write`."""
        self.dense.write(folder, f"{stem}.dense")
        self.lexical.write(folder, f"{stem}.lexical")


def from_raw(raw: Raw, *, dtype: str = "float32") -> Vectors:
    """Normalize the output of an encoder.

    raw (Union[Floats2d, csr_matrix, HybridArray]): (n, width) vectors of any length.
    dtype (str): "float32", "float16" or "int8", for dense vectors.
    RETURNS (Vectors): The vectors at unit length.
    """
    if isinstance(raw, HybridArray):
        return HybridVectors.from_raw(raw, dtype=dtype)
    if isinstance(raw, np.ndarray):
        return _dense(raw, dtype)
    return SparseVectors.from_raw(raw)


def _dense(raw: np.ndarray, dtype: str) -> DenseVectors | QuantizedVectors:
    if dtype == "int8":
        return QuantizedVectors.from_raw(raw)
    return DenseVectors.from_raw(raw, dtype=dtype)


def join(parts: Sequence[Vectors]) -> Vectors:
    """RETURNS (Vectors): The rows of one or more parts of the same kind."""
    if isinstance(parts[0], HybridVectors):
        both: Any = parts
        lexical = SparseVectors.join([part.lexical for part in both])
        dense: Any = join([part.dense for part in both])
        return HybridVectors(dense, lexical)
    return type(parts[0]).join(parts)  # type: ignore[attr-defined]


def open_vectors(folder: Path, stem: str) -> Vectors:
    """Open vectors, memory-mapped.

    folder (Path): The folder of their files.
    stem (str): How the file names start.
    RETURNS (Vectors): The vectors.
    RAISES (ConnormError): CN402 if the files do not fit together.
    """
    if (folder / f"{stem}.dense.norms.npy").exists():
        dense: Any = open_vectors(folder, f"{stem}.dense")
        lexical: Any = open_vectors(folder, f"{stem}.lexical")
        if len(dense) != len(lexical):
            reason = f"it has {len(lexical)} rows, not {len(dense)}"
            raise damaged(folder / f"{stem}.lexical.norms.npy", reason)
        return HybridVectors(dense, lexical)
    norms = open_array(folder / f"{stem}.norms.npy", "float32", (None,), finite=True)
    rows = len(norms)
    if (folder / f"{stem}.unit.npy").exists():
        kinds = ("float32", "float16")
        return DenseVectors(open_array(folder / f"{stem}.unit.npy", kinds, (rows, None)), norms)
    if (folder / f"{stem}.codes.npy").exists():
        codes = open_array(folder / f"{stem}.codes.npy", "int8", (rows, None))
        lengths = open_array(folder / f"{stem}.lengths.npy", "float32", (rows,), finite=True)
        return QuantizedVectors(codes, lengths, norms)
    shape = open_array(folder / f"{stem}.shape.npy", _COUNTS, (2,), bounds=(0, _MOST_COLUMNS))
    return SparseVectors(open_csr(folder, stem, rows=rows, width=int(shape[1])), norms)


class VectorWriter:
    """Appends blocks of vectors to the files that `open_vectors` opens. Sparse vectors stay in
    memory until the end; fitting their encoder takes more memory than that.
    """

    def __init__(self, folder: Path, stem: str) -> None:
        """Start without files; they are created by the first block.

        folder (Path): Where to write.
        stem (str): How the file names start.
        """
        self._folder = folder
        self._stem = stem
        self._files: dict[str, ArrayWriter] = {}
        self._sides: dict[str, VectorWriter] = {}
        self._sparse: list[SparseVectors] = []

    def append(self, vectors: Vectors) -> None:
        """Write some rows.

        vectors (Vectors): Rows of the same kind in every block.
        """
        if isinstance(vectors, HybridVectors):
            self._side("dense").append(vectors.dense)
            self._side("lexical").append(vectors.lexical)
        elif isinstance(vectors, SparseVectors):
            self._sparse.append(vectors)
        else:
            for key, array in vectors.arrays.items():  # type: ignore[attr-defined]
                self._file(key).append(array)

    def close(self) -> None:
        """Complete the files."""
        for file in self._files.values():
            file.close()
        for side in self._sides.values():
            side.close()
        if self._sparse:
            SparseVectors.join(self._sparse).write(self._folder, self._stem)

    def _file(self, key: str) -> ArrayWriter:
        if key not in self._files:
            self._files[key] = ArrayWriter(self._folder / f"{self._stem}.{key}.npy")
        return self._files[key]

    def _side(self, name: str) -> "VectorWriter":
        if name not in self._sides:
            self._sides[name] = VectorWriter(self._folder, f"{self._stem}.{name}")
        return self._sides[name]


def row_blocks(rows: np.ndarray) -> Iterator[np.ndarray]:
    """YIELDS (Ints1d): Some thousand rows at a time."""
    for start in range(0, len(rows), _BLOCK):
        yield rows[start : start + _BLOCK]
