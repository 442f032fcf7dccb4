"""All names of an index and of the synonyms added to it, found by their words."""

from functools import cached_property
from typing import NamedTuple

import numpy as np

from ..index.cache import Cache
from ..index.concept_index import ConceptIndex
from ..index.filters import AllowedConcepts
from ..index.members import TARGETS, D
from ..index.overlay import SynonymOverlay
from ..index.word_bags import WordBags

_CACHED = 100_000


class KnownName(NamedTuple):
    """A name and a concept that it denotes.

    text (str): As written.
    concept (int): The concept's number in the index.
    times (int): How often D gives the text this concept; 0 if only O does.
    """

    text: str
    concept: int
    times: int


class KnownNames:
    """Finds names by the hashes of their words, see `index.word_bags.WordBags`. It never changes:
    other synonyms need another one.
    """

    def __init__(
        self,
        index: ConceptIndex,
        overlay: SynonymOverlay,
        allowed: AllowedConcepts | None = None,
        target: str = "OD",
        *,
        inexact: bool = True,
    ) -> None:
        """Store the parts.

        index (ConceptIndex): The index.
        overlay (SynonymOverlay): Synonyms added and removed since it was built.
        allowed (Optional[AllowedConcepts]): Leave out the names of other concepts.
        target (str): Whose names: "O", "D" or "OD". Added synonyms belong to D.
        inexact (bool): Whether synonyms of O that are not exact are names.
        RAISES (ConnormError): CN412 if an older version built the index.
        """
        self.index = index
        self.overlay = overlay
        self._bags = index.word_bags
        self._allowed = allowed
        self._target = TARGETS[target]
        self._inexact = inexact
        self._names: Cache[int, tuple[KnownName, ...]] = Cache(_CACHED)

    @cached_property
    def longest(self) -> int:
        """RETURNS (int): How many words the longest name has."""
        sizes = [int(bags.sizes[-1]) for bags in (self._bags, self._added) if len(bags.sizes)]
        return max(sizes, default=0)

    @cached_property
    def _added(self) -> WordBags:
        known = self.overlay.synonyms if self._target & D else ()
        texts = [synonym.text for synonym in known]
        return WordBags.from_texts(texts, np.arange(len(texts)))

    def contain(self, values: np.ndarray) -> np.ndarray:
        """RETURNS (np.ndarray): bool (b,): whether a name has the bag of each hash."""
        return self._bags.contain(values) | self._added.contain(values)

    def have_words(self, values: np.ndarray) -> np.ndarray:
        """RETURNS (np.ndarray): bool (b,): whether some name has the word of each hash."""
        return self._bags.have_words(values) | self._added.have_words(values)

    def names(self, value: int) -> tuple[KnownName, ...]:
        """RETURNS (Tuple[KnownName, ...]): The names whose bag has this hash."""
        found = self._names.get(value)
        if found is None:
            found = (*self._indexed(value), *self._of_overlay(value))
            self._names.put(value, found)
        return found

    def _indexed(self, value: int) -> list[KnownName]:
        (rows,) = self._bags.rows_of(np.asarray([value], dtype="uint64"))
        members, removed = self.index.members, self.overlay.removed
        places = members.of_rows(rows)
        of_row = np.repeat(rows, np.diff(members.start)[rows]).tolist()
        texts = self.index.store.texts(places.tolist())
        return [
            KnownName(texts[place], concept, int(members.count[place]))
            for place, row, concept in zip(
                places.tolist(), of_row, members.concept[places].tolist(), strict=True
            )
            if members.target[place] & self._target
            and (self._inexact or not members.inexact[place])
            and (row, concept) not in removed
            and self._is_allowed(concept)
        ]

    def _of_overlay(self, value: int) -> list[KnownName]:
        (rows,) = self._added.rows_of(np.asarray([value], dtype="uint64"))
        synonyms = [self.overlay.synonyms[row] for row in rows.tolist()]
        return [
            KnownName(each.text, each.concept, self.overlay.count(each))
            for each in synonyms
            if self._is_allowed(each.concept)
        ]

    def _is_allowed(self, concept: int) -> bool:
        return self._allowed is None or bool(self._allowed.concepts[concept])
