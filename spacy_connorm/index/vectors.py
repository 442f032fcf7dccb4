"""The vectors of an index on disk: dense, quantized to one byte per component, sparse, or dense and
sparse, memory-mapped.

Rows are stored with unit length, and their norms beside them. So a cosine is one dot product, and
means of raw vectors (concept representations) are still exact. An index that compares by inner
products multiplies by the norms again (`scaled`).
"""

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import (
    TYPE_CHECKING,
    Any,
    BinaryIO,
    ClassVar,
    Literal,
    NamedTuple,
    Protocol,
    Self,
    TypeAlias,
)

import numpy as np

from ..encoders.protocol import HybridArray, Raw
from ..files.arrays import open_array, require_offsets
from ..files.folders import damaged

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

Metric: TypeAlias = Literal["cosine", "dot"]
COSINE: Metric = "cosine"
METRICS = (COSINE, "dot")


def metric_of(backend: Any) -> str:
    """RETURNS (str): What the scores of a backend are; "cosine" for one that does not say."""
    return getattr(backend, "metric", COSINE)


CSR_PARTS = ("data", "indices", "indptr")


def write_csr(matrix: "csr_matrix", folder: Path, stem: str) -> None:
    """Write the three arrays of a CSR matrix to `folder`, in files whose names start with `stem`.

    matrix (csr_matrix): The matrix.
    folder (Path): The folder.
    stem (str): How the file names start.
    """
    for part in CSR_PARTS:
        np.save(folder / f"{stem}.{part}.npy", getattr(matrix, part))


def open_csr(
    folder: Path, stem: str, *, rows: int, width: int, writable: bool = False
) -> "csr_matrix":
    """Open what `write_csr` wrote, memory-mapped. Indices are read, since SciPy and others trust
    them; a search that compares with every row reads them too.

    folder (Path): The folder.
    stem (str): How the file names start.
    rows (int): The number of rows.
    width (int): The number of columns.
    writable (bool): As in `open_array`.
    RETURNS (csr_matrix): float32 (rows, width).
    RAISES (ConnormError): CN402 for anything else.
    """
    data_file, indices_file, pointers_file = (folder / f"{stem}.{part}.npy" for part in CSR_PARTS)
    pointers = open_array(pointers_file, ("int32", "int64"), (rows + 1,), writable=writable)
    data = open_array(data_file, "float32", (None,), writable=writable)
    require_offsets(pointers_file, pointers, len(data))
    kind = str(pointers.dtype)
    indices = open_array(indices_file, kind, (len(data),), bounds=(0, width), writable=writable)
    return make_csr((data, indices, pointers), width)


def make_csr(parts: Any, width: int) -> "csr_matrix":
    """RETURNS (csr_matrix): (n, width), from three arrays, without copying or checking them."""
    from scipy.sparse import csr_matrix

    data, indices, pointers = parts
    matrix = csr_matrix((len(pointers) - 1, width), dtype="float32")
    matrix.data, matrix.indices, matrix.indptr = data, indices, pointers
    return matrix


_LEVELS = 127
# How many components become float32 at once: they stay in a core's cache until they are multiplied,
# so a search reads a quarter of the memory that it reads for float32 vectors.
_CONVERTED = 100_000
# How much a product or a sum of float32 is off, relative to its size.
_FLOAT32 = 2.0**-24


class RowScores(NamedTuple):
    """The scores of queries with ranges of rows.

    dots (Callable[[int, int], Floats2d]): From a first row and the row after the last to their
        scores: float32 (rows, b).
    error (Floats1d): float32 (b,): by how much the scores of each query may be off; 0 if they never
        depend on the other queries and rows.
    """

    dots: Callable[[int, int], np.ndarray]
    error: np.ndarray


class _DenseRows:
    """What both kinds have in common: arrays with one entry per row.

    KEYS (Tuple[str, ...]): Their names.
    """

    KEYS: ClassVar[tuple[str, ...]]
    is_scaled = False
    norms: np.ndarray

    def __init__(self, *arrays: np.ndarray) -> None:
        """*arrays (np.ndarray): In the order of `KEYS`; the first is the matrix."""
        for key, array in zip(self.KEYS, arrays, strict=True):
            setattr(self, key, array)
        self.width = int(arrays[0].shape[1])

    @property
    def arrays(self) -> dict[str, np.ndarray]:
        return {key: getattr(self, key) for key in self.KEYS}

    @property
    def widths(self) -> dict[str, int]:
        return {"dense": self.width}

    def __len__(self) -> int:
        return len(self.norms)

    def view(self, start: int, stop: int) -> Self:
        return self.take(slice(start, stop))

    def take(self, rows: np.ndarray | slice) -> Self:
        return type(self)(*(array[rows] for array in self.arrays.values()))

    @classmethod
    def join(cls, parts: Sequence[Self]) -> Self:
        return cls(*(np.concatenate([part.arrays[key] for part in parts]) for key in cls.KEYS))

    def write(self, folder: Path, stem: str) -> None:
        """Write `arrays`; see `Vectors.write`."""
        for key, array in self.arrays.items():
            np.save(folder / f"{stem}.{key}.npy", array)


class DenseVectors(_DenseRows):
    """Vectors as one float32 matrix.

    unit (Floats2d): (n, width) rows of length one (or zero).
    norms (Floats1d): (n,) the original lengths of the rows.
    """

    KEYS = ("unit", "norms")
    unit: np.ndarray

    @classmethod
    def from_raw(cls, raw: np.ndarray) -> "DenseVectors":
        """RETURNS (DenseVectors): The vectors at unit length, and their lengths in float32.

        raw (Floats2d): (n, width) vectors of any length.
        """
        return cls(*_normalized(raw))

    def compare(self, queries: np.ndarray) -> RowScores:
        """Compare by a matrix product; see `Vectors.compare`."""
        return _compare(self.unit, queries)

    def rescore(self, queries: np.ndarray, query: int, rows: np.ndarray) -> np.ndarray:
        """RETURNS (Floats1d): float32 (m,): see `Vectors.rescore`."""
        # Unlike a matrix product, it sums each row in the same order however many rows there are.
        return np.einsum("ij,j->i", self.unit[rows], queries[query])

    def pairs(self, queries: np.ndarray, asked: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Get the cosines of pairs of a query and a row.

        queries (Floats2d): (b, width) unit vectors.
        asked (Ints1d): int64 (n,): the query of each pair.
        rows (Ints1d): int64 (n,): the row of each pair.
        RETURNS (Floats1d): float32 (n,).
        """
        return np.einsum("ij,ij->i", self.unit[rows], queries[asked])

    def queries(self, rows: np.ndarray) -> np.ndarray:
        return self.unit[rows]

    def sums(self, incidence: "csr_matrix") -> np.ndarray:
        """RETURNS (Floats2d): float32 (m, width): see `Vectors.sums`."""
        return _sums(incidence, self.norms, lambda rows: self.unit[rows])


class QuantizedVectors(_DenseRows):
    """Vectors as one int8 matrix. The components of a row are multiples of 1/127 of its largest
    one. Cosines are computed with the row's codes at unit length, so a row's cosine with itself
    is 1.

    codes (Ints2d): int8 (n, width).
    lengths (Floats1d): float32 (n,) the lengths of the codes.
    norms (Floats1d): (n,) the original lengths of the rows.
    """

    KEYS = ("codes", "lengths", "norms")
    codes: np.ndarray
    lengths: np.ndarray

    @classmethod
    def from_raw(cls, raw: np.ndarray) -> "QuantizedVectors":
        """RETURNS (QuantizedVectors): The vectors as int8, and their lengths in float32.

        raw (Floats2d): (n, width) vectors of any length.
        """
        unit, norms = _normalized(raw)
        largest = np.abs(unit).max(axis=1, initial=0)
        scale = _LEVELS / np.where(largest > 0, largest, 1)
        codes = np.rint(unit * scale[:, None]).astype("int8")
        squares = np.einsum("ij,ij->i", codes, codes, dtype="int64")
        return cls(codes, np.sqrt(squares).astype("float32"), norms)

    @property
    def unit(self) -> np.ndarray:
        """RETURNS (Floats2d): float32 (n, width): all rows, in four times the stored size."""
        return self.queries(np.arange(len(self)))

    def compare(self, queries: np.ndarray) -> RowScores:
        """Compare whole numbers with whole numbers: queries are rounded as rows are, which the
        error tells; see `Vectors.compare`. Without numkong rows become float32, which takes ten
        times as long.
        """
        kernels = _load_kernels()
        if kernels is None:
            dots, error = _compare(self.codes, queries)
            scale = None
        else:
            codes, scale, error = _rounded(queries)
            packed = kernels.dots_pack(codes)

            def dots(start: int, stop: int) -> np.ndarray:
                found = kernels.dots_packed(self.codes[start:stop], packed)
                return np.asarray(found).astype("float32")

        def cosines(start: int, stop: int) -> np.ndarray:
            found = dots(start, stop)
            found *= self._shares(slice(start, stop))[:, None]
            if scale is not None:
                found *= scale
            return found

        return RowScores(cosines, error)

    def rescore(self, queries: np.ndarray, query: int, rows: np.ndarray) -> np.ndarray:
        """RETURNS (Floats1d): float32 (m,): see `Vectors.rescore`."""
        codes = self.codes[rows].astype("float32")
        return np.einsum("ij,j->i", codes, queries[query]) * self._shares(rows)

    def pairs(self, queries: np.ndarray, asked: np.ndarray, rows: np.ndarray) -> np.ndarray:
        codes = self.codes[rows].astype("float32")
        return np.einsum("ij,ij->i", codes, queries[asked]) * self._shares(rows)

    def queries(self, rows: np.ndarray) -> np.ndarray:
        return self.codes[rows].astype("float32") * self._shares(rows)[:, None]

    def sums(self, incidence: "csr_matrix") -> np.ndarray:
        """RETURNS (Floats2d): float32 (m, width): see `Vectors.sums`."""
        return _sums(incidence, self.norms, self.queries)

    def _shares(self, rows: np.ndarray | slice) -> np.ndarray:
        # Codes are whole numbers: only zeros are shorter than one.
        return 1 / np.maximum(self.lengths[rows], np.float32(1))


def _normalized(raw: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    raw = np.asarray(raw, dtype="float32")
    norms = np.linalg.norm(raw, axis=1)
    return raw / np.where(norms > 0, norms, 1)[:, None], norms


def _compare(rows: np.ndarray, queries: np.ndarray) -> RowScores:
    """Compare by products of float32. Few rows of another type become float32 at once."""
    queries = np.asarray(queries, dtype="float32")
    columns = np.ascontiguousarray(queries.T)
    width = max(rows.shape[1], 1)
    at_once = max(_CONVERTED // width, 1)

    def dots(start: int, stop: int) -> np.ndarray:
        if rows.dtype == "float32":
            return rows[start:stop] @ columns
        found = np.empty((stop - start, len(queries)), dtype="float32")
        converted = np.empty((min(at_once, stop - start), rows.shape[1]), dtype="float32")
        for first in range(start, stop, at_once):
            block = rows[first : min(first + at_once, stop)]
            part = converted[: len(block)]
            part[...] = block
            np.matmul(part, columns, out=found[first - start : first - start + len(block)])
        return found

    return RowScores(dots, 2 * width * _FLOAT32 * np.linalg.norm(queries, axis=1))


def _rounded(queries: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Round queries to whole numbers.

    queries (Floats2d): float32 (b, width).
    RETURNS (Tuple[np.ndarray, np.ndarray, np.ndarray]): int8 (b, width) numbers, float32 (b,) what
        one of them stands for, and float32 (b,): how much the product with a unit vector may be
        off (Cauchy-Schwarz).
    """
    largest = np.abs(queries).max(axis=1, initial=0)
    scale = np.where(largest > 0, largest, 1) / np.float32(_LEVELS)
    numbers = queries / scale[:, None]
    codes = np.rint(numbers).astype("int8")
    error = np.linalg.norm(numbers - codes, axis=1) * scale
    return codes, scale, error + 4 * _FLOAT32 * np.linalg.norm(queries, axis=1)


@cache
def _load_kernels() -> Any:
    """RETURNS (Optional[module]): numkong, whose products of int8 use what the processor has; None
    where it cannot be imported.
    """
    try:
        import numkong
    except ImportError:
        return None
    return numkong


def _sums(
    incidence: "csr_matrix", norms: np.ndarray, read: Callable[[np.ndarray], np.ndarray]
) -> np.ndarray:
    """Sum rows, reading only those in the sums."""
    from scipy.sparse import csr_matrix

    rows, places = np.unique(incidence.indices, return_inverse=True)
    weights = (incidence.data * norms[incidence.indices]).astype("float32")
    shape = (incidence.shape[0], len(rows))
    picked = csr_matrix((weights, places.ravel(), incidence.indptr), shape=shape)
    return picked @ read(rows)


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

    def queries(self, rows: np.ndarray) -> "csr_matrix":
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

    def queries(self, rows: np.ndarray) -> Raw:
        """Get some rows as queries: as if their texts were encoded again, up to the precision of
        the rows.

        rows (Ints1d): int64 (b,).
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
        dtype (str): "float32" or "int8", for the dense side.
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

    def queries(self, rows: np.ndarray) -> HybridArray:
        return HybridArray(self.dense.queries(rows), self.lexical.queries(rows))

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
    dtype (str): "float32" or "int8", for dense vectors.
    RETURNS (Vectors): The vectors at unit length.
    """
    if isinstance(raw, HybridArray):
        return HybridVectors.from_raw(raw, dtype=dtype)
    if isinstance(raw, np.ndarray):
        return _dense(raw, dtype)
    return SparseVectors.from_raw(raw)


def _dense(raw: np.ndarray, dtype: str) -> DenseVectors | QuantizedVectors:
    return QuantizedVectors.from_raw(raw) if dtype == "int8" else DenseVectors.from_raw(raw)


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
        unit = open_array(folder / f"{stem}.unit.npy", "float32", (rows, None))
        return DenseVectors(unit, norms)
    if (folder / f"{stem}.codes.npy").exists():
        codes = open_array(folder / f"{stem}.codes.npy", "int8", (rows, None))
        lengths = open_array(folder / f"{stem}.lengths.npy", "float32", (rows,), finite=True)
        return QuantizedVectors(codes, lengths, norms)
    shape = open_array(folder / f"{stem}.shape.npy", _COUNTS, (2,), bounds=(0, _MOST_COLUMNS))
    return SparseVectors(open_csr(folder, stem, rows=rows, width=int(shape[1])), norms)


class VectorWriter:
    """Appends blocks of vectors to the files that `open_vectors` opens, by plain writes: a full
    disk kills a process that writes to a memory map. Sparse vectors stay in memory until the end;
    fitting their encoder takes more memory than that.
    """

    def __init__(self, folder: Path, stem: str, rows: int) -> None:
        """Start without files; they are created by the first block.

        folder (Path): Where to write.
        stem (str): How the file names start.
        rows (int): How many vectors there will be.
        """
        self._folder = folder
        self._stem = stem
        self._rows = rows
        self._files: dict[str, BinaryIO] = {}
        self._sparse: dict[str, list[SparseVectors]] = {}

    def append(self, vectors: Vectors) -> None:
        """Write some rows.

        vectors (Vectors): Rows of the same kind in every block.
        """
        self._append(vectors, self._stem)

    def _append(self, vectors: Any, stem: str) -> None:
        if isinstance(vectors, HybridVectors):
            self._append(vectors.dense, f"{stem}.dense")
            self._append(vectors.lexical, f"{stem}.lexical")
        elif isinstance(vectors, SparseVectors):
            self._sparse.setdefault(stem, []).append(vectors)
        else:
            for key, array in vectors.arrays.items():
                self._write(f"{stem}.{key}.npy", array)

    def _write(self, name: str, block: np.ndarray) -> None:
        if name not in self._files:
            self._files[name] = (self._folder / name).open("wb")
            header = np.lib.format.header_data_from_array_1_0(block)
            header |= {"fortran_order": False, "shape": (self._rows, *block.shape[1:])}
            np.lib.format.write_array_header_1_0(self._files[name], header)
        np.ascontiguousarray(block).tofile(self._files[name])

    def close(self) -> None:
        """Complete the files."""
        for file in self._files.values():
            file.close()
        for stem, parts in self._sparse.items():
            SparseVectors.join(parts).write(self._folder, stem)


def row_blocks(rows: np.ndarray) -> Iterator[np.ndarray]:
    """YIELDS (Ints1d): Some thousand rows at a time."""
    for start in range(0, len(rows), _BLOCK):
        yield rows[start : start + _BLOCK]


class ScaledVectors:
    """Stored unit vectors, times the norms beside them. Queries keep their lengths, too."""

    is_scaled = True

    def __init__(self, vectors: Vectors) -> None:
        """vectors (Vectors): Dense, quantized or sparse, as they are stored."""
        self.stored = vectors
        self.norms = vectors.norms
        self.width = vectors.width

    @property
    def unit(self) -> Any:
        return self.stored.unit

    @property
    def widths(self) -> dict[str, int]:
        return self.stored.widths

    def __len__(self) -> int:
        return len(self.stored)

    def view(self, start: int, stop: int) -> "ScaledVectors":
        return ScaledVectors(self.stored.view(start, stop))

    def take(self, rows: np.ndarray) -> "ScaledVectors":
        return ScaledVectors(self.stored.take(rows))

    def compare(self, queries: Raw) -> RowScores:
        """Compare by inner products; see `Vectors.compare`."""
        dots, error = self.stored.compare(queries)
        return RowScores(
            lambda start, stop: dots(start, stop) * self.norms[start:stop, None],
            error * self.norms.max(initial=0),
        )

    def rescore(self, queries: Raw, query: int, rows: np.ndarray) -> np.ndarray:
        """RETURNS (Floats1d): float32 (m,): inner products; see `Vectors.rescore`."""
        return self.stored.rescore(queries, query, rows) * self.norms[rows]

    def pairs(self, queries: np.ndarray, asked: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """RETURNS (Floats1d): float32 (n,): inner products, for pairs as in `DenseVectors`."""
        stored: Any = self.stored
        return stored.pairs(queries, asked, rows) * self.norms[rows]

    def queries(self, rows: np.ndarray) -> Raw:
        unit = self.stored.queries(rows)
        if isinstance(unit, np.ndarray):
            return unit * self.norms[rows][:, None]
        from scipy import sparse

        return sparse.csr_matrix(sparse.diags(self.norms[rows], dtype="float32") @ unit)

    def sums(self, incidence: "csr_matrix") -> Raw:
        """RETURNS (Union[Floats2d, csr_matrix]): float32 (m, width): see `Vectors.sums`."""
        return self.stored.sums(incidence)

    def write(self, folder: Path, stem: str) -> None:
        """Write what is stored; see `Vectors.write`."""
        self.stored.write(folder, stem)


def scaled(vectors: Vectors, metric: str) -> Vectors:
    """Choose how stored vectors are compared.

    vectors (Vectors): As they are stored.
    metric (str): "cosine" or "dot". The lexical side of hybrid vectors is always compared by
        cosine: n-gram vectors have length one in BioSyn and BCNH.
    RETURNS (Vectors): The same vectors.
    """
    if metric == COSINE:
        return vectors
    if isinstance(vectors, HybridVectors):
        dense: Any = ScaledVectors(vectors.dense)
        return HybridVectors(dense, vectors.lexical, weight=vectors.weight)
    return ScaledVectors(vectors)
