"""Reports on ontologies: what the reader left out, counts, and likely mistakes.

An ontology is counted and checked while it is streamed, so it can have any size.
"""

from array import array
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np

from ..concepts import Concept, merge
from ..concepts.curies import PREFIXES
from ..errors import Warnings, quote_id
from ..files.arrays import are_among
from ..files.odd_lines import OddLines

LONG_NAME = 1_000
# Separators of the ids of several concepts in a mention.
_SEPARATORS = frozenset("|+")


@dataclass(slots=True)
class Finding:
    """What a reader left out for one reason, or the result of one check.

    count (int): How often it was found.
    first (str): The first example, such as an id or "line 12"; empty if there is none.
    broken (bool): Whether something was left out since the file is at fault, rather than by the
        reader's settings.
    """

    count: int = 0
    first: str = ""
    broken: bool = False

    def add(self, example: str, count: int = 1) -> None:
        """Count some more.

        example (str): The first of them.
        count (int): Their number.
        """
        self.first = self.first or example * bool(count)
        self.count += count


@dataclass(frozen=True, slots=True)
class Retired:
    """What an ontology gives for an obsolete concept.

    replaced_by (Tuple[str, ...]): The ids to use instead.
    consider (Tuple[str, ...]): Possible ids.
    """

    replaced_by: tuple[str, ...] = ()
    consider: tuple[str, ...] = ()


@dataclass(slots=True)
class ReadReport:
    """A report that is filled while an ontology is read; complete after the last concept.

    licence (str): The terms of use stated in the file.
    release (str): The release stated in the file, of formats that have one.
    merged (int): Rows merged into the concept of an earlier row with the same id.
    left_out (Dict[str, Finding]): Items left out, by reason.
    odd (OddLines): Lines that can't be read, which are skipped.
    scopes (Counter[str]): The number of synonyms of each scope, for formats with scopes.
    retired (Dict[str, Retired]): Concepts that were left out as obsolete, by id.
    languages (Counter[str]): The number of names by language, for ontologies with several.
    """

    licence: str = ""
    release: str = ""
    merged: int = 0
    left_out: dict[str, Finding] = field(default_factory=dict)
    odd: OddLines = field(default_factory=OddLines)
    scopes: Counter[str] = field(default_factory=Counter)
    retired: dict[str, Retired] = field(default_factory=dict)
    languages: Counter[str] = field(default_factory=Counter)

    def leave_out(self, reason: str, example: str, *, broken: bool = False) -> None:
        """Count one item left out.

        reason (str): What was left out and why.
        example (str): Its id or line.
        broken (bool): Whether the file is at fault, rather than the reader's settings.
        """
        self.left_out.setdefault(reason, Finding(broken=broken)).add(example)

    def merge_rows(self, concepts: Iterable[Concept]) -> dict[str, Concept]:
        """Merge rows with the same id, and count them.

        concepts (Iterable[Concept]): The concept of each row.
        RETURNS (Dict[str, Concept]): One concept per id, in the order of their first rows.
        """
        merged: dict[str, Concept] = {}
        for concept in concepts:
            known = merged.get(concept.concept_id)
            merged[concept.concept_id] = merge(known, concept) if known else concept
            self.merged += known is not None
        return merged


def read_xrefs(ids: Collection[str], report: ReadReport) -> tuple[str, ...]:
    """Convert cross-references to CURIEs. URLs and references to literature are left out.

    ids (Collection[str]): The ids as written in the file.
    report (ReadReport): Counts the ids without a prefix, whose vocabulary is unknown.
    RETURNS (Tuple[str, ...]): The CURIEs, each once.
    """
    for written in ids:
        if written and ":" not in written:
            reason = "a cross-reference without the prefix of its vocabulary"
            report.leave_out(reason, quote_id(written), broken=True)
    return PREFIXES.curies(ids)


@dataclass(frozen=True, slots=True)
class Summary:
    """The size of an ontology and the findings of its checks.

    concepts (int): Concepts.
    names (int): Preferred names and synonyms; a name shared by two concepts counts twice.
    ids (int): Distinct ids, including alternate ids.
    parents (int): Links from a concept to a parent.
    shared_names (Finding): Names of more than one concept, ignoring case.
    repeated_ids (Finding): Concepts with the id of an earlier one.
    missing_parents (Finding): Distinct parents that are not concepts.
    circular (Finding): Concepts that are their own ancestors.
    long_names (Finding): Names of more than `LONG_NAME` characters; the example is a concept id.
    joined_ids (Finding): Concepts with an id that looks like several ids: `A|B`.
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
    joined_ids: Finding


class Inventory:
    """Counts and checks streamed concepts. It keeps hashes instead of texts, 8 bytes per id and 16
    per name or link; a second pass finds the few texts to show.
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
        self._joined_ids = Finding()

    def watch(self, concepts: Iterable[Concept]) -> Iterator[Concept]:
        """Count concepts while they pass through.

        concepts (Iterable[Concept]): The concepts.
        YIELDS (Concept): The same concepts.
        """
        for concept in concepts:
            self._add(concept)
            yield concept

    def _add(self, concept: Concept) -> None:
        key = hash(concept.concept_id)
        self._ids.append(key)
        if concept.alt_ids:
            self._alt_ids.extend(map(hash, concept.alt_ids))
        if concept.parents:
            self._children.extend([key] * len(concept.parents))
            self._parents.extend(map(hash, concept.parents))
        if not _SEPARATORS.isdisjoint(concept.concept_id):
            self._joined_ids.add(concept.concept_id)
        names = dict.fromkeys([name.lower() for name in concept.names])
        self._names.extend(map(hash, names))
        self._owners.extend([key] * len(names))
        self._name_count += len(concept.names)
        long = sum([len(name) > LONG_NAME for name in concept.names])
        self._long_names.add(concept.concept_id, long)

    def summary(self, concepts: Iterable[Concept]) -> Summary:
        """Summarize the concepts that were watched.

        concepts (Iterable[Concept]): The same concepts again; read only up to the first example of
            each finding.
        RETURNS (Summary): The counts and findings.
        """
        ids, alt_ids = _view(self._ids), _view(self._alt_ids)
        names, parents = _view(self._names), _view(self._parents)
        known = np.unique(np.concatenate([ids, alt_ids]))
        missing = np.unique(parents[~are_among(known, parents)])
        hits = {
            "shared_names": _in_order(_shared(names, _view(self._owners)), names),
            "repeated_ids": _in_order(_repeated(ids), ids),
            "missing_parents": _in_order(missing, parents),
            "circular": _in_order(_circular(_view(self._children), parents), ids),
        }
        texts = _spell({first for count, first in hits.values() if count}, concepts)
        return Summary(
            concepts=len(ids),
            names=self._name_count,
            ids=len(known),
            parents=len(parents),
            long_names=self._long_names,
            joined_ids=self._joined_ids,
            **{name: Finding(count, texts.get(first, "")) for name, (count, first) in hits.items()},
        )


def _view(values: array) -> np.ndarray:
    return np.frombuffer(values, dtype=np.int64)


def _shared(names: np.ndarray, owners: np.ndarray) -> np.ndarray:
    """Find the names of more than one concept."""
    # Few names occur twice, and only these are compared by concept.
    twice = are_among(np.unique(_repeated(names)), names)
    names, owners = names[twice], owners[twice]
    _, first, places = np.unique(names, return_index=True, return_inverse=True)
    return np.unique(names[owners != owners[first][places]])


def _repeated(values: np.ndarray) -> np.ndarray:
    """Find the second and further occurrences of each value."""
    values = np.sort(values)
    return values[1:][values[1:] == values[:-1]]


def _circular(children: np.ndarray, parents: np.ndarray) -> np.ndarray:
    """Find the nodes on cycles: those of strongly connected components of several nodes, and those
    that are their own parents.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    # Leaves are not on cycles, and most concepts are leaves.
    inner = are_among(np.unique(parents), children)
    children, parents = children[inner], parents[inner]
    links = len(children)
    nodes, edges = np.unique(np.concatenate([children, parents]), return_inverse=True)
    start, end = edges[:links], edges[links:]
    graph = coo_array((np.ones(links, dtype=bool), (start, end)), shape=(len(nodes),) * 2)
    _, component = connected_components(graph.tocsr(), connection="strong")
    several = np.bincount(component, minlength=1)[component] > 1
    several[start[start == end]] = True
    return nodes[several]


def _in_order(hashes: np.ndarray, stream: np.ndarray) -> tuple[int, int]:
    """Count values, and find the first one in a stream.

    RETURNS (Tuple[int, int]): The number of values, and the first of them in the stream.
    """
    if not len(hashes):
        return 0, 0
    return len(hashes), int(stream[np.argmax(are_among(np.unique(hashes), stream))])


def _spell(hashes: set[int], concepts: Iterable[Concept]) -> dict[int, str]:
    texts: dict[int, str] = {}
    if not hashes:  # finding a first concept may require reading everything again
        return texts
    for concept in concepts:
        names = (name.lower() for name in concept.names)
        for text in (concept.concept_id, *concept.parents, *names):
            if hash(text) in hashes:
                texts[hash(text)] = text
                hashes.discard(hash(text))
        if not hashes:
            break
    return texts


def warn_about(summary: Summary) -> None:
    """Warn about likely mistakes: CNW101, CNW103 to CNW106.

    summary (Summary): The summary of an ontology.
    """
    for template, finding in (
        (Warnings.CNW101, summary.repeated_ids),
        (Warnings.CNW103, summary.missing_parents),
        (Warnings.CNW104, summary.circular),
        (Warnings.CNW105, summary.long_names),
        (Warnings.CNW106, summary.joined_ids),
    ):
        if finding.count:
            first = quote_id(finding.first)
            template.warn(count=finding.count, first=first, limit=LONG_NAME)
