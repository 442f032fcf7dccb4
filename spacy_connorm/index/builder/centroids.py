"""Concept representations: the means of the vectors of their texts (searches over C)."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from ...encoders.vectors import Raw, stack
from ..members import Members
from ..vectors.base import Vectors, from_raw
from ..vectors.writer import VectorWriter

# How many centroids are in memory at once.
_WINDOW = 1 << 14


class Centroids:
    """The centroids of the concepts that have texts in a target."""

    def __init__(self, vectors: Vectors, members: Members, target: int, concept_count: int) -> None:
        """Group the rows by concept.

        vectors (Vectors): One vector per row.
        members (Members): The concepts of the rows.
        target (int): O, D or both: which texts are averaged.
        concept_count (int): The number of concepts.
        """
        chosen = np.flatnonzero(members.target & target)
        concepts = members.concept[chosen]
        rows = np.searchsorted(members.start, chosen, side="right") - 1
        sizes = np.bincount(concepts, minlength=concept_count)
        self.concepts = np.flatnonzero(sizes)
        self._vectors = vectors
        self._rows = rows[np.argsort(concepts, kind="stable")]
        self._ends = np.concatenate([[0], np.cumsum(sizes[self.concepts])])

    def blocks(self) -> Iterator[Raw]:
        """YIELDS (Raw): The centroids in order, (b, width) at a time; at least one block."""
        for start in range(0, max(len(self.concepts), 1), _WINDOW):
            yield self._block(self._ends[start : start + _WINDOW + 1])

    def _block(self, ends: np.ndarray) -> Raw:
        sizes = np.diff(ends)
        shares = np.repeat((1 / sizes).astype("float32"), sizes)
        rows = self._rows[ends[0] : ends[-1]]
        shape = (len(sizes), len(self._vectors))
        from scipy.sparse import csr_matrix

        return self._vectors.sums(csr_matrix((shares, rows, ends - ends[0]), shape=shape))

    def write(self, folder: Path, stem: str, *, dtype: str) -> None:
        """Write the centroids as vectors, and the numbers of their concepts.

        folder (Path): Where to write.
        stem (str): How the file names start.
        dtype (str): How dense vectors are stored.
        """
        np.save(folder / f"{stem}.concepts.npy", self.concepts)
        writer = VectorWriter(folder, stem)
        for block in self.blocks():
            writer.append(from_raw(block, dtype=dtype))
        writer.close()


def concept_centroids(
    vectors: Vectors, members: Members, target: int, concept_count: int
) -> tuple[np.ndarray, Raw]:
    """Compute all centroids at once: the mean raw vector of each concept's distinct texts.

    vectors, members, target, concept_count: As in `Centroids`.
    RETURNS (Tuple[Ints1d, Raw]): The numbers of the concepts with texts, and their centroids.
    """
    centroids = Centroids(vectors, members, target, concept_count)
    return centroids.concepts, stack(centroids.blocks())
