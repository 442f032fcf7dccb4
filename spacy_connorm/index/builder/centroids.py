"""Concepts as the means of their texts' vectors (design section 5, C)."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from scipy import sparse

from ...encoders.vectors import Raw, stack
from ..members import Members
from ..vectors.base import Vectors, from_raw
from ..vectors.writer import VectorWriter

# Concepts whose means are in memory at once.
_WINDOW = 1 << 14


class Centroids:
    """The means of those concepts that have texts in a target."""

    def __init__(self, vectors: Vectors, members: Members, target: int, concept_count: int) -> None:
        """Find out which texts are whose.

        vectors (Vectors): One a row.
        members (Members): What the rows denote.
        target (int): O, D or both: whose texts.
        concept_count (int): How many concepts there are.
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
        """YIELDS (Raw): The means of some concepts after others, (b, width); at least once."""
        for start in range(0, max(len(self.concepts), 1), _WINDOW):
            yield self._block(self._ends[start : start + _WINDOW + 1])

    def _block(self, ends: np.ndarray) -> Raw:
        sizes = np.diff(ends)
        shares = np.repeat((1 / sizes).astype("float32"), sizes)
        rows = self._rows[ends[0] : ends[-1]]
        shape = (len(sizes), len(self._vectors))
        return self._vectors.sums(sparse.csr_matrix((shares, rows, ends - ends[0]), shape=shape))

    def write(self, folder: Path, stem: str, *, dtype: str) -> None:
        """Write the means as vectors, and whose they are.

        folder (Path): Where to write.
        stem (str): How the files begin.
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
    """Average the raw vectors of each concept's distinct texts, all at once.

    vectors, members, target, concept_count: As those of `Centroids`.
    RETURNS (Tuple[Ints1d, Raw]): The numbers of the concepts that have texts, and a mean each.
    """
    means = Centroids(vectors, members, target, concept_count)
    return means.concepts, stack(means.blocks())
