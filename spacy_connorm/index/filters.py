"""Which concepts may be found, by semantic type and by branch of the hierarchy."""

from typing import NamedTuple

import numpy as np

from .concept_index import ConceptIndex

_MAX_MASKS = 64


class Filter(NamedTuple):
    """Which concepts may be found.

    types (Tuple[str, ...]): Of one of these semantic types; all if empty.
    branches (Tuple[str, ...]): At or below one of these concepts; all if empty.
    """

    types: tuple[str, ...] = ()
    branches: tuple[str, ...] = ()


def allowed_concepts(filter: Filter, index: ConceptIndex) -> np.ndarray | None:
    """Find the concepts that a filter lets through.

    filter (Filter): What may be found.
    index (ConceptIndex): The index.
    RETURNS (Optional[np.ndarray]): bool (concepts,); None if everything may be found.
    RAISES (ConnormError): CN406 for a type that no concept has, CN407 for an unknown branch.
    """
    if not filter.types and not filter.branches:
        return None
    mask = np.ones(index.concept_count, dtype="bool")
    if filter.types:
        mask &= _among(index.store.of_types(filter.types), len(mask))
    if filter.branches:
        mask &= _among(index.store.of_branches(filter.branches), len(mask))
    return mask


class Masks:
    """Caches the masks of filters. Threads may share it."""

    def __init__(self) -> None:
        self._masks: dict[Filter, np.ndarray | None] = {}

    def get(self, filter: Filter, index: ConceptIndex) -> np.ndarray | None:
        """RETURNS (Optional[np.ndarray]): As `allowed_concepts`, always of the same index."""
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
