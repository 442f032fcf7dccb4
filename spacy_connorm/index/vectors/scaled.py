"""Vectors as long as the encoder made them: compared by inner products instead of cosines."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...encoders.vectors import Raw
from ..metrics import COSINE
from .base import HybridVectors, Vectors
from .dense import RowScores

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

# A row of codes that faiss reads quickly has a multiple of so many components.
_ALIGNED = 4


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

    def queries(self, rows: np.ndarray, *, weight: float = 1.0) -> Raw:
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


class LiftedVectors:
    """Scaled vectors with one more component, which makes all of them equally long: those nearest
    to a query by angle have the largest inner products with it (Bachrach et al. 2014). So an index
    for cosines can propose them. Zeros follow up to a multiple of four components.
    """

    def __init__(self, vectors: ScaledVectors) -> None:
        """vectors (ScaledVectors): Dense or quantized."""
        self._vectors = vectors
        self._longest = float(vectors.norms.max(initial=0)) or 1.0
        self.width = vectors.width + _ALIGNED - vectors.width % _ALIGNED
        self.norms = np.ones(len(vectors), dtype="float32")

    def __len__(self) -> int:
        return len(self._vectors)

    def queries(self, rows: np.ndarray, *, weight: float = 1.0) -> np.ndarray:
        """RETURNS (Floats2d): float32 (b, width): some rows, at length one."""
        scaled = self._vectors.queries(rows) / self._longest
        rest = np.sqrt(np.maximum(1 - np.square(scaled).sum(axis=1), 0))
        return self._with(scaled, rest)

    def lift(self, queries: np.ndarray) -> np.ndarray:
        """RETURNS (Floats2d): float32 (b, width): queries of any length, at length one."""
        norms = np.linalg.norm(queries, axis=1, keepdims=True)
        return self._with(queries / np.where(norms > 0, norms, 1), np.zeros(len(queries)))

    def _with(self, vectors: np.ndarray, component: np.ndarray) -> np.ndarray:
        lifted = np.zeros((len(vectors), self.width), dtype="float32")
        lifted[:, : vectors.shape[1]] = vectors
        lifted[:, vectors.shape[1]] = component
        return lifted


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


def lifted(vectors: Any) -> Any:
    """RETURNS (Union[Vectors, LiftedVectors]): What an index for cosines is built from."""
    return LiftedVectors(vectors) if isinstance(vectors, ScaledVectors) else vectors


def lifted_queries(vectors: Any, queries: np.ndarray) -> np.ndarray:
    """vectors (Union[Vectors, LiftedVectors]): From `lifted`.
    queries (Floats2d): (b, width) queries of the vectors that these were made from.
    RETURNS (Floats2d): float32 (b, width): what that index is asked.
    """
    return vectors.lift(queries) if isinstance(vectors, LiftedVectors) else queries
