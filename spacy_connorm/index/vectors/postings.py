"""The rows that have a feature, for the rare features of sparse vectors, and columns of levels for
the common ones: an exact search that compares only rows that can be among the best.

Most of a cosine of n-grams comes from rare ones, and most of the work is in letters that nearly all
names have. So the values of common features are rounded up to levels, in rows and in queries, whose
products and sums are whole numbers of 16 bits, which NumPy adds by the column; only the columns of
the query's own features are read. With the products of the rare features, that is a little more
than the score.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ...encoders.raw import make_csr
from ...files.arrays import find_sorted, open_array, save_arrays
from .sparse import SparseVectors, open_csr, write_csr

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

# The number of common features. Half of the postings are theirs.
_COMMON = 128
# The level of the largest value in rows. With queries of at most this length in levels, no sum of
# products is over 16 bits, by Cauchy-Schwarz: to round up adds at most 1 to each value.
_LEVELS = 255
_QUERY_LEVELS = math.floor((2**16 - 1) / (_LEVELS + _COMMON**0.5) - _COMMON**0.5)
# Columns are added in parts of so many rows, which stay in the processor's cache.
_PART = 1 << 16
# Of the rows that may score best, as many are compared at first as are wanted, and this share more.
_AT_FIRST = 1.25
# With fewer rows, to compare all of them takes no longer.
LEAST_ROWS = 1 << 13
# The relative error of a float32 product or sum.
_FLOAT32 = 2.0**-24
# The best of each group of at most this many rows stand for all when the best rows are chosen; the
# second number is how many groups there are for each of them.
_GROUP = 16
_GROUPS_FOR_ONE = 8


@dataclass(eq=False)
class Postings:
    """The rows of each rare feature, and the levels of the common ones.

    rows (csr_matrix): float32 (width, n): the values of the rare features; a common one has none.
    features (Ints1d): int64 (c,): the common features, ascending.
    levels (np.ndarray): uint16 (c, n): their values without the signs, in levels, rounded up.
    longest (Floats1d): float32 (1,): the length of the longest row, divided into the levels.
    """

    rows: "csr_matrix"
    features: np.ndarray
    levels: np.ndarray
    longest: np.ndarray

    @classmethod
    def from_vectors(cls, vectors: SparseVectors) -> "Postings":
        """Sort the values of vectors by their features.

        vectors (SparseVectors): (n, width).
        RETURNS (Postings): Their postings.
        """
        columns, size = vectors.unit.tocsc(), len(vectors)
        counts = np.diff(columns.indptr)
        features = np.sort(np.argsort(-counts, kind="stable")[:_COMMON])
        is_rare = np.ones(len(counts), dtype="bool")
        is_rare[features] = False
        kept, pointers = np.repeat(is_rare, counts), np.cumsum(np.where(is_rare, counts, 0))
        pointers = np.concatenate([[0], pointers]).astype(columns.indptr.dtype)
        rows = make_csr((columns.data[kept], columns.indices[kept], pointers), size)
        values, in_rows = np.abs(columns.data[~kept]), columns.indices[~kept]
        squares = make_csr((vectors.unit.data**2, vectors.unit.indices, vectors.unit.indptr), 1)
        longest = np.float32(np.sqrt(np.asarray(squares.sum(axis=1)).max(initial=0)))
        place = np.repeat(np.arange(len(features)), counts[features])
        levels = np.zeros((len(features), size), dtype="uint16")
        levels[place, in_rows] = _rounded_up(values, longest / _LEVELS, _LEVELS)
        return cls(rows, features, levels, np.array([longest]))

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
        count = min(_COMMON, width)
        return cls(
            open_csr(folder, stem, rows=width, width=rows),
            open_array(folder / f"{stem}.features.npy", "int64", (count,), bounds=(0, width)),
            open_array(folder / f"{stem}.levels.npy", "uint16", (count, rows)),
            open_array(folder / f"{stem}.longest.npy", "float32", (1,), finite=True),
        )

    def write(self, folder: Path, stem: str) -> None:
        """Write the files that `open` maps.

        folder (Path): The folder.
        stem (str): The beginning of the file names.
        """
        write_csr(self.rows, folder, stem)
        names = ("features", "levels", "longest")
        save_arrays(folder, stem, {name: getattr(self, name) for name in names})

    def best(
        self,
        queries: "csr_matrix",
        count: int,
        compare: Callable[[int, np.ndarray], np.ndarray],
        penalties: np.ndarray | None = None,
    ) -> list[tuple[np.ndarray, np.ndarray]]:
        """Find the rows that can be among the best for queries. Those that may score best are
        compared first, and the worst of them that is wanted tells which others must be.

        queries (csr_matrix): float32 (b, width), at least one.
        count (int): The number of rows wanted, at least 1.
        compare (Callable[[int, Ints1d], Floats1d]): Computes the exact scores of a query's rows.
        penalties (Optional[Floats1d]): float32 (n,): -inf for rows that may not be found, 0 for
            others.
        RETURNS (List[Tuple[Ints1d, Floats1d]]): For each query, all rows that score as high as the
            last of the best, and perhaps others, int64 in no order; and their scores, float32.
        """
        results = []
        for query, limits in enumerate(self._limits(queries)):
            if penalties is not None:
                limits += penalties
            least = _least_of_best(limits, math.ceil(_AT_FIRST * count))
            # The conditions are written so that NaN passes, and is refused later.
            rows = _where(~(limits < least), limits)
            scores = compare(query, rows)
            worst = np.partition(scores, -count)[-count]
            if not worst >= least:
                others = _where(~(limits < worst) & (limits < least), limits)
                rows = np.concatenate([rows, others])
                scores = np.concatenate([scores, compare(query, others)])
            results.append((rows, scores))
        return results

    def _limits(self, queries: "csr_matrix") -> Iterator[np.ndarray]:
        """Compute what the rows can score at most.

        YIELDS (Floats1d): For each query, float32 (n,).
        """
        data, indices, pointers = self.rows.data, self.rows.indices, self.rows.indptr
        for start, stop in pairwise(queries.indptr.tolist()):
            features, weights = queries.indices[start:stop], queries.data[start:stop]
            first, last = pointers[features], pointers[features + 1]
            # An empty list first, since a query may have no features.
            lists = [slice(0, 0), *map(slice, first.tolist(), last.tolist())]
            values = np.concatenate(list(map(data.__getitem__, lists)))
            values *= np.repeat(weights, last - first)
            length = math.sqrt(weights @ weights)
            limits = self._common_limits(features, weights, length)
            np.add.at(limits, np.concatenate(list(map(indices.__getitem__, lists))), values)
            slack = 4 * (len(features) + 2) * _FLOAT32 * length * float(self.longest[0])
            limits += np.float32(slack)
            yield limits

    def _common_limits(
        self, features: np.ndarray, weights: np.ndarray, length: float
    ) -> np.ndarray:
        """Compute what the common features add to a score at most.

        features (Ints1d): int (m,): the features of a query, ascending.
        weights (Floats1d): float32 (m,): its values.
        length (float): Its length.
        RETURNS (Floats1d): float32 (n,).
        """
        place = find_sorted(self.features, features.astype("int64"))
        known = place >= 0
        step = np.float32(length / _QUERY_LEVELS)
        wanted = _rounded_up(np.abs(weights[known]), step, _QUERY_LEVELS + 1)
        sums = np.zeros(self.levels.shape[1], dtype="uint16")
        for start in range(0, len(sums), _PART):
            part = sums[start : start + _PART]
            products = np.empty_like(part)
            for row, level in zip(place[known].tolist(), wanted, strict=True):
                np.multiply(self.levels[row, start : start + _PART], level, out=products)
                part += products
        limits = sums.astype("float32")
        limits *= step * (self.longest[0] / np.float32(_LEVELS))
        return limits


def _rounded_up(values: np.ndarray, step: np.floating, most: int) -> np.ndarray:
    """RETURNS (np.ndarray): uint16: values in steps. What is not finite has the highest level."""
    levels = np.ceil(values / (step if step > 0 else 1))
    return np.fmin(levels, most).astype("uint16")


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
