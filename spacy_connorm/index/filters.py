"""Which concepts may be found, by semantic type and by branch of the hierarchy."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from ..text.cleaning import clean
from .backends.protocol import AllowedItems
from .concept_index import ConceptIndex
from .search import Search

# A mask has one byte per concept, and for each search one per item.
_MAX_MASKS = 16


class Filter(NamedTuple):
    """Which concepts may be found.

    types (Tuple[str, ...]): Of one of these semantic types; all if empty.
    branches (Tuple[str, ...]): At or below one of these concepts; all if empty.
    """

    types: tuple[str, ...] = ()
    branches: tuple[str, ...] = ()

    @classmethod
    def of(cls, types: Iterable[str], branches: Iterable[str]) -> "Filter":
        """RETURNS (Filter): The filter by these types and branches, cleaned."""
        return cls(tuple(map(clean, types)), tuple(map(clean, branches)))


class AllowedConcepts:
    """The concepts of an index that may be found. Which items of a search they are is worked out
    once per search, not once per call: that takes a while with millions of names.
    """

    def __init__(self, index: ConceptIndex, concepts: np.ndarray) -> None:
        """index (ConceptIndex): The index.
        concepts (np.ndarray): bool (concepts,): which concepts may be found.
        """
        self.concepts = concepts
        self._index = index
        self._items: dict[Search, AllowedItems] = {}

    def items(self, search: Search) -> AllowedItems:
        """search (Search): A search.
        RETURNS (AllowedItems): Its items that are, or name, a concept that may be found.
        """
        if search not in self._items:
            if search.representation == "T":
                mask = self._texts(search)
            else:
                mask = self.concepts[self._index.concepts_of(search)]
            self._items[search] = AllowedItems(mask)
        return self._items[search]

    def _texts(self, search: Search) -> np.ndarray:
        index, members = self._index, self._index.members
        rows = np.zeros(len(members.start) - 1, dtype="bool")
        named = (members.target & search.target > 0) & self.concepts[members.concept]
        rows[index.row_numbers[named]] = True
        first = index.first_row(search)
        return rows[first : first + len(index.searcher(search))]


def allowed_concepts(filter: Filter, index: ConceptIndex) -> AllowedConcepts | None:
    """Find the concepts that a filter lets through.

    filter (Filter): What may be found.
    index (ConceptIndex): The index.
    RETURNS (Optional[AllowedConcepts]): The concepts; None if everything may be found.
    RAISES (ConnormError): CN406 for a type that no concept has, CN407 for an unknown branch.
    """
    if not filter.types and not filter.branches:
        return None
    mask = np.ones(index.concept_count, dtype="bool")
    if filter.types:
        mask &= _among(index.store.of_types(filter.types), len(mask))
    if filter.branches:
        mask &= _among(index.store.of_branches(filter.branches), len(mask))
    return AllowedConcepts(index, mask)


class Masks:
    """Caches the masks of filters. Threads may share it."""

    def __init__(self) -> None:
        self._masks: dict[Filter, AllowedConcepts | None] = {}

    def get(self, filter: Filter, index: ConceptIndex) -> AllowedConcepts | None:
        """RETURNS (Optional[AllowedConcepts]): As `allowed_concepts`, always of the same index.
        RAISES (ConnormError): CN406 and CN407 as `allowed_concepts`.
        """
        try:
            return self._masks[filter]
        except KeyError:
            mask = allowed_concepts(filter, index)
        if len(self._masks) >= _MAX_MASKS:
            self._masks.clear()
        self._masks[filter] = mask
        return mask


def _among(numbers: np.ndarray, size: int) -> np.ndarray:
    mask = np.zeros(size, dtype="bool")
    mask[numbers] = True
    return mask
