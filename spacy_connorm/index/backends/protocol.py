"""What every backend offers."""

from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np

from ...encoders.vectors import Raw
from ...errors import require_positive
from ..vectors.base import Vectors


class Neighbours(NamedTuple):
    """The nearest items of each query, best first; equal scores stand in item order. Which of
    several equal items the last places hold is not defined.

    items (Ints2d): int64 (b, n), -1 where fewer were found.
    scores (Floats2d): float32 (b, n) cosines, -inf where fewer were found.
    """

    items: np.ndarray
    scores: np.ndarray

    def only(self, queries: np.ndarray) -> "Neighbours":
        """RETURNS (Neighbours): Those of some queries.

        queries (np.ndarray): bool (b,), or int64 places.
        """
        return Neighbours(self.items[queries], self.scores[queries])


def require_positive_settings(backend: Any, *settings: str) -> None:
    """Refuse settings of a backend that are under 1.

    backend (Any): The backend.
    *settings (str): Their names.
    RAISES (ConnormError): CN006 for the first that will not do.
    """
    for setting in settings:
        require_positive(setting, getattr(backend, setting))


class Searcher(Protocol):
    """Finds the nearest of some vectors."""

    @property
    def vectors(self) -> Vectors:
        """What is searched, one item a row."""

    def __len__(self) -> int: ...

    def nearest(self, queries: Raw, n: int, allowed: np.ndarray | None = None) -> Neighbours:
        """Find the n nearest allowed items of each unit query."""


class Backend(Protocol):
    """Makes searchers; `AnnoyIndex` and `ExactIndex` are backends."""

    @property
    def dtype(self) -> Any: ...

    def build(self, vectors: Vectors, path: Path) -> None:
        """Write what a searcher over the vectors needs, if anything, to the file `path`."""

    def open(self, vectors: Vectors, path: Path) -> Searcher:
        """Open a searcher over the vectors with what `build` wrote."""
