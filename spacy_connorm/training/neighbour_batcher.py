"""Batches of concepts that the encoder still confuses."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ..encoders.vectors import unit_rows
from ..errors import require_positive
from .batchers import Vectors, check_groups, draw_groups, pack_groups
from .occurrences import Occurrences
from .pool import SynonymPool
from .similarity import top_columns

# Random texts whose mean represents a concept.
_SAMPLED = 2
# Near concepts found for each that a cluster needs: some are in another cluster already.
SPARE = 4
# The nearest concepts are searched in random blocks of this size, so that the work grows with the
# ontology, not with its square.
_BLOCK = 20_000
_COMPARED_AT_ONCE = 1_000


@dataclass(frozen=True)
class NeighbourBatcher:
    """`spacy-connorm.NeighbourBatcher.v1`: groups as in `GroupBatcher`, but batched together with
    groups of the nearest concepts, by the encoder at the beginning of the epoch. So a batch of a
    few hundred texts has hard negatives, for which random batches must be far larger (the online
    mining of Xu and Bethard 2021, section 3.1, across batches).

    size (int): At most how many texts a batch has; at least three groups.
    per_concept (int): Texts in a group.
    neighbours (int): How many groups of near concepts are batched together, the first included.
    RAISES (ConnormError): CN006 for an invalid setting.
    """

    size: int = 512
    per_concept: int = 2
    neighbours: int = 8

    def __post_init__(self) -> None:
        check_groups(self.size, self.per_concept)
        require_positive("neighbours", self.neighbours)

    def batches(
        self, pool: SynonymPool, *, seed: int, epoch: int, vectors: Vectors
    ) -> list[np.ndarray]:
        """RETURNS (List[Ints1d]): As `Batcher.batches`."""
        rng = np.random.default_rng((seed, epoch))
        found = Occurrences.of(pool)
        groups = draw_groups(found, self.per_concept, rng)
        if not len(groups.widths):
            return []
        starts, concept = np.unique(groups.concept, return_inverse=True)
        sizes = found.end[starts] - starts
        sampled = starts + rng.integers(sizes, size=(_SAMPLED, len(starts)))
        centroids = _centroids(found.row[sampled], vectors)
        near = _nearest(centroids, self.neighbours * SPARE, rng)
        return pack_groups(groups, cluster_groups(concept, near, self.neighbours, rng), self.size)


def _centroids(rows: np.ndarray, vectors: Vectors) -> np.ndarray:
    """The mean vector of each column of rows, at unit length."""
    distinct, places = np.unique(rows, return_inverse=True)
    return unit_rows(vectors(distinct)[places.reshape(rows.shape)].mean(axis=0))


def _nearest(centroids: np.ndarray, count: int, rng: np.random.Generator) -> np.ndarray:
    """The `count` nearest other concepts of each concept in its random block, nearest first; fewer
    if a block is smaller."""
    blocks = np.array_split(rng.permutation(len(centroids)), -(-len(centroids) // _BLOCK))
    count = min(count, min(map(len, blocks)) - 1)
    near = np.empty((len(centroids), count), dtype="int64")
    for block in blocks:
        for part in np.array_split(block, -(-len(block) // _COMPARED_AT_ONCE)):
            cosines = centroids[part] @ centroids[block].T
            cosines[part[:, None] == block] = -np.inf
            near[part] = block[top_columns(cosines, count)]
    return near


class NearConcepts(Protocol):
    """The near concepts of each concept, by number."""

    def __getitem__(self, concept: int, /) -> Iterable[int]: ...


def cluster_groups(
    concept: np.ndarray, near: NearConcepts, size: int, rng: np.random.Generator
) -> np.ndarray:
    """Order groups so that those of near concepts follow each other.

    concept (Ints1d): int64 (groups,), the concept of each group.
    near (NearConcepts): The near concepts of a concept, nearest first.
    size (int): At most how many groups a cluster has.
    rng (Generator): The source of randomness.
    RETURNS (Ints1d): int64 (groups,), the groups, cluster by cluster, these in random order.
    """
    left: dict[int, list[int]] = defaultdict(list)
    shuffled = rng.permutation(len(concept))
    for group in shuffled.tolist():
        left[int(concept[group])].append(group)
    taken = np.zeros(len(concept), dtype=bool)
    clusters = []
    for group in shuffled.tolist():
        if taken[group]:
            continue
        own = int(concept[group])
        left[own].remove(group)
        cluster = [group]
        for other in near[own]:
            if len(cluster) == size:
                break
            if left[other]:
                cluster.append(left[other].pop())
        taken[cluster] = True
        clusters.append(cluster)
    return np.concatenate([clusters[place] for place in rng.permutation(len(clusters))])
