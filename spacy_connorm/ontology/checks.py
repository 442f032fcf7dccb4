"""Counts and checks over a whole ontology, however large, as it streams by."""

from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..concepts import Concept
from ..errors import Warnings, warn

if TYPE_CHECKING:
    import numpy as np

LONG_NAME = 1_000


@dataclass(frozen=True, slots=True)
class Finding:
    """How often something was found.

    count (int): How often.
    first (str): The first example; empty if there is none.
    """

    count: int = 0
    first: str = ""


@dataclass(frozen=True, slots=True)
class Summary:
    """What an ontology holds.

    concepts (int): Concepts.
    names (int): Preferred names and synonyms; one that two concepts share counts twice.
    ids (int): Distinct ids, alternate ones included.
    parents (int): Links from a concept to a parent.
    shared_names (Finding): Names of more than one concept, upper and lower case alike.
    repeated_ids (Finding): Concepts whose id an earlier one has.
    missing_parents (Finding): Distinct parents that are no concept.
    circular (Finding): Concepts that are above themselves.
    long_names (Finding): Names of more than `LONG_NAME` characters; the example is a concept.
    """

    concepts: int
    names: int
    ids: int
    parents: int
    shared_names: Finding
    repeated_ids: Finding
    missing_parents: Finding
    circular: Finding
    long_names: Finding


class Inventory:
    """Takes stock of concepts that stream by. It keeps 8 bytes for an id and 16 for a name or a
    link: hashes, not texts. The few texts to show are looked up in a second pass.
    """

    def __init__(self) -> None:
        self._ids = array("q")
        self._alt_ids = array("q")
        self._names = array("q")
        self._owners = array("q")
        self._children = array("q")
        self._parents = array("q")
        self._name_count = 0
        self._long_names = Finding()

    def watch(self, concepts: Iterable[Concept]) -> Iterator[Concept]:
        """Let concepts pass and take stock of them.

        concepts (Iterable[Concept]): The concepts.
        YIELDS (Concept): The same concepts.
        """
        for concept in concepts:
            self._add(concept)
            yield concept

    def _add(self, concept: Concept) -> None:
        key = hash(concept.concept_id)
        names = {name.lower() for name in concept.names}
        self._ids.append(key)
        self._alt_ids.extend(map(hash, concept.alt_ids))
        self._names.extend(map(hash, names))
        self._owners.extend([key] * len(names))
        self._children.extend([key] * len(concept.parents))
        self._parents.extend(map(hash, concept.parents))
        self._name_count += len(concept.names)
        long = sum(len(name) > LONG_NAME for name in concept.names)
        if long:
            known = self._long_names
            self._long_names = Finding(known.count + long, known.first or concept.concept_id)

    def summary(self, concepts: Iterable[Concept]) -> Summary:
        """Count and check what passed.

        concepts (Iterable[Concept]): The same concepts again; read only as far as the first
            example of each finding.
        RETURNS (Summary): What they hold.
        """
        import numpy as np

        ids, alt_ids = _view(self._ids), _view(self._alt_ids)
        names, parents = _view(self._names), _view(self._parents)
        known = np.unique(np.concatenate([ids, alt_ids]))
        hits = [
            _in_order(_shared(names, _view(self._owners)), names),
            _in_order(_repeated(ids), ids),
            _in_order(_missing(parents, known), parents),
            _in_order(_circular(_view(self._children), parents), ids),
        ]
        texts = _spell({first for count, first in hits if count}, concepts)
        findings = [Finding(count, texts.get(first, "")) for count, first in hits]
        shared_names, repeated_ids, missing_parents, circular = findings
        return Summary(
            concepts=len(ids),
            names=self._name_count,
            ids=len(known),
            parents=len(parents),
            shared_names=shared_names,
            repeated_ids=repeated_ids,
            missing_parents=missing_parents,
            circular=circular,
            long_names=self._long_names,
        )


def _view(values: array) -> "np.ndarray":
    import numpy as np

    return np.frombuffer(values, dtype=np.int64)


def _shared(names: "np.ndarray", owners: "np.ndarray") -> "np.ndarray":
    """The names that more than one concept owns."""
    import numpy as np

    # Few names occur twice; only those are looked at together with their owners.
    twice = _among(names, np.unique(_repeated(names)))
    names, owners = names[twice], owners[twice]
    order = np.lexsort((owners, names))
    names, owners = names[order], owners[order]
    shared = (names[1:] == names[:-1]) & (owners[1:] != owners[:-1])
    return np.unique(names[1:][shared])


def _repeated(values: "np.ndarray") -> "np.ndarray":
    """Values that occur more than once, each as often as it is repeated."""
    import numpy as np

    values = np.sort(values)
    return values[1:][values[1:] == values[:-1]]


def _missing(parents: "np.ndarray", known: "np.ndarray") -> "np.ndarray":
    import numpy as np

    return np.unique(parents[~_among(parents, known)])


def _among(values: "np.ndarray", known: "np.ndarray") -> "np.ndarray":
    """Whether each value is among known ones, which are sorted."""
    import numpy as np

    if not len(known):
        return np.zeros(len(values), dtype=bool)
    places = np.searchsorted(known, values)
    places[places == len(known)] = 0
    return known[places] == values


def _circular(children: "np.ndarray", parents: "np.ndarray") -> "np.ndarray":
    """The nodes that can be reached from themselves: those of a strongly connected component of
    several, and those that are their own parents."""
    import numpy as np
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    # Leaves are in no circle, and most of an ontology are leaves.
    inner = _among(children, np.unique(parents))
    children, parents = children[inner], parents[inner]
    links = len(children)
    nodes, edges = np.unique(np.concatenate([children, parents]), return_inverse=True)
    start, end = edges[:links], edges[links:]
    graph = coo_array((np.ones(links, dtype=bool), (start, end)), shape=(len(nodes),) * 2)
    _, component = connected_components(graph.tocsr(), connection="strong")
    several = np.bincount(component, minlength=1)[component] > 1
    several[start[start == end]] = True
    return nodes[several]


def _in_order(found: "np.ndarray", stream: "np.ndarray") -> tuple[int, int]:
    """How many were found, and which of them comes first in the stream."""
    import numpy as np

    if not len(found):
        return 0, 0
    return len(found), int(stream[np.argmax(_among(stream, np.unique(found)))])


def _spell(hashes: set[int], concepts: Iterable[Concept]) -> dict[int, str]:
    texts: dict[int, str] = {}
    for concept in concepts:
        if not hashes:
            break
        names = (name.lower() for name in concept.names)
        for text in (concept.concept_id, *concept.parents, *names):
            if hash(text) in hashes:
                texts[hash(text)] = text
                hashes.discard(hash(text))
    return texts


def warn_about(summary: Summary) -> None:
    """Warn of what looks like a mistake: CNW101, CNW103, CNW104, CNW105.

    summary (Summary): Of an ontology.
    """
    for template, finding in (
        (Warnings.CNW101, summary.repeated_ids),
        (Warnings.CNW103, summary.missing_parents),
        (Warnings.CNW104, summary.circular),
        (Warnings.CNW105, summary.long_names),
    ):
        if finding.count:
            warn(template.format(count=finding.count, first=finding.first, limit=LONG_NAME))
