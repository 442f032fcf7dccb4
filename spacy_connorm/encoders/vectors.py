"""Encoder outputs: dense arrays, sparse matrices, or both for hybrid encoders."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix


# The output of an encoder: an array, a CSR matrix or a `HybridArray`.
Raw: TypeAlias = Any


@dataclass(frozen=True, eq=False)
class HybridArray:
    """A dense and a lexical vector per text. They are kept apart, since the weight of the lexical
    cosine belongs to the query, not to the vectors it is compared with.

    dense (Floats2d): float32 (b, dense width).
    lexical (csr_matrix): float32 (b, lexical width).
    weight (float): The weight of the lexical cosine relative to the dense one, at least 0.
    """

    dense: np.ndarray
    lexical: "csr_matrix"
    weight: float = 1.0

    @property
    def shape(self) -> tuple[int, int]:
        """RETURNS (Tuple[int, int]): The number of rows, and the sum of both widths."""
        return self.dense.shape[0], self.dense.shape[1] + self.lexical.shape[1]

    def __getitem__(self, rows: Any) -> "HybridArray":
        """RETURNS (HybridArray): Some rows.

        rows (Union[slice, Sequence[int]]): Which ones.
        """
        return HybridArray(self.dense[rows], self.lexical[rows], self.weight)

    def __add__(self, other: "HybridArray") -> "HybridArray":
        return HybridArray(self.dense + other.dense, self.lexical + other.lexical, self.weight)

    def __truediv__(self, number: float) -> "HybridArray":
        return HybridArray(self.dense / number, self.lexical / number, self.weight)

    def score(self, dense: np.ndarray, lexical: np.ndarray) -> np.ndarray:
        """Combine two cosines: the cosine of the concatenated vectors, if neither is zero.

        dense (np.ndarray): Cosines with the dense vectors.
        lexical (np.ndarray): Cosines with the lexical vectors, of the same shape.
        RETURNS (np.ndarray): Scores, from -1 to 1.
        """
        return (dense + self.weight * lexical) / (1 + self.weight)


def _stack_hybrid(batches: Sequence[HybridArray]) -> HybridArray:
    """RETURNS (HybridArray): The rows of one or more batches, with the weight of the first."""
    from scipy import sparse

    return HybridArray(
        np.vstack([batch.dense for batch in batches]),
        sparse.vstack([batch.lexical for batch in batches], format="csr"),
        batches[0].weight,
    )


def stack(raws: Iterable[Raw]) -> Raw:
    """Stack encoded batches.

    raws (Iterable[Union[Floats2d, csr_matrix, HybridArray]]): One or more batches, each (b, width).
    RETURNS (Union[Floats2d, csr_matrix, HybridArray]): All rows.
    """
    batches = list(raws)
    if len(batches) == 1:
        return batches[0]
    if isinstance(batches[0], HybridArray):
        return _stack_hybrid(batches)
    if isinstance(batches[0], np.ndarray):
        return np.vstack(batches)
    from scipy import sparse

    return sparse.vstack(batches, format="csr")


def weighted(raw: Raw, weight: float) -> Raw:
    """RETURNS (Union[Floats2d, csr_matrix, HybridArray]): The same vectors; those of a hybrid with
    another lexical weight.
    """
    return replace(raw, weight=weight) if isinstance(raw, HybridArray) else raw


def unit_rows(vectors: np.ndarray) -> np.ndarray:
    """vectors (Floats2d): (n, width).
    RETURNS (Floats2d): (n, width), rows scaled to length 1; zero rows stay.
    """
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
