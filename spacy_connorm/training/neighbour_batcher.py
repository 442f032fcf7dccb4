"""Groups of texts in batches with the groups of concepts that the encoder confuses with theirs."""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..encoders.raw import unit_rows
from ..errors import require_range
from .batchers import GroupBatcher, Groups, Occurrences, top_columns

# The number of random texts whose mean represents a concept.
_SAMPLED = 2
# The number of near concepts to find for each one that a cluster needs: some are already in another
# cluster.
_SPARE = 4
# The nearest concepts are searched in random blocks of this size, so that the work grows with the
# ontology, not with its square.
_BLOCK = 20_000
_CONCEPTS_AT_ONCE = 1_000


@dataclass(frozen=True)
class NeighbourBatcher(GroupBatcher):
    """`spacy-connorm.NeighbourBatcher.v1`: groups as in `GroupBatcher`, but batched together with
    groups of the concepts that are nearest according to the encoder at the beginning of the epoch.
    So a batch of a few hundred texts has hard negatives, which random batches have only if they are
    far larger (the online mining of Xu and Bethard 2021, section 3.1, across batches).

    size (int): The maximum number of texts in a batch; at least three groups.
    per_concept (int): Texts in a group.
    neighbours (int): The number of groups of near concepts that are batched together, including the
        first.
    RAISES (ConnormError): CN006 for an invalid setting.
    """

    size: int = 512
    per_concept: int = 2
    neighbours: int = 8

    def __post_init__(self) -> None:
        super().__post_init__()
        require_range(least=1, neighbours=self.neighbours)

    def _order(
        self, occurrences: Occurrences, groups: Groups, ranking: Any, rng: np.random.Generator
    ) -> np.ndarray:
        starts, concept = np.unique(groups.concept, return_inverse=True)
        sizes = occurrences.end[starts] - starts
        sampled = starts + rng.integers(sizes, size=(_SAMPLED, len(starts)))
        centroids = _centroids(occurrences.row[sampled], ranking.vectors)
        near = _nearest(centroids, self.neighbours * _SPARE, rng)
        return _cluster_groups(concept, near, self.neighbours, rng)


def _centroids(rows: np.ndarray, vectors: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """Compute the mean vector of each column of rows, at unit length."""
    distinct, places = np.unique(rows, return_inverse=True)
    return unit_rows(vectors(distinct)[places.reshape(rows.shape)].mean(axis=0))


def _nearest(centroids: np.ndarray, count: int, rng: np.random.Generator) -> np.ndarray:
    """Find the `count` nearest other concepts of each concept in its random block, nearest first;
    fewer if a block is smaller.
    """
    blocks = np.array_split(rng.permutation(len(centroids)), -(-len(centroids) // _BLOCK))
    count = min(count, min(map(len, blocks)) - 1)
    near = np.empty((len(centroids), count), dtype="int64")
    for block in blocks:
        for part in np.array_split(block, -(-len(block) // _CONCEPTS_AT_ONCE)):
            cosines = centroids[part] @ centroids[block].T
            cosines[part[:, None] == block] = -np.inf
            near[part] = block[top_columns(cosines, count)]
    return near


def _cluster_groups(
    concept: np.ndarray, near: np.ndarray, size: int, rng: np.random.Generator
) -> np.ndarray:
    """Order groups cluster by cluster, int64 (groups,): a cluster has at most `size` groups of near
    concepts, in random order.

    concept (Ints1d): int64 (groups,), the concept of each group.
    near (Ints2d): int64 (concepts, n), the near concepts of each, nearest first.
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
        number = int(concept[group])
        left[number].remove(group)
        cluster = [group]
        for other in near[number].tolist():
            if len(cluster) == size:
                break
            if left[other]:
                cluster.append(left[other].pop())
        taken[cluster] = True
        clusters.append(cluster)
    return np.concatenate([clusters[place] for place in rng.permutation(len(clusters))])
