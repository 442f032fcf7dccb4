"""Dense vectors, float32 or one byte per component, and their comparison."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np

from ...files.arrays import save_arrays

_LEVELS = 127
# Queries are rounded in common if their largest components differ by this factor at most. Most unit
# vectors do; the error of the smaller ones grows by as much.
_SPREAD = 4
# The relative error of a float32 product or sum.
_FLOAT32 = 2.0**-24


class RowScores(NamedTuple):
    """The scores of queries with ranges of rows.

    dots (Callable[[int, int], Floats2d]): From a first row and the row after the last to their
        scores, float32 (rows, b).
    error (Floats1d): float32 (b,): the maximum error of each query's scores; 0 if they never depend
        on the other queries and rows.
    """

    dots: Callable[[int, int], np.ndarray]
    error: np.ndarray


@dataclass(eq=False)
class DenseVectors:
    """Vectors as one matrix. In int8, the components of a row are multiples of 1/127 of its largest
    component. Cosines are computed with rows at unit length, so a row's cosine with itself is 1.

    rows (np.ndarray): float32 or int8 (n, width).
    steps (Floats1d): float32 (n,): the factor of a row for its scores: 1 for float32; for int8, the
        factor that makes its length 1; times the row's norm if scores are inner products.
    norms (Floats1d): float32 (n,): the original lengths of the rows.
    longest (float): The length of the longest row times its step.
    """

    rows: np.ndarray
    steps: np.ndarray
    norms: np.ndarray
    longest: float = field(default=1.0, kw_only=True)

    @property
    def width(self) -> int:
        return int(self.rows.shape[1])

    @classmethod
    def from_raw(cls, raw: np.ndarray, dtype: str = "float32") -> "DenseVectors":
        """Normalize vectors to unit length, and store their lengths beside them.

        raw (Floats2d): (n, width) vectors of any length.
        dtype (str): "float32" or "int8".
        RETURNS (DenseVectors): The vectors.
        """
        raw = np.asarray(raw, dtype="float32")
        norms = np.linalg.norm(raw, axis=1)
        unit = raw / np.where(norms > 0, norms, 1)[:, None]
        if dtype != "int8":
            return cls(unit, np.ones(len(unit), dtype="float32"), norms)
        largest = np.abs(unit).max(axis=1, initial=0)
        scale = _LEVELS / np.where(largest > 0, largest, 1)
        codes = np.rint(unit * scale[:, None]).astype("int8")
        squares = np.einsum("ij,ij->i", codes, codes, dtype="int64")
        # Codes are integers, so only zero vectors are shorter than one.
        steps = 1 / np.maximum(np.sqrt(squares).astype("float32"), np.float32(1))
        return cls(codes, steps, norms)

    @property
    def arrays(self) -> dict[str, np.ndarray]:
        """The arrays by the names of their files.

        RETURNS (Dict[str, np.ndarray]): One entry per row in each.
        """
        return {"rows": self.rows, "steps": self.steps, "norms": self.norms}

    @property
    def unit(self) -> np.ndarray:
        """All rows as queries.

        RETURNS (Floats2d): float32 (n, width).
        """
        return self.queries(slice(None))

    @property
    def widths(self) -> dict[str, int]:
        """The number of components.

        RETURNS (Dict[str, int]): By kind: "dense", "sparse" or both.
        """
        return {"dense": self.width}

    def __len__(self) -> int:
        return len(self.norms)

    def take(self, rows: np.ndarray | slice) -> "DenseVectors":
        """Choose rows exactly.

        rows (Union[Ints1d, slice]): Numbers of rows, which are copied, or a range with a start and
            a stop, which is not.
        RETURNS (DenseVectors): Rows (m,), in this order.
        """
        taken = (array[rows] for array in self.arrays.values())
        return DenseVectors(*taken, longest=self.longest)

    def compare(self, queries: np.ndarray) -> RowScores:
        """Compare queries with all rows, quickly and up to a known error. int8 rows are compared as
        integers: queries are rounded like rows, which the error accounts for.

        queries (Raw): float32 (b, width), at unit length unless scores are inner products.
        RETURNS (RowScores): Computes the scores of ranges of rows.
        """
        multiply = _multiply_rounded if self.rows.dtype == "int8" else _multiply
        products, scale, error = multiply(self.width, queries)

        def dots(start: int, stop: int) -> np.ndarray:
            # If vectors are damaged, the search refuses their scores; numpy need not warn as well.
            with np.errstate(invalid="ignore", over="ignore"):
                scores = products(self.rows[start:stop])
            scores *= self.steps[start:stop, None] * scale
            return scores

        return RowScores(dots, error * np.float32(self.longest))

    def rescore(self, queries: np.ndarray, query: int, rows: np.ndarray) -> np.ndarray:
        """Compute the scores of one query with some rows. They do not depend on the other queries.

        queries (Raw): As for `compare`.
        query (int): The number of the query.
        rows (Ints1d): int64 (m,).
        RETURNS (Floats1d): float32 (m,).
        """
        # Unlike a matrix product, it sums each row in the same order, whatever the number of rows.
        return np.einsum("ij,j->i", self._floats(rows), queries[query]) * self.steps[rows]

    def pairs(self, queries: np.ndarray, numbers: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Compute the scores of pairs of a query and a row.

        queries (Floats2d): (b, width), as for `compare`.
        numbers (Ints1d): int64 (n,): the query of each pair.
        rows (Ints1d): int64 (n,): the row of each pair.
        RETURNS (Floats1d): float32 (n,).
        """
        return np.einsum("ij,ij->i", self._floats(rows), queries[numbers]) * self.steps[rows]

    def queries(self, rows: np.ndarray | slice) -> np.ndarray:
        """Use some rows as queries, as if their texts were encoded again, up to the precision of
        the rows.

        rows (Ints1d): int64 (b,).
        RETURNS (Raw): float32 (b, width).
        """
        return self._floats(rows) * self.steps[rows, None]

    def write(self, folder: Path, stem: str) -> None:
        """Write the rows, for `open_vectors`.

        folder (Path): The folder of their files.
        stem (str): The beginning of the file names.
        """
        save_arrays(folder, stem, self.arrays)

    def _floats(self, rows: np.ndarray | slice) -> np.ndarray:
        return self.rows[rows].astype("float32", copy=False)


# The products of queries with the rows that are given, the factor of each query's products, float32
# (1, b), and the maximum error of the products times the factor, float32 (b,).
_Products: TypeAlias = tuple[Callable[[np.ndarray], np.ndarray], np.ndarray, np.ndarray]


def _multiply(width: int, queries: np.ndarray) -> _Products:
    """Multiply in float32."""
    queries = np.asarray(queries, dtype="float32")
    columns = np.ascontiguousarray(queries.T)
    error = 2 * max(width, 1) * _FLOAT32 * np.linalg.norm(queries, axis=1)
    return lambda rows: rows @ columns, np.ones((1, 1), dtype="float32"), error


def _multiply_rounded(width: int, queries: np.ndarray) -> _Products:
    """Multiply integers: queries are rounded to multiples of 1/127 of the largest component of all,
    so that one factor turns products into scores; or each of its own, if that differs much. The
    error follows from Cauchy-Schwarz.
    """
    # It uses the processor's special instructions for integers.
    import numkong

    largest = np.abs(queries).max(axis=1, keepdims=True, initial=0)
    most = largest.max(keepdims=True, initial=0)
    whole = most if (most <= _SPREAD * largest).all() else largest
    scale = np.where(whole > 0, whole, 1) / np.float32(_LEVELS)
    numbers = queries / scale
    codes = np.rint(numbers).astype("int8")
    error = np.linalg.norm(numbers - codes, axis=1) * scale.ravel()
    packed = numkong.dots_pack(codes)

    def products(rows: np.ndarray) -> np.ndarray:
        # For one query this kernel takes a third less time. It needs at least one row.
        if len(codes) == 1 and len(rows):
            return np.asarray(numkong.cdist(rows, codes, "dot")).astype("float32")
        return np.asarray(numkong.dots_packed(rows, packed)).astype("float32")

    return products, scale.T, error + 4 * _FLOAT32 * np.linalg.norm(queries, axis=1)
