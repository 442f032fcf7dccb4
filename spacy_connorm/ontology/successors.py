"""Which concept of a new release an id of the old one stands for."""

from collections.abc import Mapping
from typing import NamedTuple

from ..concepts import Concept, Ontology
from ..concepts.curies import PREFIXES
from . import Retired


class Successor(NamedTuple):
    """What a new release has for an id.

    concept_id (str): The id to use now; empty if the release does not say which.
    reason (str): Why: "" if the id stays, "alternate id", "other spelling", "replaced_by"; if there
        is none, "several replacements", "consider", "retired" or "unknown".
    proposed (Tuple[str, ...]): Ids that may fit, if the release names some.
    """

    concept_id: str
    reason: str = ""
    proposed: tuple[str, ...] = ()


class Successors:
    """Finds successors: by id, by alternate id, and by what OBO says of its obsolete terms."""

    def __init__(self, old: Ontology, new: Ontology, retired: Mapping[str, Retired]) -> None:
        """old (Ontology): The old release.
        new (Ontology): The new one.
        retired (Mapping[str, Retired]): What the new one says of concepts that it has given up.
        """
        self._old = old
        self._new = new
        self._retired = retired

    def find(self, concept_id: str) -> Successor:
        """Find what stands for an id.

        concept_id (str): An id, or alternate id, of the old release.
        RETURNS (Successor): The concept of the new release, or why there is none.
        """
        found = self._in_new(concept_id)
        own = self._old.primary_id(concept_id)
        if not found.concept_id and own != concept_id:
            found = self._in_new(own)
        if not found.concept_id and found.reason == "unknown" and concept_id in self._old:
            return found._replace(reason="retired")
        return found

    def _in_new(self, concept_id: str) -> Successor:
        if concept_id in self._new:
            concept = self._new[concept_id]
            return Successor(concept.concept_id, _reason(concept_id, concept))
        for spelling in PREFIXES.spellings_of(concept_id):
            if spelling in self._new:
                return Successor(self._new.primary_id(spelling), "other spelling")
        return self._replacement(concept_id)

    def _replacement(self, concept_id: str) -> Successor:
        """Follow `replaced_by`, from one obsolete term to the next."""
        waiting, seen = [concept_id], set()
        found: dict[str, None] = {}
        proposed: dict[str, None] = {}
        while waiting:
            current = waiting.pop(0)
            if current in seen:
                continue
            seen.add(current)
            if current in self._new:
                found[self._new.primary_id(current)] = None
            elif current in self._retired:
                waiting += self._retired[current].replaced_by
                proposed |= dict.fromkeys(self._retired[current].consider)
        if len(found) == 1:
            return Successor(next(iter(found)), "replaced_by")
        if found:
            return Successor("", "several replacements", tuple(found))
        if proposed:
            return Successor("", "consider", tuple(proposed))
        return Successor("", "retired" if concept_id in self._retired else "unknown")


def _reason(concept_id: str, concept: Concept) -> str:
    if concept_id == concept.concept_id:
        return ""
    return "alternate id" if concept_id in concept.alt_ids else "other spelling"
