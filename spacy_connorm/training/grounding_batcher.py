"""Triplets of synonyms and near names of other concepts, and concepts with some of their names."""

from dataclasses import dataclass
from math import ceil

import numpy as np

from ..encoders.raw import unit_rows
from ..errors import Errors, require_range
from .batchers import COMPARED_AT_ONCE, Batcher, Ranking, locate_rows, top_columns
from .batches import Batch, Groundings
from .pool import SynonymPool, sorted_unique

# For names with the same vector, 1 / distance would be infinite.
_LEAST_DISTANCE = 1e-3


@dataclass(frozen=True)
class GroundingBatcher(Batcher):
    """`spacy-connorm.GroundingBatcher.v1`, for `ConceptualGrounding` (Fivez et al. 2021, section
    3.2). Each ordered pair of synonyms is drawn once per epoch, with a negative: one of the nearest
    names by the current encoder that are not synonyms, with a probability that falls with its
    distance (Wu et al. 2017). A batch also has the concepts of its pairs, each with some of its
    names, drawn at random.

    size (int): The maximum number of pairs in a batch.
    neighbours (int): The number of nearest names to draw negatives from.
    name_dropout (float): The share of a concept's names that is left out; at least one name is
        kept.
    max_pairs (Optional[int]): The maximum number of pairs of a concept in an epoch, for ontologies
        whose largest concepts would take most of the time; all if None, as in the paper.
    RAISES (ConnormError): CN006 for an invalid setting.
    """

    size: int = 64
    neighbours: int = 200
    name_dropout: float = 0.5
    max_pairs: int | None = None

    relations = Groundings
    each_once = True

    def __post_init__(self) -> None:
        counts = {"neighbours": self.neighbours, "max_pairs": self.max_pairs}
        require_range(least=1, size=self.size, **counts)
        require_range(least=0, below=1, name_dropout=self.name_dropout)

    def batches(self, pool: SynonymPool, *, seed: int, epoch: int, ranking: Ranking) -> list[Batch]:
        """Draw the batches of an epoch; see `Batcher.batches`.

        RETURNS (List[Batch]): The batches.
        RAISES (ConnormError): CN810 if no pair has a negative.
        """
        rng = np.random.default_rng((seed, epoch))
        names = [sorted_unique(rows.astype("int64")) for rows in pool.members]
        pairs = self._draw_pairs(names, rng)
        if not len(pairs):
            return []
        negatives = self._draw_negatives(pool, pairs[:, 0], ranking, rng)
        # A name whose concepts have all names has no negatives.
        triplets = np.column_stack([pairs, negatives])[negatives >= 0]
        if not len(triplets):
            reason = "all names belong to one concept"
            mend = "an ontology with several concepts, some of them with two names"
            raise Errors.CN810(reason=reason, mend=mend)
        count = -(-len(triplets) // self.size)
        parts = np.array_split(rng.permutation(triplets), count)
        return [self._batch(part, names, rng) for part in parts]

    def _draw_pairs(self, names: list[np.ndarray], rng: np.random.Generator) -> np.ndarray:
        """Draw the name, synonym and concept of each pair, int64 (n, 3)."""
        parts = [np.empty((0, 3), dtype="int64")]
        for concept, rows in enumerate(names):
            first, second = np.nonzero(~np.eye(len(rows), dtype=bool))
            if self.max_pairs is not None and len(first) > self.max_pairs:
                chosen = rng.choice(len(first), self.max_pairs, replace=False)
                first, second = first[chosen], second[chosen]
            owner = np.full(len(first), concept)
            parts.append(np.column_stack([rows[first], rows[second], owner]))
        return np.concatenate(parts)

    def _draw_negatives(
        self, pool: SynonymPool, anchors: np.ndarray, ranking: Ranking, rng: np.random.Generator
    ) -> np.ndarray:
        """Draw a negative for each anchor, int64 (n,); -1 if all names are its synonyms."""
        rows = sorted_unique(np.concatenate([members.astype("int64") for members in pool.members]))
        points = unit_rows(ranking.vectors(rows))
        places = pool.places_by_concept(rows)
        distinct, times = np.unique(anchors, return_counts=True)
        found = []
        count = min(self.neighbours, len(rows))
        at_once = max(1, COMPARED_AT_ONCE // len(rows))
        for start in range(0, len(distinct), at_once):
            part = slice(start, start + at_once)
            cosines = points[np.searchsorted(rows, distinct[part])] @ points.T
            for scores, row in zip(cosines, distinct[part].tolist(), strict=True):
                for concept in pool.concepts[row]:
                    scores[places[concept]] = -np.inf
            near = top_columns(cosines, count)
            cosines = np.take_along_axis(cosines, near, axis=1)
            weights = 1 / np.maximum(1 - cosines, _LEAST_DISTANCE)
            shares = np.cumsum(weights, axis=1, dtype="float64")
            anchor = np.repeat(np.arange(len(near)), times[part])
            # Between 0 and the total, both excluded: a name without a share is never drawn.
            sought = (1 - rng.random(len(anchor))) * shares[anchor, -1]
            place = (shares[anchor] < sought[:, None]).sum(axis=1)
            candidates = rows[near[anchor, np.minimum(place, count - 1)]]
            found.append(np.where(shares[anchor, -1] > 0, candidates, -1))
        drawn = np.empty(len(anchors), dtype="int64")
        drawn[np.argsort(anchors, kind="stable")] = np.concatenate(found)
        return drawn

    def _batch(
        self, triplets: np.ndarray, names: list[np.ndarray], rng: np.random.Generator
    ) -> Batch:
        """Make a batch of triplets, int64 (n, 4): name, synonym, concept and negative of each."""
        anchors, positives, of_concept, negatives = triplets.T
        concepts = sorted_unique(of_concept)
        members_of = []
        for concept_names in (names[concept] for concept in concepts.tolist()):
            kept = ceil(len(concept_names) * (1 - self.name_dropout))
            members_of.append(rng.permutation(concept_names)[:kept])
        owners = np.repeat(np.arange(len(concepts)), list(map(len, members_of)))
        rows, (anchors, positives, negatives, members) = locate_rows(
            anchors, positives, negatives, np.concatenate(members_of)
        )
        return Batch(rows, Groundings(anchors, positives, negatives, concepts, members, owners))
