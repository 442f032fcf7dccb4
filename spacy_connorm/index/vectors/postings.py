"""The rows that have a feature, for the rare features of sparse vectors: an exact search that looks
only at rows that can be among the best.

Most of a cosine of n-grams comes from rare ones, and most of the work is in letters that nearly all
names have. What the common features can add to a score is at most the length of their part of the
query times the length of their part of the row (Cauchy-Schwarz).
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...encoders.raw import make_csr
from ...files.arrays import open_array, save_arrays
from .sparse import SparseVectors, open_csr, write_csr

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

# A feature is common if more than this share of the rows has it. With 0.2, a sixth of the names of
# ICD-10-CM can be among the 200 best for a mention (median); with 0.4, one in a hundred.
_COMMON = 0.4
# Of the rows that may score best, this many are compared at first for each one that is wanted.
_AT_FIRST = 2
# With fewer rows, to compare all of them takes no longer.
LEAST_ROWS = 1 << 13
# The relative error of a float32 product or sum. Lengths are raised, so that none is too short.
_FLOAT32 = 2.0**-24
_RAISED = np.float32(1 + 1e-5)
# The best of each group of at most this many rows stand for all when the best rows are chosen; the
# second number is how many groups there are for each of them.
_GROUP = 16
_GROUPS_FOR_ONE = 8


class BestRows(NamedTuple):
    """The rows that can be among the best for a query.

    rows (Ints1d): int64 (m,): different rows, in no order.
    scores (Floats1d): float32 (m,): their exact scores.
    read (int): The number of postings that were read to find them.
    """

    rows: np.ndarray
    scores: np.ndarray
    read: int


@dataclass(eq=False)
class Postings:
    """The rows of each rare feature.

    rows (csr_matrix): float32 (width, n): the values of the rare features; a common one has none.
    lengths (Floats2d): float32 (2, n): the length of each row, and that of its common part.
    """

    rows: "csr_matrix"
    lengths: np.ndarray

    @classmethod
    def from_vectors(cls, vectors: SparseVectors) -> "Postings":
        """Sort the values of vectors by their features.

        vectors (SparseVectors): (n, width).
        RETURNS (Postings): Their postings.
        """
        unit, size = vectors.unit, len(vectors)
        columns = unit.tocsc()
        counts = np.diff(columns.indptr)
        is_rare = counts <= _COMMON * size
        kept, pointers = np.repeat(is_rare, counts), np.cumsum(np.where(is_rare, counts, 0))
        pointers = np.concatenate([[0], pointers]).astype(columns.indptr.dtype)
        rows = make_csr((columns.data[kept], columns.indices[kept], pointers), size)
        squares = make_csr((unit.data**2, unit.indices, unit.indptr), vectors.width)
        parts = np.stack([np.ones(len(is_rare)), ~is_rare], axis=1).astype("float32")
        return cls(rows, np.ascontiguousarray(np.sqrt(squares @ parts).T) * _RAISED)

    @classmethod
    def open(cls, folder: Path, stem: str, *, rows: int, width: int) -> "Postings":
        """Open the files written by `write`, memory-mapped.

        folder (Path): The folder.
        stem (str): The beginning of the file names.
        rows (int): The number of vectors.
        width (int): Their width.
        RETURNS (Postings): The postings.
        RAISES (ConnormError): CN402 if the files do not fit the vectors.
        """
        lengths = open_array(folder / f"{stem}.lengths.npy", "float32", (2, rows), finite=True)
        return cls(open_csr(folder, stem, rows=width, width=rows), lengths)

    def write(self, folder: Path, stem: str) -> None:
        """Write the files that `open` maps.

        folder (Path): The folder.
        stem (str): The beginning of the file names.
        """
        write_csr(self.rows, folder, stem)
        save_arrays(folder, stem, {"lengths": self.lengths})

    @cached_property
    def _longest(self) -> float:
        return float(self.lengths[0].max(initial=0))

    def best(
        self,
        features: np.ndarray,
        weights: np.ndarray,
        count: int,
        compare: Callable[[np.ndarray], np.ndarray],
        penalties: np.ndarray | None = None,
    ) -> BestRows:
        """Find the rows that can be among the best for a query. Those that may score best are
        compared first, and the worst of them that is wanted tells which others must be.

        features (Ints1d): (f,): the features of the query.
        weights (Floats1d): float32 (f,): its values.
        count (int): The number of rows wanted, at least 1.
        compare (Callable[[Ints1d], Floats1d]): Computes the exact scores of rows.
        penalties (Optional[Floats1d]): float32 (n,): -inf for rows that may not be found, 0 for
            others.
        RETURNS (BestRows): All rows that score as high as the last of the best.
        """
        limits, read = self._limits(features, weights)
        if penalties is not None:
            limits += penalties
        least = _least_of_best(limits, _AT_FIRST * count)
        # The conditions are written so that NaN passes, and is refused later.
        rows = _where(~(limits < least), limits)
        scores = compare(rows)
        worst = np.partition(scores, -count)[-count]
        if not worst >= least:
            others = _where(~(limits < worst) & (limits < least), limits)
            rows = np.concatenate([rows, others])
            scores = np.concatenate([scores, compare(others)])
        return BestRows(rows, scores, read)

    def _limits(self, features: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, int]:
        """Compute what the rows can score at most.

        RETURNS (Tuple[Floats1d, int]): float32 (n,), and the number of postings that were read.
        """
        from scipy.sparse import csc_matrix

        data, indices, pointers = self.rows.data, self.rows.indices, self.rows.indptr
        first, last = pointers[features], pointers[features + 1]
        counts = last - first
        # An empty list first, since a query may have no features.
        lists = [slice(0, 0), *map(slice, first.tolist(), last.tolist())]
        rare = csc_matrix((self.rows.shape[1], len(features)), dtype="float32")
        rare.data = np.concatenate(list(map(data.__getitem__, lists)))
        rare.indices = np.concatenate(list(map(indices.__getitem__, lists)))
        rare.indptr = np.concatenate([[0], np.cumsum(counts)]).astype(pointers.dtype)
        limits = rare @ weights
        common = float(np.linalg.norm(weights[counts == 0]))
        whole = float(np.linalg.norm(weights))
        limits += self.lengths[1] * np.float32(common * _RAISED)
        limits += np.float32(4 * (len(features) + 2) * _FLOAT32 * whole * self._longest)
        return limits, len(rare.data)


def _where(chosen: np.ndarray, limits: np.ndarray) -> np.ndarray:
    """RETURNS (Ints1d): int64: the chosen rows that may be found."""
    rows = np.flatnonzero(chosen)
    return rows[limits[rows] != -np.inf]


def _least_of_best(values: np.ndarray, count: int) -> np.float32:
    """Find a bound of the best values.

    values (Floats1d): float32 (n,).
    count (int): How many are wanted.
    RETURNS (float32): At least `count` values are as large, or all are.
    """
    group = min(max(len(values) // (_GROUPS_FOR_ONE * count), 1), _GROUP)
    groups = len(values) // group
    best = values[: group * groups].reshape(group, groups).max(axis=0)
    return np.partition(best, -count)[-count] if count < groups else values.min()
