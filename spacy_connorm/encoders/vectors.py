"""Dense and sparse vectors of the same texts: what a hybrid encoder gives, and what it is asked."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix


# An array, a CSR matrix or a `HybridArray`: whichever the encoder gives.
Raw: TypeAlias = Any


@dataclass(frozen=True, eq=False)
class HybridArray:
    """Two vectors a text, not multiplied into one: how much the lexical one counts is a matter of
    those that ask, not of what they are compared with.

    dense (Floats2d): float32 (b, dense width).
    lexical (csr_matrix): float32 (b, lexical width).
    weight (float): Of a lexical cosine beside a dense one, at least 0.
    """

    dense: np.ndarray
    lexical: "csr_matrix"
    weight: float = 1.0

    @property
    def shape(self) -> tuple[int, int]:
        """RETURNS (Tuple[int, int]): Rows, and both widths together."""
        return self.dense.shape[0], self.dense.shape[1] + self.lexical.shape[1]

    def __getitem__(self, rows: Any) -> "HybridArray":
        """rows (Union[slice, Sequence[int]]): Some of the rows."""
        return HybridArray(self.dense[rows], self.lexical[rows], self.weight)

    def __add__(self, other: "HybridArray") -> "HybridArray":
        return HybridArray(self.dense + other.dense, self.lexical + other.lexical, self.weight)

    def __truediv__(self, number: float) -> "HybridArray":
        return HybridArray(self.dense / number, self.lexical / number, self.weight)

    def score(self, dense: np.ndarray, lexical: np.ndarray) -> np.ndarray:
        """Weigh two cosines: that of the two unit vectors joined, if neither is zero.

        dense (np.ndarray): Cosines with the dense vectors.
        lexical (np.ndarray): Cosines with the lexical ones, of the same shape.
        RETURNS (np.ndarray): Scores, from -1 to 1.
        """
        return (dense + self.weight * lexical) / (1 + self.weight)


def stack_hybrid(batches: Sequence[HybridArray]) -> HybridArray:
    """RETURNS (HybridArray): The rows of one or more batches, with the weight of the first."""
    from scipy import sparse

    return HybridArray(
        np.vstack([batch.dense for batch in batches]),
        sparse.vstack([batch.lexical for batch in batches], format="csr"),
        batches[0].weight,
    )


def stack(raws: Iterable[Raw]) -> Raw:
    """Stack encoded batches: each (b, width), at least one of them.

    raws (Iterable[Union[Floats2d, csr_matrix, HybridArray]]): The batches.
    RETURNS (Union[Floats2d, csr_matrix, HybridArray]): All rows.
    """
    from scipy import sparse

    batches = list(raws)
    if isinstance(batches[0], HybridArray):
        return stack_hybrid(batches)
    if sparse.issparse(batches[0]):
        return sparse.vstack(batches, format="csr")
    return np.vstack(batches)
