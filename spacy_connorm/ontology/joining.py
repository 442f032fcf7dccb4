"""Join ontologies by their cross-references into one, for an index or for training an encoder."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import reduce
from itertools import combinations, product
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ..concepts import Concept, Ontology, Source, merge
from ..concepts.curies import PREFIXES
from ..files.atomic import require_apart
from .reading import jsonl_path, read_ontology

if TYPE_CHECKING:
    from scipy.cluster.hierarchy import DisjointSet

# An id that more concepts of an ontology share says little about any of them.
_SHARED_BY = 8
_WORD = re.compile(r"\w+")


class Joined(NamedTuple):
    """The result of joining ontologies.

    ontology (Ontology): The concepts of all ontologies, those of the first one first.
    same_id (int): The number of concepts joined because they have the same id.
    same_name (int): ... because they share a cross-reference and a name.
    only_xref (int): ... because they refer only to each other.
    same_preferred_name (int): ... because they have the same preferred name.
    """

    ontology: Ontology
    same_id: int
    same_name: int
    only_xref: int
    same_preferred_name: int


def join_concepts(ontologies: Sequence[Ontology]) -> Joined:
    """Join the concepts that several ontologies share. A joined concept has all names, types,
    parents and ids, and the id of its first ontology. It has at most one concept of each ontology,
    so that wrong cross-references cannot join many: concepts with the same id are joined first,
    then those that share a cross-reference and a name, then those that refer only to each other,
    then those with the same preferred name if no other concept has it.

    ontologies (Sequence[Ontology]): The ontologies; the first one with a joined concept gives its
        preferred name.
    RETURNS (Joined): The joined ontology, with the terms of use of all.
    """
    from scipy.cluster.hierarchy import DisjointSet

    concepts = [
        (number, concept) for number, ontology in enumerate(ontologies) for concept in ontology
    ]
    files = [number for number, _ in concepts]
    clusters = DisjointSet(range(len(files)))
    links = _Links([concept for _, concept in concepts], files)
    counts = [
        sum(_join(clusters, files, *pair) for pair in pairs)
        for pairs in (
            links.of_same_id(),
            links.of_same_name(),
            links.of_only_xref(),
            links.of_same_preferred_name(),
        )
    ]
    joined = _merged(concepts, clusters, ontologies)
    return Joined(Ontology(joined, source=joint_source(ontologies)), *counts)


def join_ontologies(input_paths: Sequence[str | Path], output_path: str | Path) -> Joined:
    """Join several ontologies into one, for an index or for training an encoder: `connorm join`.
    Each is read with the default settings of its format; convert it first for other settings.

    input_paths (Sequence[Union[str, Path]]): The ontologies, in any format. The first ones give the
        preferred names, see `join_concepts`.
    output_path (Union[str, Path]): A .jsonl or .jsonl.gz file. The terms of use of all ontologies
        are kept beside it.
    RETURNS (Joined): The joined ontology, and how many concepts were joined.
    RAISES (ConnormError): CN708 for another extension, CN105 or CN108 if the file cannot be
        written, CN121 if it would replace an input, and the errors of `read_ontology`.
    """
    output_path = jsonl_path(output_path)
    require_apart(output_path, *input_paths)
    joined = join_concepts([read_ontology(path) for path in input_paths])
    joined.ontology.to_disk(output_path)
    return joined


def _join(clusters: "DisjointSet", files: list[int], one: int, other: int) -> bool:
    """Join two sets of concepts, unless both have a concept from the same ontology.

    clusters (DisjointSet): The sets.
    files (List[int]): The ontology of each concept.
    one, other (int): A concept of each set.
    RETURNS (bool): Whether the concepts were separate before and are joined now.
    """
    both = clusters.subset(one) | clusters.subset(other)
    return len({files[place] for place in both}) == len(both) and clusters.merge(one, other)


Pair = tuple[int, int]


class _Links:
    """Pairs of concepts from different ontologies, the most reliable kind first. All are in the
    order of the concepts.
    """

    def __init__(self, concepts: list[Concept], files: list[int]) -> None:
        self._concepts = concepts
        self._files = files
        self._names = [frozenset(map(_key, concept.names)) for concept in concepts]
        ids = (
            PREFIXES.curies((concept.concept_id, *concept.alt_ids, *concept.xrefs))
            for concept in concepts
        )
        self._linked = list(self._pairs(_by_key(ids)))

    def of_same_id(self) -> Iterator[Pair]:
        return self._pairs(_by_key([_own_id(concept)] for concept in self._concepts))

    def of_same_name(self) -> Iterator[Pair]:
        for one, other in self._linked:
            if not self._names[one].isdisjoint(self._names[other]):
                yield one, other

    def of_only_xref(self) -> Iterator[Pair]:
        others: dict[Pair, set[int]] = defaultdict(set)
        for one, other in self._linked:
            others[one, self._files[other]].add(other)
            others[other, self._files[one]].add(one)
        for one, other in self._linked:
            if len(others[one, self._files[other]]) == len(others[other, self._files[one]]) == 1:
                yield one, other

    def of_same_preferred_name(self) -> Iterator[Pair]:
        places = _by_key([_key(concept.canonical_name)] for concept in self._concepts)
        owners: dict[tuple, set[int]] = defaultdict(set)
        for place, names in enumerate(self._names):
            for name in names & places.keys():
                owners[name, self._files[place]].add(place)
        for one, other in self._pairs(places):
            name = _key(self._concepts[one].canonical_name)
            if len(owners[name, self._files[one]]) == len(owners[name, self._files[other]]) == 1:
                yield one, other

    def _pairs(self, places: dict) -> Iterator[Pair]:
        """List the pairs of concepts with the same key.

        YIELDS (Tuple[int, int]): Each pair once.
        """
        pairs: set[Pair] = set()
        for members in places.values():
            by_file: dict[int, list[int]] = defaultdict(list)
            for place in members:
                by_file[self._files[place]].append(place)
            few = [sharing for sharing in by_file.values() if len(sharing) <= _SHARED_BY]
            for some, others in combinations(few, 2):
                pairs.update(product(some, others))
        yield from sorted(pairs)


def _by_key(keys: Iterable[Iterable]) -> dict:
    """Group positions by key, keeping keys that several positions have."""
    places = defaultdict(list)
    for place, own_keys in enumerate(keys):
        for key in own_keys:
            places[key].append(place)
    return {key: sharing for key, sharing in places.items() if len(sharing) > 1}


def _own_id(concept: Concept) -> str:
    """Get the id with its vocabulary, if that is known."""
    return PREFIXES.own_curie(concept.concept_id, concept.xrefs) or concept.concept_id


def _key(name: str) -> tuple[str, ...]:
    """Get the words of a name, ignoring case, order and punctuation."""
    return tuple(sorted(_WORD.findall(name.casefold()))) or (name,)


def _merged(
    concepts: list[tuple[int, Concept]], clusters: "DisjointSet", ontologies: Sequence[Ontology]
) -> Iterator[Concept]:
    new_ids: dict[tuple[int, str], str] = {}
    groups = [[concepts[member] for member in sorted(members)] for members in clusters.subsets()]
    for group in groups:
        for number, concept in group:
            new_ids[number, concept.concept_id] = group[0][1].concept_id
    for group in groups:
        renamed = []
        for number, concept in group:
            primary = ontologies[number].primary_id
            parents = (new_ids.get((number, primary(parent)), "") for parent in concept.parents)
            renamed.append(replace(concept, parents=tuple(filter(None, parents))))
        yield _without_itself(reduce(merge, renamed), renamed)


def _without_itself(joined: Concept, concepts: list[Concept]) -> Concept:
    """Give a joined concept the ids of the others, also as its codes in their vocabularies."""
    joined_id, ids = joined.concept_id, [concept.concept_id for concept in concepts]
    codes = PREFIXES.curies(
        _own_id(concept) for concept in concepts if concept.concept_id != joined_id
    )
    alt_ids = dict.fromkeys((*ids, *joined.alt_ids))
    return replace(
        joined,
        parents=tuple(parent for parent in joined.parents if parent != joined_id),
        alt_ids=tuple(alt_id for alt_id in alt_ids if alt_id != joined_id),
        xrefs=tuple(dict.fromkeys((*joined.xrefs, *codes))),
    )


def joint_source(ontologies: Sequence[Ontology]) -> Source:
    """Describe the source of joined ontologies.

    ontologies (Sequence[Ontology]): The ontologies.
    RETURNS (Source): Their files, and the terms of use of each.
    """
    sources = [ontology.source for ontology in ontologies]
    terms = (f"{source.path}: {source.licence}" for source in sources if source.licence)
    return Source(
        path=", ".join(source.path for source in sources),
        licence="\n\n".join(dict.fromkeys(terms)),
    )
