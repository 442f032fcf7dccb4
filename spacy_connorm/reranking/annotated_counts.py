"""How often annotated data (D) links to concepts, and texts to concepts."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ..index.concept_index import ConceptIndex
from ..index.overlay import Synonym, SynonymOverlay


@dataclass(frozen=True)
class AnnotatedCounts:
    """What D counts, with the synonyms added and removed since the index was built.

    index (ConceptIndex): Has the concepts and the counts of D.
    overlay (SynonymOverlay): What was added and removed.
    by_concept (Ints1d): int64 (concepts,): how often D links to each.
    left_out (Mapping[bytes, Mapping[int, int]]): By encoder input and concept number: how often not
        to count that D links a text to a concept.
    """

    index: ConceptIndex
    overlay: SynonymOverlay
    by_concept: np.ndarray
    left_out: Mapping[bytes, Mapping[int, int]] = field(default_factory=dict)

    @classmethod
    def beside(cls, index: ConceptIndex, overlay: SynonymOverlay) -> "AnnotatedCounts":
        """RETURNS (AnnotatedCounts): The counts of an index and the synonyms beside it."""
        members = index.members
        counts = np.bincount(members.concept, members.count, minlength=index.concept_count)
        for row, concept in overlay.removed:
            counts[concept] -= members.count[members.of(row, concept)].sum()
        for each in overlay.synonyms:
            counts[each.concept] += overlay.own_count(each)
        return cls(index, overlay, counts.astype("int64"))

    def without(self, synonyms: Sequence[Synonym]) -> "AnnotatedCounts":
        """RETURNS (AnnotatedCounts): The counts if D lacked some synonyms, as often as each is
        listed, and all that it has at most.
        """
        listed = Counter((each.key, each.concept) for each in synonyms)
        left_out: dict[bytes, dict[int, int]] = {}
        for (key, concept), times in listed.items():
            known = self.overlay.counts(key).get(concept, 0)
            left_out.setdefault(key, {})[concept] = min(times, known)
        return replace(self, left_out=left_out)

    def of_concept(self, concept: int) -> int:
        """RETURNS (int): How often D links to a concept, by its number."""
        less = sum(each.get(concept, 0) for each in self.left_out.values())
        return int(self.by_concept[concept]) - less

    def of_text(self, key: bytes) -> dict[int, int]:
        """RETURNS (Dict[int, int]): How often D links a text to each concept, by its number; those
        to which it does not are left out.

        key (bytes): The text's encoder input.
        """
        less = self.left_out.get(key, {})
        counts = self.overlay.counts(key).items()
        left = {concept: times - less.get(concept, 0) for concept, times in counts}
        return {concept: times for concept, times in left.items() if times}
