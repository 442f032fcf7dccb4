"""What encoders return: dense, sparse or hybrid vectors, as the encoder made them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

# The output of an encoder: an array, a CSR matrix or a `HybridArray`.
Raw: TypeAlias = Any


@dataclass(frozen=True, eq=False)
class HybridArray:
    """A dense and a lexical vector per text. They are kept apart, since the weight of the lexical
    cosine belongs to the query, not to the vectors that it is compared with.

    dense (Floats2d): float32 (b, dense width).
    lexical (csr_matrix): float32 (b, lexical width).
    weight (float): The weight of the lexical cosine relative to the dense one, at least 0.
    """

    dense: np.ndarray
    lexical: "csr_matrix"
    weight: float = 1.0

    @property
    def shape(self) -> tuple[int, int]:
        """The shape of the concatenated vectors.

        RETURNS (Tuple[int, int]): The number of rows, and the sum of both widths.
        """
        return self.dense.shape[0], self.dense.shape[1] + self.lexical.shape[1]

    def __getitem__(self, rows: Any) -> "HybridArray":
        """Select rows.

        RETURNS (HybridArray): These rows.

        rows (Union[slice, Sequence[int]]): The rows to select.
        """
        return HybridArray(self.dense[rows], self.lexical[rows], self.weight)


def stack(raws: Iterable[Raw]) -> Raw:
    """Concatenate encoded batches.

    raws (Iterable[Union[Floats2d, csr_matrix, HybridArray]]): One or more batches, each (b, width).
    RETURNS (Union[Floats2d, csr_matrix, HybridArray]): All rows; the weight of hybrid ones is that
        of the first batch.
    """
    batches = list(raws)
    first = batches[0]
    if len(batches) == 1:
        return first
    if isinstance(first, HybridArray):
        dense, lexical = zip(*((batch.dense, batch.lexical) for batch in batches), strict=True)
        return HybridArray(stack(dense), stack(lexical), first.weight)
    if isinstance(first, np.ndarray):
        return np.vstack(batches)
    from scipy import sparse

    return sparse.vstack(batches, format="csr")


def make_csr(parts: Sequence[np.ndarray], width: int) -> "csr_matrix":
    """Make a CSR matrix from three arrays, without copying or checking them.

    parts (Sequence[np.ndarray]): Its `data`, `indices` and `indptr`.
    width (int): The number of columns.
    RETURNS (csr_matrix): float32 (n, width).
    """
    from scipy.sparse import csr_matrix

    data, indices, pointers = parts
    matrix = csr_matrix((len(pointers) - 1, width), dtype="float32")
    matrix.data, matrix.indices, matrix.indptr = data, indices, pointers
    return matrix


def unit_rows(vectors: np.ndarray) -> np.ndarray:
    """Scale rows to length 1.

    vectors (Floats2d): (n, width).
    RETURNS (Floats2d): (n, width); zero rows do not change.
    """
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
