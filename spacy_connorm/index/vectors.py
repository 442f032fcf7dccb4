"""The vectors of an index on disk, memory-mapped: dense (float32 or one byte per component),
sparse, or both.

Rows are stored at unit length, and their norms beside them. So a cosine is a single dot product,
and means of raw vectors (concept representations) are still exact. An index that compares by inner
products multiplies by the norms again (`scaled`).
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Literal, NamedTuple, TypeAlias

import numpy as np

from ..encoders.protocol import HybridArray, Raw, make_csr, stack
from ..encoders.storage import DTYPES
from ..files.arrays import open_array, require_offsets, save_arrays, write_header
from ..files.folders import damaged

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

Metric: TypeAlias = Literal["cosine", "dot"]
COSINE: Metric = "cosine"
METRICS = (COSINE, "dot")


def metric_of(backend: Any) -> str:
    """Get the metric of a backend's scores.

    RETURNS (str): The metric; "cosine" for a backend that does not specify one.
    """
    return getattr(backend, "metric", COSINE)


CSR_PARTS = ("data", "indices", "indptr")


def write_csr(matrix: "csr_matrix", folder: Path, stem: str) -> None:
    """Write the three arrays of a CSR matrix to files.

    matrix (csr_matrix): The matrix.
    folder (Path): The folder.
    stem (str): The beginning of the file names.
    """
    save_arrays(folder, stem, {part: getattr(matrix, part) for part in CSR_PARTS})


def open_csr(folder: Path, stem: str, *, rows: int, width: int) -> "csr_matrix":
    """Open the files written by `write_csr`, memory-mapped. Indices are read and checked, since
    SciPy and others trust them; a search that compares with every row reads them anyway.

    folder (Path): The folder.
    stem (str): The beginning of the file names.
    rows (int): The number of rows.
    width (int): The number of columns.
    RETURNS (csr_matrix): float32 (rows, width).
    RAISES (ConnormError): CN402 for anything else.
    """
    data_file, indices_file, pointers_file = (folder / f"{stem}.{part}.npy" for part in CSR_PARTS)
    pointers = open_array(pointers_file, ("int32", "int64"), (rows + 1,))
    data = open_array(data_file, "float32", (None,))
    require_offsets(pointers_file, pointers, len(data))
    kind = str(pointers.dtype)
    indices = open_array(indices_file, kind, (len(data),), bounds=(0, width))
    return make_csr((data, indices, pointers), width)


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

    def view(self, start: int, stop: int) -> "DenseVectors":
        """Get consecutive rows without a copy.

        RETURNS (DenseVectors): Rows start to stop.
        """
        return self.take(slice(start, stop))

    def take(self, rows: np.ndarray | slice) -> "DenseVectors":
        """Copy some rows exactly.

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
                found = products(self.rows[start:stop])
            found *= self.steps[start:stop, None] * scale
            return found

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

    def pairs(self, queries: np.ndarray, asked: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Compute the scores of pairs of a query and a row.

        queries (Floats2d): (b, width), as for `compare`.
        asked (Ints1d): int64 (n,): the query of each pair.
        rows (Ints1d): int64 (n,): the row of each pair.
        RETURNS (Floats1d): float32 (n,).
        """
        return np.einsum("ij,ij->i", self._floats(rows), queries[asked]) * self.steps[rows]

    def queries(self, rows: np.ndarray | slice) -> np.ndarray:
        """Use some rows as queries, as if their texts were encoded again, up to the precision of
        the rows.

        rows (Ints1d): int64 (b,).
        RETURNS (Raw): float32 (b, width).
        """
        return self._floats(rows) * self.steps[rows, None]

    def sums(self, incidence: "csr_matrix") -> np.ndarray:
        """Sum raw vectors, with the lengths that the encoder gave them. Possible only for stored
        vectors, not for `scaled` ones. Only the rows in the sums are read.

        incidence (csr_matrix): (m, n): the weight of each of the n rows in each of the m sums.
        RETURNS (Raw): float32 (m, width).
        """
        from scipy.sparse import csr_matrix

        rows, places = np.unique(incidence.indices, return_inverse=True)
        weights = (incidence.data * self.norms[incidence.indices]).astype("float32")
        shape = (incidence.shape[0], len(rows))
        picked = csr_matrix((weights, places.ravel(), incidence.indptr), shape=shape)
        return picked @ self.queries(rows)

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


@dataclass(eq=False)
class SparseVectors:
    """Vectors as a CSR matrix of float32.

    unit (csr_matrix): (n, width) rows of length one (or zero).
    norms (Floats1d): (n,) the original lengths of the rows.
    """

    unit: "csr_matrix"
    norms: np.ndarray

    @property
    def width(self) -> int:
        return int(self.unit.shape[1])

    @classmethod
    def from_raw(cls, raw: "csr_matrix") -> "SparseVectors":
        """Normalize vectors to unit length, and store their lengths beside them.

        raw (csr_matrix): (n, width) vectors of any length.
        RETURNS (SparseVectors): float32.
        """
        # NumPy takes a fifth of the time that SciPy needs for a single mention.
        data, counts = raw.data.astype("float32", copy=False), np.diff(raw.indptr)
        filled = counts > 0
        norms = np.zeros(len(counts), dtype="float32")
        norms[filled] = np.sqrt(np.add.reduceat(data * data, raw.indptr[:-1][filled]))
        scale = 1 / np.where(norms > 0, norms, 1)
        parts = data * np.repeat(scale, counts), raw.indices, raw.indptr
        return cls(make_csr(parts, raw.shape[1]), norms)

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

    def compare(self, queries: "csr_matrix") -> RowScores:
        """Compare by the features of each row, always in the same order; see
        `DenseVectors.compare`.
        """
        columns = np.zeros((self.width, queries.shape[0]), dtype="float32")
        asked = np.repeat(np.arange(queries.shape[0]), np.diff(queries.indptr))
        columns[queries.indices, asked] = queries.data
        size = len(self.norms)
        return RowScores(
            lambda start, stop: (
                (self if stop - start == size else self.view(start, stop)).unit @ columns
            ),
            np.zeros(queries.shape[0], dtype="float32"),
        )

    def rescore(self, queries: "csr_matrix", query: int, rows: np.ndarray) -> np.ndarray:
        """Compute the scores of one query; see `DenseVectors.rescore`.

        RETURNS (Floats1d): float32 (m,).
        """
        return (self.unit[rows] @ queries[query].T).toarray().ravel()

    def pairs(self, queries: "csr_matrix", asked: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Compute the scores of pairs; see `DenseVectors.pairs`.

        RETURNS (Floats1d): float32 (n,).
        """
        products = self.unit[rows].multiply(queries[asked])
        return np.asarray(products.sum(axis=1)).ravel()

    def queries(self, rows: np.ndarray) -> "csr_matrix":
        return self.unit[rows]

    def sums(self, incidence: "csr_matrix") -> "csr_matrix":
        """Sum raw vectors; see `DenseVectors.sums`.

        RETURNS (csr_matrix): float32 (m, width).
        """
        weights = incidence.multiply(self.norms[None, :]).tocsr().astype("float32")
        return weights @ self.unit

    def write(self, folder: Path, stem: str) -> None:
        """Write the matrix, its shape and the lengths; see `DenseVectors.write`."""
        write_csr(self.unit, folder, stem)
        save_arrays(folder, stem, {"shape": np.asarray(self.unit.shape), "norms": self.norms})


_COUNTS = ("int64", "int32")
_MOST_COLUMNS = 2**31
# The number of vectors read at once.
_BLOCK = 16_384


@dataclass(eq=False)
class HybridVectors:
    """Dense and lexical vectors of the same texts. Queries carry the weight of lexical cosines. If
    both scores are cosines, they are averaged; a cosine is added to an inner product.

    dense (DenseVectors): n rows.
    lexical (SparseVectors): n rows.
    weight (float): The lexical weight of the texts' own vectors; stored vectors have none.
    metric (str): The metric of the dense scores: "cosine" or "dot".
    """

    dense: DenseVectors
    lexical: SparseVectors
    weight: float = 1.0
    metric: str = COSINE

    def __post_init__(self) -> None:
        self.norms = np.sqrt(self.dense.norms**2 + self.weight * self.lexical.norms**2)
        self.width = self.dense.width + self.lexical.width

    @classmethod
    def from_raw(cls, raw: HybridArray, *, dtype: str = "float32") -> "HybridVectors":
        """Normalize vectors; see the function `from_raw`.

        RETURNS (HybridVectors): The vectors at unit length.

        raw (HybridArray): float32 (n, width) vectors of any length.
        dtype (str): "float32" or "int8", for the dense side.
        """
        lexical = SparseVectors.from_raw(raw.lexical)
        return cls(DenseVectors.from_raw(raw.dense, dtype), lexical, weight=raw.weight)

    @property
    def unit(self) -> HybridArray:
        return HybridArray(self.dense.unit, self.lexical.unit, self.weight)

    @property
    def widths(self) -> dict[str, int]:
        return {**self.dense.widths, **self.lexical.widths}

    def __len__(self) -> int:
        return len(self.dense)

    def view(self, start: int, stop: int) -> "HybridVectors":
        dense, lexical = self.dense.view(start, stop), self.lexical.view(start, stop)
        return HybridVectors(dense, lexical, metric=self.metric)

    def take(self, rows: np.ndarray) -> "HybridVectors":
        dense, lexical = self.dense.take(rows), self.lexical.take(rows)
        return HybridVectors(dense, lexical, metric=self.metric)

    def score(self, queries: HybridArray, dense: np.ndarray, lexical: np.ndarray) -> np.ndarray:
        """Combine dense and lexical scores. Two cosines become the cosine of the concatenated
        vectors, if neither is zero.

        queries (HybridArray): The queries, which have the weight.
        dense (np.ndarray): Cosines or inner products.
        lexical (np.ndarray): Cosines, of the same shape.
        RETURNS (np.ndarray): Scores.
        """
        both = dense + queries.weight * lexical
        return both / (1 + queries.weight) if self.metric == COSINE else both

    def compare(self, queries: HybridArray) -> RowScores:
        """Compare dense and lexical vectors; see `DenseVectors.compare`."""
        dense, lexical = self.dense.compare(queries.dense), self.lexical.compare(queries.lexical)

        def dots(start: int, stop: int) -> np.ndarray:
            return self.score(queries, dense.dots(start, stop), lexical.dots(start, stop))

        return RowScores(dots, self.score(queries, dense.error, lexical.error))

    def rescore(self, queries: HybridArray, query: int, rows: np.ndarray) -> np.ndarray:
        """Compute the scores of one query; see `DenseVectors.rescore`.

        RETURNS (Floats1d): float32 (m,).
        """
        return self.score(
            queries,
            self.dense.rescore(queries.dense, query, rows),
            self.lexical.rescore(queries.lexical, query, rows),
        )

    def queries(self, rows: np.ndarray) -> Raw:
        return HybridArray(self.dense.queries(rows), self.lexical.queries(rows))

    def parts(
        self, queries: HybridArray, asked: np.ndarray, rows: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Compute the two scores that `rescore` combines, for pairs of a query and a row.

        queries (HybridArray): (b, width).
        asked (Ints1d): int64 (n,): the query of each pair.
        rows (Ints1d): int64 (n,): the row of each pair.
        RETURNS (Tuple[np.ndarray, np.ndarray]): The dense and the lexical scores; float32 (n,).
        """
        dense = self.dense.pairs(queries.dense, asked, rows)
        return dense, self.lexical.pairs(queries.lexical, asked, rows)

    def pairs(self, queries: HybridArray, asked: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Compute the scores of pairs; see `DenseVectors.pairs`.

        RETURNS (Floats1d): float32 (n,).
        """
        return self.score(queries, *self.parts(queries, asked, rows))

    def sums(self, incidence: "csr_matrix") -> HybridArray:
        """Sum raw vectors; see `DenseVectors.sums`.

        RETURNS (HybridArray): float32 (m, width).
        """
        return HybridArray(self.dense.sums(incidence), self.lexical.sums(incidence))

    def write(self, folder: Path, stem: str) -> None:
        """Write dense and lexical vectors; see `DenseVectors.write`."""
        self.dense.write(folder, f"{stem}.dense")
        self.lexical.write(folder, f"{stem}.lexical")


# Unit vectors, one per row, or scaled ones, whose scores are inner products: see `scaled`.
Vectors: TypeAlias = DenseVectors | SparseVectors | HybridVectors


def from_raw(raw: Raw, *, dtype: str = "float32", metric: str = COSINE) -> Vectors:
    """Normalize the output of an encoder.

    raw (Union[Floats2d, csr_matrix, HybridArray]): (n, width) vectors of any length.
    dtype (str): "float32" or "int8", for dense vectors.
    metric (str): What to compare them by; see `scaled`.
    RETURNS (Vectors): The vectors at unit length, or `scaled` for inner products.
    """
    vectors: Vectors
    if isinstance(raw, HybridArray):
        vectors = HybridVectors.from_raw(raw, dtype=dtype)
    elif isinstance(raw, np.ndarray):
        vectors = DenseVectors.from_raw(raw, dtype)
    else:
        vectors = SparseVectors.from_raw(raw)
    return vectors if metric == COSINE else scaled(vectors, metric)


def join(parts: Sequence[Any]) -> Vectors:
    """Concatenate vectors of the same kind.

    parts (Sequence[Vectors]): At least one.
    RETURNS (Vectors): The rows of all parts.
    """
    if isinstance(parts[0], HybridVectors):
        dense: Any = join([part.dense for part in parts])
        lexical: Any = join([part.lexical for part in parts])
        return HybridVectors(dense, lexical)
    if isinstance(parts[0], DenseVectors):
        columns = zip(*(part.arrays.values() for part in parts), strict=True)
        return DenseVectors(*map(np.concatenate, columns))
    unit = stack(part.unit for part in parts)
    return SparseVectors(unit, np.concatenate([part.norms for part in parts]))


def open_vectors(folder: Path, stem: str) -> Vectors:
    """Open vectors, memory-mapped.

    folder (Path): The folder of their files.
    stem (str): The beginning of the file names.
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
    if (folder / f"{stem}.rows.npy").exists():
        matrix = open_array(folder / f"{stem}.rows.npy", DTYPES, (rows, None))
        steps = open_array(folder / f"{stem}.steps.npy", "float32", (rows,), finite=True)
        return DenseVectors(matrix, steps, norms)
    shape = open_array(folder / f"{stem}.shape.npy", _COUNTS, (2,), bounds=(0, _MOST_COLUMNS))
    return SparseVectors(open_csr(folder, stem, rows=rows, width=int(shape[1])), norms)


class VectorWriter:
    """Appends blocks of vectors to the files that `open_vectors` opens, by ordinary writes: if a
    disk is full, writing to a memory map kills the process. Sparse vectors stay in memory until the
    end; fitting their encoder takes more memory than that.
    """

    def __init__(self, folder: Path, stem: str, rows: int) -> None:
        """Store the arguments. The files are created by the first block.

        folder (Path): The folder to write to.
        stem (str): The beginning of the file names.
        rows (int): The total number of vectors.
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

    def _append(self, vectors: Vectors, stem: str) -> None:
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
            write_header(self._files[name], block.dtype, (self._rows, *block.shape[1:]))
        np.ascontiguousarray(block).tofile(self._files[name])

    def close(self) -> None:
        """Complete the files."""
        for file in self._files.values():
            file.close()
        for stem, parts in self._sparse.items():
            join(parts).write(self._folder, stem)


def row_blocks(rows: np.ndarray) -> Iterator[np.ndarray]:
    """Split rows into blocks.

    YIELDS (Ints1d): A few thousand rows at a time.
    """
    for start in range(0, len(rows), _BLOCK):
        yield rows[start : start + _BLOCK]


def scaled(vectors: Vectors, metric: str) -> Vectors:
    """Prepare stored vectors for comparison by a metric.

    vectors (Vectors): The stored vectors.
    metric (str): "cosine"; or "dot", where rows and queries keep their lengths. The lexical part of
        hybrid vectors is always compared by cosine: n-gram vectors have length one in BioSyn and
        BCNH.
    RETURNS (Vectors): The same vectors, scaled if needed.
    """
    if metric == COSINE:
        return vectors
    if isinstance(vectors, HybridVectors):
        dense: Any = scaled(vectors.dense, metric)
        return HybridVectors(dense, vectors.lexical, weight=vectors.weight, metric=metric)
    norms = vectors.norms
    if isinstance(vectors, DenseVectors):
        longest = float(norms.max(initial=0))
        return DenseVectors(vectors.rows, vectors.steps * norms, norms, longest=longest)
    from scipy import sparse

    scales = sparse.diags(norms, dtype="float32")
    return SparseVectors(sparse.csr_matrix(scales @ vectors.unit), norms)
