"""Concepts with their source, in memory or as a stream; their JSONL, and its terms of use."""

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TypeAlias, TypeVar

from ..errors import Errors, Warnings, quote_id, refuse, refuse_text, unreadable
from ..files.atomic import atomic_file, write_text
from ..files.odd_lines import OddLines
from ..files.text import open_text, read_lines, sha256
from .concept import Concept, merge, require_id_and_name

Row = TypeVar("Row")


@dataclass(frozen=True, slots=True)
class Source:
    """The source of an ontology, stored in the manifest of every index built from it.

    path (str): The file it was read from.
    sha256 (str): The SHA-256 of that file.
    licence (str): The terms of use, which must be distributed with the names.
    release (str): The release, as the file states it; empty if it does not.
    """

    path: str = ""
    sha256: str = ""
    licence: str = ""
    release: str = ""


class Ontology:
    """An ordered container of concepts, by id or alternate id."""

    def __init__(self, concepts: Iterable[Concept] = (), *, source: Source | None = None) -> None:
        """Collect concepts. Concepts with the same id are merged.

        concepts (Iterable[Concept]): The concepts.
        source (Optional[Source]): The source of the concepts.
        RAISES (ConnormError): CN101 for a concept without an id or a name.
        WARNS (ConnormWarning): CNW101 for repeated ids.
        """
        self._concepts: dict[str, Concept] = {}
        self._primary: dict[str, str] = {}
        self.source = source or Source()
        repeated: list[str] = []
        for concept in concepts:
            require_id_and_name(concept, concept)
            if known := self._concepts.get(concept.concept_id):
                repeated.append(concept.concept_id)
                concept = merge(known, concept)
            self._concepts[concept.concept_id] = concept
        for concept in self:
            for alt_id in concept.alt_ids:
                self._primary.setdefault(alt_id, concept.concept_id)
        for concept in self:
            for spelling in concept.spellings:
                self._primary.setdefault(spelling, concept.concept_id)
        if repeated:
            Warnings.CNW101.warn(count=len(repeated), first=quote_id(repeated[0]))

    def __len__(self) -> int:
        return len(self._concepts)

    def __iter__(self) -> Iterator[Concept]:
        return iter(self._concepts.values())

    def __contains__(self, concept_id: object) -> bool:
        return concept_id in self._concepts or concept_id in self._primary

    def __getitem__(self, concept_id: str) -> Concept:
        return self._concepts[self.primary_id(concept_id)]

    def primary_id(self, concept_id: str) -> str:
        """Find the primary id of a concept.

        concept_id (str): Its id, an alternate id, or another spelling of one.
        RETURNS (str): Its primary id; an id that is not in the ontology is returned unchanged.
        """
        if concept_id in self._concepts:
            return concept_id
        return self._primary.get(concept_id, concept_id)

    def to_disk(self, path: str | Path) -> None:
        """Write one JSON line per concept, completely or not at all, and the licence beside it.

        path (Union[str, Path]): The file; compressed if it ends in `.gz`.
        RAISES (ConnormError): CN108 if the file cannot be written.
        """
        write_licensed(write_concepts, self, path, licence=lambda: self.source.licence)

    @classmethod
    def from_disk(cls, path: str | Path, *, licence: str = "") -> "Ontology":
        """Read an ontology in scispaCy's knowledge-base JSONL.

        path (Union[str, Path]): A `.jsonl` or `.jsonl.gz` file.
        licence (str): The terms of use; those stored beside the file if empty.
        RETURNS (Ontology): The ontology.
        RAISES (ConnormError): CN104 for a file without concepts, and the errors of `read_concepts`.
        """
        path = Path(path)
        ontology = cls(read_concepts(path))
        if not len(ontology):
            raise Errors.CN104(path=path, what="concepts")
        ontology.source = Source(path.name, sha256(path), licence or read_licence(path))
        return ontology


@dataclass(frozen=True)
class ConceptStream:
    """A stream of concepts, which can be read once. Ids may be repeated.

    concepts (Iterable[Concept]): The concepts.
    source (Source): Where they come from.
    """

    concepts: Iterable[Concept]
    source: Source

    def __iter__(self) -> Iterator[Concept]:
        return iter(self.concepts)


AnyOntology: TypeAlias = Ontology | ConceptStream
Value = TypeVar("Value")
# A value, or a function that reads it.
Given: TypeAlias = Value | Callable[[], Value]


def read_given(ontology: Given[AnyOntology]) -> AnyOntology:
    """Return an ontology, or read it if a function was given.

    ontology (Union[Ontology, ConceptStream, Callable]): It, or a function that reads it.
    RETURNS (Union[Ontology, ConceptStream]): The ontology.
    RAISES (ConnormError): CN006 for anything but an ontology.
    """
    given = ontology() if callable(ontology) else ontology
    if not isinstance(given, AnyOntology):
        refuse_value = refuse if isinstance(given, (str, Path)) else refuse_text
        refuse_value("ontology", given, "an Ontology, e.g. `read_ontology(path)`")
    return given


def read_concepts(path: str | Path, *, odd: OddLines | None = None) -> Iterator[Concept]:
    """Read concepts one by one from scispaCy's knowledge base: JSONL, or a JSON array.

    path (Union[str, Path]): A `.jsonl` or `.json` file, perhaps with `.gz`.
    odd (Optional[OddLines]): Counts lines that are not concepts. If None, they are refused.
    YIELDS (Concept): The concepts, in the file's order.
    RAISES (ConnormError): CN115 for a line that is not a concept, and the errors of `read_lines`.
    """
    odd = odd or OddLines(max_share=0)
    for number, line in odd.watch(_records(path)):
        try:
            yield Concept.from_dict(json.loads(line))
        except (ValueError, RecursionError) as error:
            odd.skip(unreadable(path, number, "scispaCy's JSONL", error))


def _records(path: str | Path) -> Iterator[tuple[int, str]]:
    """Read the lines, or the items of an array, that have a record.

    YIELDS (Tuple[int, str]): The line number, and the JSON of the record.
    """
    filled = ((number, line) for number, line in read_lines(path) if line and not line.isspace())
    first = next(filled, (1, ""))
    if first[1].lstrip().startswith("["):
        # Rarely needed, and a pipeline does not load it.
        from ..files.json_items import read_items

        yield from read_items(path)
    else:
        yield from chain([first] if first[1] else (), filled)


def write_concepts(concepts: Iterable[Concept], path: str | Path) -> None:
    """Write concepts one by one as scispaCy's knowledge-base JSONL, completely or not at all.

    concepts (Iterable[Concept]): The concepts; a generator is not loaded into memory.
    path (Union[str, Path]): The file; compressed if it ends in `.gz`.
    RAISES (ConnormError): CN108 if the file cannot be written.
    """
    with atomic_file(path) as aside, open_text(aside, "wt") as lines:
        for concept in concepts:
            lines.write(json.dumps(concept.to_dict(), ensure_ascii=False) + "\n")


def write_licensed(
    write: Callable[[Iterable[Row], str | Path], None],
    rows: Iterable[Row],
    path: str | Path,
    *,
    licence: Callable[[], str],
) -> None:
    """Write a file and the terms of use of its contents. The terms are in place before the file is,
    so that an interrupted run never leaves new names without their terms, or with those of an older
    file.

    write (Callable): Writes rows to a file, which it puts in place when it has all of them.
    rows (Iterable): The rows.
    path (Union[str, Path]): The file.
    licence (Callable[[], str]): Returns the terms when all rows are read; they may be empty.
    RAISES (ConnormError): The errors of `write`, and CN108 if the terms cannot be written.
    """
    write(_licensed(rows, path, licence), path)
    if not licence():
        write_licence("", path)


def _licensed(rows: Iterable[Row], path: str | Path, licence: Callable[[], str]) -> Iterator[Row]:
    yield from rows
    if terms := licence():
        write_licence(terms, path)


def write_licence(licence: str, path: str | Path) -> None:
    """Write the terms of use of an ontology to `<its file's name>.licence.txt` beside it, since
    scispaCy's format has no place for them. Without terms, an older file is deleted.

    licence (str): The terms; may be empty.
    path (Union[str, Path]): The ontology's file.
    RAISES (ConnormError): CN105, CN108 and CN109, as for `atomic_file`.
    """
    beside = licence_path(path)
    if licence:
        write_text(beside, f"{licence}\n")
    else:
        beside.unlink(missing_ok=True)


def read_licence(path: str | Path) -> str:
    """Read the terms of use beside an ontology's file.

    path (Union[str, Path]): The ontology's file.
    RETURNS (str): The terms; empty if there are none.
    RAISES (ConnormError): CN106 and CN107, as for `read_lines`.
    """
    beside = licence_path(path)
    return "\n".join(line for _, line in read_lines(beside)) if beside.is_file() else ""


def licence_path(path: str | Path) -> Path:
    """Get the path of the file with the terms of use of an ontology.

    path (Union[str, Path]): The ontology's file.
    RETURNS (Path): `<its name>.licence.txt` beside it.
    """
    path = Path(path)
    return path.with_name(f"{path.name}.licence.txt")
