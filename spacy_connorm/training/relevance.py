"""The relevance of names to mentions, by the ontology's hierarchy."""

from collections import defaultdict
from collections.abc import Iterable
from enum import IntEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .pool import SynonymPool


class Relevance(IntEnum):
    """The relevance of a name to a mention (Yan et al. 2021, section 2.2)."""

    NONE = 0
    HYPERNYM = 1
    SYNONYM = 2


class Hierarchy:
    """Synonyms and hypernyms among the texts of a pool. A name is a synonym of a text if they share
    a concept, and a hypernym if it names a parent of a concept of the text.
    """

    def __init__(self, pool: "SynonymPool") -> None:
        """pool (SynonymPool): Texts, concepts and their parents."""
        self._concepts = pool.concepts
        self._parents = pool.parents
        self._names: dict[int, list[int]] = defaultdict(list)
        for row in pool.names.tolist():
            for concept in pool.concepts[row]:
                self._names[concept].append(row)

    def has_name(self, row: int) -> bool:
        """row (int): The text.
        RETURNS (bool): Whether O has a name of one of its concepts.
        """
        return any(concept in self._names for concept in self._concepts[row])

    def relevances(self, row: int, names: Iterable[int]) -> list[Relevance]:
        """Find the relevance of names to a text.

        row (int): The text.
        names (Iterable[int]): Rows of names.
        RETURNS (List[Relevance]): The relevance of each name.
        """
        own = set(self._concepts[row])
        above = set(self._above(row))
        found = []
        for name in names:
            if not own.isdisjoint(self._concepts[name]):
                found.append(Relevance.SYNONYM)
            elif not above.isdisjoint(self._concepts[name]):
                found.append(Relevance.HYPERNYM)
            else:
                found.append(Relevance.NONE)
        return found

    def hypernyms(self, row: int, *, limit: int) -> list[int]:
        """Find the hypernyms of a text, parent by parent.

        row (int): The text.
        limit (int): At most how many.
        RETURNS (List[int]): Rows, each once.
        """
        own = set(self._concepts[row])
        names = dict.fromkeys(
            name
            for concept in self._above(row)
            for name in self._names.get(concept, ())
            if own.isdisjoint(self._concepts[name])
        )
        return list(names)[:limit]

    def _above(self, row: int) -> list[int]:
        if not self._parents:
            return []
        return [parent for concept in self._concepts[row] for parent in self._parents[concept]]
