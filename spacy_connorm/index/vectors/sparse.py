"""Sparse vectors, and their files."""

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ...encoders.raw import make_csr
from ...files.arrays import list_ranges, open_array, require_offsets, save_arrays
from .dense import RowScores

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

CSR_PARTS = ("data", "indices", "indptr")
_COUNTS = ("uint8", "uint16")
_SHAPE = ("int64", "int32")
_MOST_COLUMNS = 2**31


def write_csr(matrix: "csr_matrix", folder: Path, stem: str) -> None:
    """Write the three arrays of a CSR matrix to files.

    matrix (csr_matrix): The matrix.
    folder (Path): The folder.
    stem (str): The beginning of the file names.
    """
    save_arrays(folder, stem, {part: getattr(matrix, part) for part in CSR_PARTS})


def open_csr(
    folder: Path, stem: str, *, rows: int, width: int, dtype: str | Collection[str] = "float32"
) -> "csr_matrix":
    """Open the files written by `write_csr`, memory-mapped. Indices are read and checked, since
    SciPy and others trust them; a search that compares with every row reads them anyway.

    folder (Path): The folder.
    stem (str): The beginning of the file names.
    rows (int): The number of rows.
    width (int): The number of columns.
    dtype (Union[str, Collection[str]]): The dtype of its values, or several valid ones.
    RETURNS (csr_matrix): (rows, width).
    RAISES (ConnormError): CN402 for anything else.
    """
    data_file, indices_file, pointers_file = (folder / f"{stem}.{part}.npy" for part in CSR_PARTS)
    pointers = open_array(pointers_file, ("int32", "int64"), (rows + 1,))
    data = open_array(data_file, dtype, (None,))
    require_offsets(pointers_file, pointers, len(data))
    kind = str(pointers.dtype)
    indices = open_array(indices_file, kind, (len(data),), bounds=(0, width))
    return make_csr((data, indices, pointers), width)


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

    def take(self, rows: np.ndarray | slice) -> "SparseVectors":
        if not isinstance(rows, slice):
            return SparseVectors(self.unit[rows], self.norms[rows])
        pointers = self.unit.indptr[rows.start : rows.stop + 1]
        inside = slice(pointers[0], pointers[-1])
        parts = (self.unit.data[inside], self.unit.indices[inside], pointers - pointers[0])
        return SparseVectors(make_csr(parts, self.width), self.norms[rows])

    def compare(self, queries: "csr_matrix") -> RowScores:
        """Compare by the features of each row, always in the same order; see
        `DenseVectors.compare`.
        """
        columns = np.zeros((self.unit.shape[1], queries.shape[0]), dtype="float32")
        numbers = np.repeat(np.arange(queries.shape[0]), np.diff(queries.indptr))
        columns[queries.indices, numbers] = queries.data
        size = len(self.norms)
        return RowScores(
            lambda start, stop: (
                (self if stop - start == size else self.take(slice(start, stop))).unit @ columns
            ),
            np.zeros(queries.shape[0], dtype="float32"),
        )

    def rescore(self, queries: "csr_matrix", query: int, rows: np.ndarray) -> np.ndarray:
        """Compute the scores of one query; see `DenseVectors.rescore`.

        RETURNS (Floats1d): float32 (m,).
        """
        mine = slice(*queries.indptr[query : query + 2])
        column = np.zeros(self.width, dtype="float32")
        column[queries.indices[mine]] = queries.data[mine]
        owners, places = list_ranges(self.unit.indptr[rows], self.unit.indptr[rows + 1])
        scores = np.zeros(len(rows), dtype="float32")
        # Each row is summed in the order of its features, as in `compare`.
        products = self.unit.data[places] * column[self.unit.indices[places]]
        np.add.at(scores, owners, products)
        return scores

    def pairs(self, queries: "csr_matrix", numbers: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Compute the scores of pairs; see `DenseVectors.pairs`.

        RETURNS (Floats1d): float32 (n,).
        """
        scores = np.empty(len(rows), dtype="float32")
        for query in np.unique(numbers).tolist():
            own = np.flatnonzero(numbers == query)
            scores[own] = self.rescore(queries, query, rows[own])
        return scores

    def queries(self, rows: np.ndarray) -> "csr_matrix":
        # SciPy needs three times as long for the few rows of mentions.
        pointers = self.unit.indptr
        owners, places = list_ranges(pointers[rows], pointers[rows + 1])
        starts = np.searchsorted(owners, np.arange(len(rows) + 1)).astype(pointers.dtype)
        return make_csr((self.unit.data[places], self.unit.indices[places], starts), self.width)

    @classmethod
    def open(cls, folder: Path, stem: str, norms: np.ndarray) -> "SparseVectors":
        """Open the files written by `write`, memory-mapped. If they hold counts, the vectors are
        computed.

        folder (Path): The folder.
        stem (str): The beginning of the file names.
        norms (Floats1d): float32 (n,): the lengths of the rows.
        RETURNS (SparseVectors): The vectors.
        RAISES (ConnormError): CN402 if the files do not fit together.
        """
        shape = open_array(folder / f"{stem}.shape.npy", _SHAPE, (2,), bounds=(0, _MOST_COLUMNS))
        rows, width = len(norms), int(shape[1])
        weights_file = folder / f"{stem}.weights.npy"
        if not weights_file.exists():
            return cls(open_csr(folder, stem, rows=rows, width=width), norms)
        weights = open_array(weights_file, "float32", (width,), finite=True)
        counts = open_csr(folder, stem, rows=rows, width=width, dtype=_COUNTS)
        data = counts.data.astype("float32") * weights[counts.indices]
        return cls.from_raw(make_csr((data, counts.indices, counts.indptr), width))

    def write(self, folder: Path, stem: str, weights: np.ndarray | None = None) -> None:
        """Write the matrix, its shape and the lengths; see `DenseVectors.write`.

        weights (Optional[Floats1d]): Those of the encoder, to write counts, which are smaller; the
            same vectors are computed of them. If None, the vectors are written.
        """
        matrix = self.unit
        if weights is not None:
            raw = matrix.data * np.repeat(self.norms, np.diff(matrix.indptr))
            counts = np.rint(raw / weights[matrix.indices]).astype("uint16")
            kind = np.min_scalar_type(counts.max(initial=0))
            matrix = make_csr((counts.astype(kind), matrix.indices, matrix.indptr), self.width)
            save_arrays(folder, stem, {"weights": weights})
        write_csr(matrix, folder, stem)
        save_arrays(folder, stem, {"shape": np.asarray(self.unit.shape), "norms": self.norms})
