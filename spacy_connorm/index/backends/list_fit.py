"""How well inverted lists fit their vectors. Centroids are learned once, and kept while names come
and go, until they fit clearly worse than when they were learned.
"""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from ...errors import ConnormError, Errors

# Codes of vectors that are this much farther from their centroids rank worse.
_FARTHER = 1.05
# A search reads this many times more vectors, as large lists are read more often than small ones.
_MORE_READ = 1.25
# Vectors this close to their centroids are practically equal.
_CLOSE = 1e-3


@dataclass(frozen=True)
class ListFit:
    """Measured when vectors are put into lists.

    lists (int): How many lists there are.
    seed (int): Of the k-means that learned the centroids.
    distance (float): The mean of 1 - the cosine of a vector and its centroid. Vectors that were
        taken out after the centroids were learned count as if they had been like the others.
    imbalance (float): How many times more vectors a search reads than if all lists were of one
        size.
    learned_distance (float): The distance when the centroids were learned.
    learned_imbalance (float): The imbalance then.
    """

    lists: int
    seed: int
    distance: float
    imbalance: float
    learned_distance: float
    learned_imbalance: float

    def misfit(self) -> str | None:
        """RETURNS (Optional[str]): Why the centroids no longer fit; None if they do."""
        if self.distance > max(_FARTHER * self.learned_distance, _CLOSE):
            return "vectors are too far from their centroids"
        if self.imbalance > _MORE_READ * self.learned_imbalance:
            return "the lists are too different in size"
        return None

    def write(self, path: Path) -> None:
        """path (Path): The file of the lists, beside which it is written."""
        _beside(path).write_text(json.dumps(asdict(self)), encoding="utf8")

    @classmethod
    def read(cls, path: Path) -> "ListFit | None":
        """Read what `write` wrote.

        path (Path): The file of the lists.
        RETURNS (Optional[ListFit]): The fit; None if there is none: there are no lists, or an older
            version wrote them.
        RAISES (ConnormError): CN416 if it is damaged.
        """
        path = _beside(path)
        if not path.exists():
            return None
        try:
            fit = cls(**json.loads(path.read_text(encoding="utf8")))
            if not all(0 <= each < np.inf for each in asdict(fit).values()):
                raise ValueError("a distance is no number above zero")
        except (ValueError, TypeError) as error:
            raise ConnormError(Errors.CN416.format(path=path, reason=error)) from error
        return fit


def _beside(path: Path) -> Path:
    return path.with_name(f"{path.name}.fit.json")
