"""The differences between two releases of an ontology, and the new ids for those of the old
release.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from ..concepts import Concept, Ontology
from ..concepts.curies import PREFIXES
from .report import Retired

ADDED, RETIRED, RENAMED, MOVED = "added", "retired", "renamed", "moved"
OTHER_OWNER, NAME_ADDED, NAME_LOST = "other owner", "name added", "name lost"
KINDS = (ADDED, RETIRED, RENAMED, MOVED, OTHER_OWNER, NAME_ADDED, NAME_LOST)


class Change(NamedTuple):
    """One difference.

    kind (str): One of `KINDS`: a concept was added, retired, renamed, or moved to other parents; a
        name moved to another concept, was added, or was lost.
    concept_id (str): The concept, by its id in the new release; by its old one if it was retired;
        empty for a name that moved to another concept.
    name (str): The concept's preferred name, or the name in question.
    before (Tuple[str, ...]): The old value: the preferred name, the parents, or the concepts of a
        name.
    after (Tuple[str, ...]): The new value; for a retired concept, its replacements.
    reason (str): For a retired concept, `Successor.reason`.
    """

    kind: str
    concept_id: str
    name: str
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    reason: str = ""


class Successor(NamedTuple):
    """The concept of a new release for an old id.

    concept_id (str): The id to use now; empty if the release does not name one.
    reason (str): Why: "" if the id is unchanged, "alternate id", "other spelling", "replaced_by";
        if there is no successor, "several replacements", "consider", "retired" or "unknown".
    proposed (Tuple[str, ...]): Possible ids, if the release names some.
    """

    concept_id: str
    reason: str = ""
    proposed: tuple[str, ...] = ()


@dataclass(eq=False)
class Successors:
    """Finds successors: by id, by alternate id, and by the replacements that OBO gives for obsolete
    terms.

    old (Ontology): The old release.
    new (Ontology): The new one.
    retired (Mapping[str, Retired]): What the new release gives for its obsolete concepts.
    """

    old: Ontology
    new: Ontology
    retired: Mapping[str, Retired]

    def find(self, concept_id: str) -> Successor:
        """Find the successor of an id.

        concept_id (str): An id, or alternate id, of the old release.
        RETURNS (Successor): The concept of the new release, or the reason why there is none.
        """
        successor = self._in_new(concept_id)
        primary = self.old.primary_id(concept_id)
        if not successor.concept_id and primary != concept_id:
            successor = self._in_new(primary)
        if not successor.concept_id and successor.reason == "unknown" and concept_id in self.old:
            return successor._replace(reason="retired")
        return successor

    def _in_new(self, concept_id: str) -> Successor:
        if concept_id in self.new:
            concept = self.new[concept_id]
            return Successor(concept.concept_id, _reason(concept_id, concept))
        for spelling in PREFIXES.spellings_of(concept_id):
            if spelling in self.new:
                return Successor(self.new.primary_id(spelling), "other spelling")
        return self._replacement(concept_id)

    def _replacement(self, concept_id: str) -> Successor:
        """Follow `replaced_by`, from one obsolete term to the next."""
        waiting, seen = [concept_id], set()
        replacements: dict[str, None] = {}
        proposed: dict[str, None] = {}
        while waiting:
            current = waiting.pop(0)
            if current in seen:
                continue
            seen.add(current)
            if current in self.new:
                replacements[self.new.primary_id(current)] = None
            elif current in self.retired:
                waiting += self.retired[current].replaced_by
                proposed |= dict.fromkeys(self.retired[current].consider)
        if len(replacements) == 1:
            return Successor(next(iter(replacements)), "replaced_by")
        if replacements:
            return Successor("", "several replacements", tuple(replacements))
        if proposed:
            return Successor("", "consider", tuple(proposed))
        return Successor("", "retired" if concept_id in self.retired else "unknown")


def _reason(concept_id: str, concept: Concept) -> str:
    if concept_id == concept.concept_id:
        return ""
    return "alternate id" if concept_id in concept.alt_ids else "other spelling"


def find_changes(old: Ontology, new: Ontology, successors: Successors) -> Iterator[Change]:
    """Compare two releases. Concepts that replaced others also have their names, and count as their
    parents, so that merging concepts is not reported as further changes.

    old (Ontology): The old release.
    new (Ontology): The new release.
    successors (Successors): The concepts of the new release for ids of the old one.
    YIELDS (Change): By kind, in the order of `KINDS`, then in the order of the releases.
    """
    now = {concept.concept_id: successors.find(concept.concept_id) for concept in old}
    new_ids = {
        old_id: successor.concept_id for old_id, successor in now.items() if successor.concept_id
    }
    taken_over = set(new_ids.values())
    for concept in new:
        if concept.concept_id not in taken_over:
            yield Change(ADDED, concept.concept_id, concept.canonical_name)
    for concept in old:
        found = now[concept.concept_id]
        if found.concept_id != concept.concept_id:
            after = (found.concept_id,) if found.concept_id else found.proposed
            name = concept.canonical_name
            yield Change(RETIRED, concept.concept_id, name, after=after, reason=found.reason)
    unchanged = [
        (concept, new[concept.concept_id])
        for concept in old
        if now[concept.concept_id].reason == ""
    ]
    yield from _renamed(unchanged)
    yield from _moved(unchanged, new_ids)
    yield from _other_owners(old, new, new_ids)
    yield from _names(old, new, new_ids)


def _renamed(unchanged: Iterable[tuple[Concept, Concept]]) -> Iterator[Change]:
    for before, after in unchanged:
        names = (before.canonical_name,), (after.canonical_name,)
        if names[0] != names[1]:
            yield Change(RENAMED, after.concept_id, after.canonical_name, *names)


def _moved(
    unchanged: Iterable[tuple[Concept, Concept]], new_ids: Mapping[str, str]
) -> Iterator[Change]:
    for before, after in unchanged:
        parents = {new_ids.get(parent, parent) for parent in before.parents} - {after.concept_id}
        if parents != set(after.parents):
            name = after.canonical_name
            yield Change(MOVED, after.concept_id, name, before.parents, after.parents)


def _other_owners(old: Ontology, new: Ontology, new_ids: Mapping[str, str]) -> Iterator[Change]:
    owners = defaultdict(set)
    for concept in new:
        for name in concept.names:
            owners[name.lower()].add(concept.concept_id)
    former: dict[str, dict[str, str]] = defaultdict(dict)
    for concept in old:
        for name in concept.names:
            former[name.lower()][concept.concept_id] = name
    for key, before in former.items():
        after = owners.get(key, set())
        same = {new_ids.get(old_id, old_id) for old_id in before}
        if after - same and same - after:
            name = next(iter(before.values()))
            yield Change(OTHER_OWNER, "", name, tuple(sorted(before)), tuple(sorted(after)))


def _names(old: Ontology, new: Ontology, new_ids: Mapping[str, str]) -> Iterator[Change]:
    before: dict[str, dict[str, None]] = defaultdict(dict)
    for concept in old:
        if concept.concept_id in new_ids:
            before[new_ids[concept.concept_id]] |= dict.fromkeys(concept.names)
    pairs = [(known, new[concept_id]) for concept_id, known in before.items()]
    for known, concept in pairs:
        for name in concept.names:
            if name not in known:
                yield Change(NAME_ADDED, concept.concept_id, concept.canonical_name, after=(name,))
    for known, concept in pairs:
        names = set(concept.names)
        for name in known:
            if name not in names:
                yield Change(NAME_LOST, concept.concept_id, concept.canonical_name, before=(name,))
