"""What changes scores after a search."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from ..encoders.vectors import Raw
from ..index.concept_index import ConceptIndex
from ..index.filters import AllowedConcepts
from ..index.overlay import SynonymOverlay
from ..index.search import Hit, Search


@dataclass
class SearchedTexts:
    """Texts that are searched together.

    texts (Sequence[str]): b cleaned texts.
    rows (Ints1d): int64 (b,): their rows in the index; -1 for texts that it lacks, or that denote
        nothing any more.
    vectors (Raw): (b, width): as the index compares them.
    index (ConceptIndex): What is searched.
    overlay (SynonymOverlay): What was added to it and removed from it.
    top_k (int): How many concepts each text wants.
    allowed (Optional[AllowedConcepts]): Which concepts may be found; all if None.
    depth (int): How many concepts are searched for: more if a rescorer may lower scores.
    may_rise (np.ndarray): bool (b,): texts for which a rescorer may raise scores, so that a low
        best score does not end their search.
    same_meaning (List[Set[int]]): For each text the members of the index that say the same in
        other words, so that no word of theirs is extra.
    """

    texts: Sequence[str]
    rows: np.ndarray
    vectors: Raw
    index: ConceptIndex
    overlay: SynonymOverlay
    top_k: int
    allowed: AllowedConcepts | None = None
    depth: int = field(init=False)
    may_rise: np.ndarray = field(init=False)
    same_meaning: list[set[int]] = field(init=False)

    def __post_init__(self) -> None:
        self.depth = self.top_k
        self.may_rise = np.zeros(len(self.texts), dtype="bool")
        self.same_meaning = [set() for _ in self.texts]


class Rescorer(Protocol):
    """Changes what a search found. A new one is a file, a line in `retriever.RESCORERS`, and a
    setting of its weight.
    """

    def __init__(self, batch: SearchedTexts, weight: float) -> None:
        """Prepare for all searches of a batch.

        batch (SearchedTexts): The texts.
        weight (float): The setting, over 0.
        """

    def __call__(
        self, search: Search, places: Sequence[int], found: list[list[Hit]]
    ) -> list[list[Hit]]:
        """Change scores.

        search (Search): The search.
        places (Sequence[int]): Which n texts of the batch it was asked for.
        found (List[List[Hit]]): What it found for each, best first.
        RETURNS (List[List[Hit]]): At most `batch.depth` hits for each, in their new order.
        """
