"""Dense and lexical vectors of the same texts, compared together."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ...encoders.raw import HybridArray, Raw
from ..search import COSINE
from .dense import DenseVectors, RowScores
from .sparse import SparseVectors


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

    @property
    def unit(self) -> HybridArray:
        return HybridArray(self.dense.unit, self.lexical.unit, self.weight)

    @property
    def widths(self) -> dict[str, int]:
        return {**self.dense.widths, **self.lexical.widths}

    def __len__(self) -> int:
        return len(self.dense)

    def take(self, rows: np.ndarray | slice) -> "HybridVectors":
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
        self, queries: HybridArray, numbers: np.ndarray, rows: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Compute the two scores that `rescore` combines, for pairs of a query and a row.

        queries (HybridArray): (b, width).
        numbers (Ints1d): int64 (n,): the query of each pair.
        rows (Ints1d): int64 (n,): the row of each pair.
        RETURNS (Tuple[np.ndarray, np.ndarray]): The dense and the lexical scores; float32 (n,).
        """
        dense = self.dense.pairs(queries.dense, numbers, rows)
        return dense, self.lexical.pairs(queries.lexical, numbers, rows)

    def pairs(self, queries: HybridArray, numbers: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Compute the scores of pairs; see `DenseVectors.pairs`.

        RETURNS (Floats1d): float32 (n,).
        """
        return self.score(queries, *self.parts(queries, numbers, rows))

    def write(self, folder: Path, stem: str) -> None:
        """Write dense and lexical vectors; see `DenseVectors.write`."""
        self.dense.write(folder, f"{stem}.dense")
        self.lexical.write(folder, f"{stem}.lexical")
