"""Concepts, ontologies and candidates, and their JSONL."""

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from .errors import ConnormError, Errors, Warnings, quote, quote_id, warn
from .files.atomic import atomic_file
from .files.licence import read_licence, write_licence
from .files.text import open_text, read_lines, sha256

NIL = "NIL"
_TEXTS = ("concept_id", "canonical_name", "definition")
SCOPES = ("narrow", "broad", "related")
_LISTS = ("aliases", "types", "parents", "alt_ids", "xrefs", *SCOPES)
_OPTIONAL = ("definition", "parents", "alt_ids", "xrefs", *SCOPES)


@dataclass(frozen=True, slots=True)
class Concept:
    """One concept of an ontology.

    concept_id (str): The unique id (CUI, MeSH id, HPO id ...).
    canonical_name (str): The preferred name.
    aliases (Tuple[str, ...]): Synonyms, without the preferred name.
    types (Tuple[str, ...]): Semantic types.
    definition (str): May be empty.
    parents (Tuple[str, ...]): Ids of the broader concepts.
    alt_ids (Tuple[str, ...]): Other ids of the same concept.
    xrefs (Tuple[str, ...]): Its ids in other vocabularies, as CURIEs (`MESH:D003920`). An index
        does not keep them.
    narrow, broad, related (Tuple[str, ...]): The aliases that are not exact, by scope.
    """

    concept_id: str
    canonical_name: str
    aliases: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    definition: str = ""
    parents: tuple[str, ...] = ()
    alt_ids: tuple[str, ...] = ()
    xrefs: tuple[str, ...] = ()
    narrow: tuple[str, ...] = ()
    broad: tuple[str, ...] = ()
    related: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for field in _LISTS:
            # ("one") is a string, not a tuple: each letter would become an item.
            if isinstance(getattr(self, field), str):
                raise ConnormError(Errors.CN102.format(field=field, expected="a tuple of strings"))

    @property
    def names(self) -> tuple[str, ...]:
        """RETURNS (Tuple[str, ...]): O(c): the preferred name, then the synonyms, each once."""
        return tuple(dict.fromkeys((self.canonical_name, *self.aliases)))

    @property
    def exact_names(self) -> tuple[str, ...]:
        """RETURNS (Tuple[str, ...]): The preferred name, then the exact synonyms."""
        others = {*self.narrow, *self.broad, *self.related} - {self.canonical_name}
        return tuple(name for name in self.names if name not in others)

    def cleaned(self, clean: Callable[[str], str]) -> "Concept":
        """Clean the id and all texts. Empty and repeated texts are dropped.

        clean (Callable[[str], str]): Cleans one text.
        RETURNS (Concept): The clean concept. Its id or its preferred name may now be empty.
        """
        lists = {field: _distinct(map(clean, getattr(self, field))) for field in _LISTS}
        name = clean(self.canonical_name)
        lists["aliases"] = tuple(alias for alias in lists["aliases"] if alias != name)
        return Concept(clean(self.concept_id), name, definition=clean(self.definition), **lists)

    def to_dict(self) -> dict[str, Any]:
        """RETURNS (Dict[str, Any]): A line of the JSONL; empty optional fields are left out."""
        record = {field: getattr(self, field) for field in self.__slots__}
        record |= {field: list(record[field]) for field in _LISTS}
        return {field: v for field, v in record.items() if v or field not in _OPTIONAL}

    @classmethod
    def from_dict(cls, record: dict[str, Any]) -> "Concept":
        """Create a concept from a knowledge-base record; unknown fields are ignored.

        record (Dict[str, Any]): As written by `to_dict`.
        RETURNS (Concept): The concept.
        RAISES (ConnormError): CN101 without an id or a preferred name, CN102 for a wrong type.
        """
        if not isinstance(record, dict):
            raise ConnormError(Errors.CN102.format(field="record", expected="a JSON object"))
        fields: dict[str, Any] = {field: _text_field(record, field) for field in _TEXTS}
        fields |= {field: _list_field(record, field) for field in _LISTS}
        concept = cls(**fields)
        _require_id_and_name(concept, record)
        return concept


def _require_id_and_name(concept: Concept, record: Any) -> None:
    if not concept.concept_id or not concept.canonical_name:
        missing = "canonical_name" if concept.concept_id else "concept_id"
        shown = quote_id(concept.concept_id) if concept.concept_id else quote(record)
        raise ConnormError(Errors.CN101.format(field=missing, concept=shown))


def _text_field(record: dict[str, Any], key: str) -> str:
    value = record.get(key)
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        raise ConnormError(Errors.CN102.format(field=key, expected="a string"))
    return str(value).strip()


def _list_field(record: dict[str, Any], key: str) -> tuple[str, ...]:
    value = record.get(key)
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ConnormError(Errors.CN102.format(field=key, expected="a list of strings"))
    return tuple(item.strip() for item in value if item.strip())


class Candidate(NamedTuple):
    """A candidate concept for a mention.

    concept_id (str): The id of the concept.
    name (str): Its preferred name.
    score (float): Cosine similarity, raised or lowered as the settings say.
    text (str): The concept text that matched; for searches over concepts (-C), the preferred name.
    search (str): The search of the sieve that found it, e.g. "D-T".
    searched (str): The text that was searched: the mention, its long form, or a part of either.
    part (int): The number of the mention's part, from 1; 0 if the whole mention was searched.
    dense (Optional[float]): The dense cosine in the score of a hybrid encoder.
    lexical (Optional[float]): The lexical (n-gram) cosine in it.
    probability (Optional[float]): The probability that it is correct, 0 to 1, if calibrated.
    """

    concept_id: str
    name: str
    score: float
    text: str
    search: str
    searched: str = ""
    part: int = 0
    dense: float | None = None
    lexical: float | None = None
    probability: float | None = None


@dataclass(frozen=True, slots=True)
class Source:
    """The source of an ontology, stored in the manifest of every index built from it.

    path (str): The file it was read from.
    sha256 (str): The SHA-256 of that file.
    licence (str): The terms of use, which must be distributed with the names.
    """

    path: str = ""
    sha256: str = ""
    licence: str = ""


class Ontology:
    """An ordered container of concepts, by id or alternate id."""

    def __init__(self, concepts: Iterable[Concept] = (), *, source: Source | None = None) -> None:
        """Collect concepts. Concepts with the same id are merged.

        concepts (Iterable[Concept]): The concepts.
        source (Optional[Source]): Where they come from.
        RAISES (ConnormError): CN101 for a concept without an id or a name.
        WARNS (ConnormWarning): CNW101 for repeated ids.
        """
        self._concepts: dict[str, Concept] = {}
        self._primary: dict[str, str] = {}
        self.source = source or Source()
        repeated: list[str] = []
        for concept in concepts:
            _require_id_and_name(concept, concept)
            if known := self._concepts.get(concept.concept_id):
                repeated.append(concept.concept_id)
                concept = merge(known, concept)
            self._concepts[concept.concept_id] = concept
        for concept in self:
            for alt_id in concept.alt_ids:
                self._primary.setdefault(alt_id, concept.concept_id)
        if repeated:
            warn(Warnings.CNW101.format(count=len(repeated), first=quote_id(repeated[0])))

    def __len__(self) -> int:
        return len(self._concepts)

    def __iter__(self) -> Iterator[Concept]:
        return iter(self._concepts.values())

    def __contains__(self, concept_id: object) -> bool:
        return concept_id in self._concepts or concept_id in self._primary

    def __getitem__(self, concept_id: str) -> Concept:
        return self._concepts[self.primary_id(concept_id)]

    def primary_id(self, concept_id: str) -> str:
        """RETURNS (str): The primary id for an alternate id; any other id is unchanged."""
        if concept_id in self._concepts:
            return concept_id
        return self._primary.get(concept_id, concept_id)

    def to_disk(self, path: str | Path) -> None:
        """Write one JSON line per concept, whole or not at all, and the licence beside it.

        path (Union[str, Path]): The file; compressed if it ends in `.gz`.
        RAISES (ConnormError): CN108 if the file cannot be written.
        """
        write_concepts(self, path)
        write_licence(self.source.licence, path)

    @classmethod
    def from_disk(cls, path: str | Path, *, licence: str = "") -> "Ontology":
        """Read an ontology in scispaCy's knowledge-base JSONL.

        path (Union[str, Path]): A `.jsonl` or `.jsonl.gz` file.
        licence (str): The terms of use; those stored beside the file if empty.
        RETURNS (Ontology): The ontology.
        RAISES (ConnormError): CN104 for a file without concepts, and what `read_concepts` raises.
        """
        path = Path(path)
        ontology = cls(read_concepts(path))
        if not len(ontology):
            raise ConnormError(Errors.CN104.format(path=path))
        ontology.source = Source(path.name, sha256(path), licence or read_licence(path))
        return ontology


@dataclass(frozen=True)
class ConceptStream:
    """Any number of concepts, to be read once. Ids may be repeated."""

    concepts: Iterable[Concept]
    source: Source

    def __iter__(self) -> Iterator[Concept]:
        return iter(self.concepts)


AnyOntology: TypeAlias = Ontology | ConceptStream


def merge(first: Concept, second: Concept) -> Concept:
    """Merge two records of the same concept.

    first (Concept): Gives the id, the preferred name and the definition, if it has one.
    second (Concept): Its preferred name becomes an alias if it differs.
    RETURNS (Concept): The merged concept.
    """
    fields: dict[str, Any] = {
        field: _distinct(getattr(first, field) + getattr(second, field)) for field in _LISTS
    }
    fields["aliases"] = _distinct(first.names + second.names)[1:]
    exact = {*first.exact_names, *second.exact_names}
    fields |= {scope: tuple(n for n in fields[scope] if n not in exact) for scope in SCOPES}
    return replace(first, definition=first.definition or second.definition, **fields)


def _distinct(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(filter(None, texts)))


def read_concepts(path: str | Path) -> Iterator[Concept]:
    """Read concepts one by one from scispaCy's knowledge-base JSONL.

    path (Union[str, Path]): A `.jsonl` or `.jsonl.gz` file.
    YIELDS (Concept): The concepts, in the file's order.
    RAISES (ConnormError): CN103 for a line that is not a concept, and what `read_lines` raises.
    """
    for number, line in read_lines(path):
        if not line.strip():
            continue
        try:
            concept = Concept.from_dict(json.loads(line))
        except (ValueError, RecursionError) as error:
            raise ConnormError(Errors.CN103.format(path=path, line=number, reason=error)) from error
        yield concept


def write_concepts(concepts: Iterable[Concept], path: str | Path) -> int:
    """Write concepts one by one as scispaCy's knowledge-base JSONL, whole or not at all.

    concepts (Iterable[Concept]): The concepts; a generator is not loaded into memory.
    path (Union[str, Path]): The file; compressed if it ends in `.gz`.
    RETURNS (int): How many were written.
    RAISES (ConnormError): CN108 if the file cannot be written.
    """
    count = 0
    with atomic_file(path) as aside, open_text(aside, "wt") as lines:
        for count, concept in enumerate(concepts, start=1):
            lines.write(json.dumps(concept.to_dict(), ensure_ascii=False) + "\n")
    return count
