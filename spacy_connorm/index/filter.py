"""Filters by semantic type and branch, and the concepts of an index that they allow."""

from typing import NamedTuple

import numpy as np

from .backends.protocol import AllowedItems
from .concept_index import ConceptIndex
from .search import Search


class Filter(NamedTuple):
    """Limits the concepts that may be found.

    types (Tuple[str, ...]): Only concepts of these semantic types; all if empty.
    branches (Tuple[str, ...]): Only concepts at or below these; all if empty.
    excluded (Tuple[str, ...]): None of these concepts, nor those that are only below them.
    """

    types: tuple[str, ...] = ()
    branches: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()


class AllowedConcepts:
    """The concepts of an index that may be found. The items of each search are computed only once,
    since that takes a while with millions of names.
    """

    def __init__(self, index: ConceptIndex, concepts: np.ndarray) -> None:
        """Store the mask.

        index (ConceptIndex): The index.
        concepts (np.ndarray): bool (concepts,): which concepts may be found.
        """
        self.concepts = concepts
        self._index = index
        self._items: dict[Search, AllowedItems] = {}

    def items(self, search: Search) -> AllowedItems:
        """Find the items of a search that denote an allowed concept.

        search (Search): A search.
        RETURNS (AllowedItems): These items.
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
        rows[members.row_numbers[named]] = True
        return rows[slice(*index.row_ranges[search.target])]


def allowed_concepts(filter: Filter, index: ConceptIndex) -> AllowedConcepts:
    """Find the concepts that a filter allows.

    filter (Filter): The filter.
    index (ConceptIndex): The index.
    RETURNS (AllowedConcepts): The concepts.
    RAISES (ConnormError): CN406 for an unknown type or branch.
    """
    numbers = np.arange(len(index.store))
    mask = np.ones(len(numbers), dtype="bool")
    if filter.types:
        mask &= np.isin(numbers, index.store.of_types(filter.types))
    if filter.branches:
        mask &= np.isin(numbers, index.store.of_branches(filter.branches))
    if filter.excluded:
        mask &= ~index.store.only_below(filter.excluded)
    return AllowedConcepts(index, mask)
