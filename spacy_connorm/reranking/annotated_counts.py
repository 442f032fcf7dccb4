"""How often annotated data (D) links to concepts, and texts to concepts."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
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
    more (Mapping[bytes, Mapping[int, int]]): By encoder input and concept number: how much more
        often, or less if negative, D links a text to a concept than the index says.
    """

    index: ConceptIndex
    overlay: SynonymOverlay
    by_concept: np.ndarray
    more: Mapping[bytes, Mapping[int, int]] = field(default_factory=dict)

    @classmethod
    def beside(cls, index: ConceptIndex, overlay: SynonymOverlay) -> "AnnotatedCounts":
        """RETURNS (AnnotatedCounts): The counts of an index and the synonyms beside it."""
        members = index.members
        counts = np.bincount(members.concept, members.count, minlength=index.concept_count)
        for row, concept in overlay.removed:
            counts[concept] -= members.count[members.of(row, concept)].sum()
        counted = cls(index, overlay, counts.astype("int64"))
        return counted._changed((each, overlay.own_count(each)) for each in overlay.synonyms)

    def without(self, synonyms: Sequence[Synonym]) -> "AnnotatedCounts":
        """RETURNS (AnnotatedCounts): The counts if D lacked some synonyms, as often as each is
        listed.
        """
        known = Counter((each.key, each.concept) for each in synonyms)
        distinct = {(each.key, each.concept): each for each in synonyms}
        return self._changed(
            (each, -min(known[pair], self.of_text(each.key).get(each.concept, 0)))
            for pair, each in distinct.items()
        )

    def _changed(self, changes: Iterable[tuple[Synonym, int]]) -> "AnnotatedCounts":
        by_concept = self.by_concept.copy()
        more = {key: Counter(counts) for key, counts in self.more.items()}
        for synonym, times in changes:
            by_concept[synonym.concept] += times
            more.setdefault(synonym.key, Counter())[synonym.concept] += times
        return replace(self, by_concept=by_concept, more=more)

    def of_concept(self, concept: int) -> int:
        """RETURNS (int): How often D links to a concept, by its number."""
        return max(int(self.by_concept[concept]), 0)

    def of_text(self, key: bytes) -> dict[int, int]:
        """RETURNS (Dict[int, int]): How often D links a text to each concept, by its number; those
        to which it does not are left out.

        key (bytes): The text's encoder input.
        """
        counts = Counter(self.more.get(key, {}))
        row = self.index.keys.row(key)
        if row is not None:
            members = self.index.members
            mine = slice(members.start[row], members.start[row + 1])
            pairs = zip(members.concept[mine].tolist(), members.count[mine].tolist(), strict=True)
            for concept, times in pairs:
                counts[concept] += times * ((row, concept) not in self.overlay.removed)
        return {concept: times for concept, times in counts.items() if times > 0}
