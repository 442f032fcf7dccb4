"""Dense unit vectors, plain or quantized to one byte per component.

Both have the same methods; cosines are exact for the stored vectors.
"""

from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

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
    """Vectors as one float32 or float16 matrix.

    unit (Floats2d): (n, width) rows of length one (or zero).
    norms (Floats1d): (n,) the original lengths of the rows.
    """

    KEYS = ("unit", "norms")
    unit: np.ndarray

    @classmethod
    def from_raw(cls, raw: np.ndarray, *, dtype: str = "float32") -> "DenseVectors":
        """RETURNS (DenseVectors): The vectors at unit length, and their lengths in float32.

        raw (Floats2d): (n, width) vectors of any length.
        dtype (str): "float32" or "float16".
        """
        unit, norms = _normalized(raw)
        return cls(unit.astype(dtype, copy=False), norms)

    def compare(self, queries: np.ndarray) -> RowScores:
        """Compare by a matrix product; see `Vectors.compare`."""
        return _compare(self.unit, queries)

    def rescore(self, queries: np.ndarray, query: int, rows: np.ndarray) -> np.ndarray:
        """RETURNS (Floats1d): float32 (m,): see `Vectors.rescore`."""
        unit = self.unit[rows].astype("float32", copy=False)
        # Unlike a matrix product, it sums each row in the same order however many rows there are.
        return np.einsum("ij,j->i", unit, queries[query])

    def pairs(self, queries: np.ndarray, asked: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Get the cosines of pairs of a query and a row.

        queries (Floats2d): (b, width) unit vectors.
        asked (Ints1d): int64 (n,): the query of each pair.
        rows (Ints1d): int64 (n,): the row of each pair.
        RETURNS (Floats1d): float32 (n,).
        """
        return np.einsum("ij,ij->i", self.unit[rows], queries[asked], dtype="float32")

    def queries(self, rows: np.ndarray, *, weight: float = 1.0) -> np.ndarray:
        if self.unit.dtype == "float32":
            return self.unit[rows]
        # Rounded to fewer bits, they no longer have length one.
        return _normalized(self.unit[rows])[0]

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

    def queries(self, rows: np.ndarray, *, weight: float = 1.0) -> np.ndarray:
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
    return picked @ read(rows).astype("float32", copy=False)
