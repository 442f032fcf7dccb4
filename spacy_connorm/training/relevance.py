"""How relevant names are to mentions, by the ontology's hierarchy."""

from collections import defaultdict
from collections.abc import Iterable
from enum import IntEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .pool import SynonymPool


class Relevance(IntEnum):
    """Of a name to a mention (Yan et al. 2021, section 2.2)."""

    NONE = 0
    HYPERNYM = 1
    SYNONYM = 2


class Hierarchy:
    """Synonyms and hypernyms among the texts of a pool. A name is the synonym of a text if they
    share a concept, and its hypernym if it names a concept right above one of the text's.
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
        """RETURNS (bool): Whether O has a name for a concept of a text."""
        return any(concept in self._names for concept in self._concepts[row])

    def relevances(self, row: int, names: Iterable[int]) -> list[Relevance]:
        """Tell how relevant names are to a text.

        row (int): The text.
        names (Iterable[int]): Rows.
        RETURNS (List[Relevance]): Of each name.
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

    def hypernyms(self, row: int, *, most: int) -> list[int]:
        """Find the hypernyms of a text, parent by parent.

        row (int): The text.
        most (int): Those after so many are left out.
        RETURNS (List[int]): Rows, each once.
        """
        own = set(self._concepts[row])
        names = dict.fromkeys(
            name
            for concept in self._above(row)
            for name in self._names.get(concept, ())
            if own.isdisjoint(self._concepts[name])
        )
        return list(names)[:most]

    def _above(self, row: int) -> list[int]:
        if not self._parents:
            return []
        return [parent for concept in self._concepts[row] for parent in self._parents[concept]]
