"""The names, types and parents of concepts in SQLite, and all texts one after another in a file:
read row by row and cached.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from ..concepts import Concept
from ..concepts.curies import PREFIXES, split_curie
from ..errors import ConnormError, Errors
from ..files.arrays import TextArray
from ..files.folders import damaged
from ..files.package_data import read_package_text
from ..text.cleaning import clean
from .cache import Cache
from .database import Database

_BRANCH = read_package_text(__package__, "store_branch.sql")
_ANCESTORS = read_package_text(__package__, "store_ancestors.sql")
_PARENTS = "SELECT id FROM parents JOIN concepts ON number = parent WHERE child = ?"
_XREFS = "SELECT id, curies FROM concepts JOIN xrefs USING (number)"
_PAGE = 10_000
# Semantic types that a message shows.
_SHOWN_TYPES = 20
# What is kept in memory of that which SQLite has: reading it again takes longer than the rest of an
# answer.
_CACHED = 100_000
# The number of concepts that tell the vocabulary of the ontology's ids.
_ASKED = 50
# The texts of all members, and the ids and shown names of all concepts: each is a `TextArray`.
NAMES, IDS, SHOWN = "names", "ids", "shown_names"


class ConceptStore:
    """Read-only access to the concepts of an index. Concept numbers follow the order of ids. Every
    query raises CN402 if the file is damaged, or was replaced since it was opened.
    """

    def __init__(self, path: Path) -> None:
        """Open a store.

        path (Path): The SQLite file, with the texts beside it.
        RAISES (ConnormError): CN402 if the texts are damaged.
        """
        self.path = path
        self._names, self._ids, self._shown = (
            TextArray.open(path.parent, stem) for stem in (NAMES, IDS, SHOWN)
        )
        self._database = Database(path)
        self._xrefs: Cache[str, tuple[str, ...]] = Cache(_CACHED)
        self._types: Cache[int, tuple[str, ...]] = Cache(_CACHED)
        self._languages: Cache[int, dict[str, str]] = Cache(_CACHED)
        self._ancestors: Cache[int, frozenset[int]] = Cache(_CACHED)

    def __len__(self) -> int:
        return self._count

    @cached_property
    def _count(self) -> int:
        ((count, last),) = self._database.query("SELECT count(*), max(number) FROM concepts")
        if last != count - 1:
            raise damaged(self.path, "its concepts are not numbered from 0")
        return count

    def number(self, concept_id: str) -> int | None:
        """Find the number of a concept by its id or an alternate id, with or without the prefix of
        its vocabulary. The id is cleaned like those of an ontology.

        RETURNS (Optional[int]): The number; None for an unknown id.
        """
        concept_id = clean(concept_id)
        for spelling in (concept_id, *PREFIXES.spellings_of(concept_id)):
            if (number := self._number(spelling)) is not None:
                return number
        curie = PREFIXES.curie(concept_id)
        number = self._number(split_curie(curie)[1]) if curie else None
        return number if number is not None and curie in self._xrefs_of(number) else None

    def _number(self, concept_id: str) -> int | None:
        for table in ("concepts", "alt_ids", "spellings"):
            sql = f"SELECT number FROM {table} WHERE id = ? ORDER BY number"
            for (number,) in self._database.query(sql, (concept_id,)):
                self._require_numbers([number])
                return number
        return None

    def xrefs(self, concept_ids: Iterable[str]) -> dict[str, tuple[str, ...]]:
        """Read the ids of concepts in other vocabularies.

        concept_ids (Iterable[str]): Their ids.
        RETURNS (Dict[str, Tuple[str, ...]]): CURIEs by id; unknown concepts are left out.
        """
        return self._xrefs.get_all(concept_ids, self._read_xrefs)

    def _read_xrefs(self, concept_ids: Sequence[str]) -> dict[str, tuple[str, ...]]:
        rows = self._database.select(f"{_XREFS} WHERE id IN", concept_ids)
        curies = {concept_id: tuple(curies.split()) for concept_id, curies in rows}
        return {concept_id: curies.get(concept_id, ()) for concept_id in concept_ids}

    def _xrefs_of(self, number: int) -> tuple[str, ...]:
        concept_id, _ = self.labels([number])[number]
        return self.xrefs([concept_id]).get(concept_id, ())

    @cached_property
    def vocabularies(self) -> list[str]:
        """List the vocabularies in which concepts have ids.

        RETURNS (List[str]): Their prefixes, sorted.
        """
        return [*self._database.column("SELECT prefix FROM vocabularies ORDER BY prefix", str)]

    @cached_property
    def own_vocabulary(self) -> str:
        """The vocabulary of the ontology's own ids, if they do not have its prefix.

        RETURNS (str): The prefix that the cross-references of the first concepts state, such as
            ICD10CM for E11.9; empty if they state none, or several.
        """
        ids = [concept_id for concept_id, _ in self.labels(range(min(_ASKED, len(self)))).values()]
        stated = set[str]()
        for concept_id, curies in self.xrefs(ids).items():
            own = [prefix for prefix, local in map(split_curie, curies) if local == concept_id]
            stated.update(own or [""])
        return stated.pop() if len(stated) == 1 else ""

    def in_ontology(self, number: int) -> bool:
        """Check whether a concept is in the ontology.

        RETURNS (bool): False for a concept that is only in annotated data.
        """
        sql = "SELECT in_ontology FROM concepts WHERE number = ?"
        return any(self._database.column(sql, int, number))

    def labels(self, numbers: Iterable[int]) -> dict[int, tuple[str, str]]:
        """Read ids and preferred names.

        RETURNS (Dict[int, Tuple[str, str]]): Id and preferred name by concept number.
        """
        numbers = list(numbers)
        places = np.asarray(numbers, dtype="int64")
        pairs = zip(self._ids.read(places), self._shown.read(places), strict=True)
        return dict(zip(numbers, pairs, strict=True))

    def texts(self, members: Iterable[int]) -> dict[int, str]:
        """Read concept texts.

        RETURNS (Dict[int, str]): Texts by member number.
        """
        members = list(members)
        texts = self._names.read(np.asarray(members, dtype="int64"))
        return dict(zip(members, texts, strict=True))

    def all_texts(self) -> Iterator[str]:
        """Read all concept texts.

        YIELDS (str): The texts in the order of the members.
        """
        count = len(self._names)
        for start in range(0, count, _PAGE):
            yield from self._names.read(np.arange(start, min(start + _PAGE, count)))

    def concept(self, number: int) -> Concept:
        """Read a concept, without its aliases.

        RETURNS (Concept): The concept.
        """
        sql = "SELECT number, id, name, definition FROM concepts WHERE number IN"
        rows = self._database.select(sql, [int(number)])
        if len(rows) != 1:
            raise damaged(self.path, "it lacks a row")
        _, concept_id, name, definition = rows[0]
        return Concept(
            concept_id=concept_id,
            canonical_name=name,
            definition=definition,
            types=self.types_of([number])[number],
            parents=self._database.column(_PARENTS, str, number),
            alt_ids=self._database.column("SELECT id FROM alt_ids WHERE number = ?", str, number),
            xrefs=self._xrefs_of(number),
        )

    @cached_property
    def has_languages(self) -> bool:
        """Whether the language of some names is known.

        RETURNS (bool): True if it is.
        """
        return bool(self._database.query("SELECT 1 FROM languages LIMIT 1"))

    def languages_of(self, numbers: Iterable[int]) -> dict[int, dict[str, str]]:
        """Read the languages of the names of concepts.

        RETURNS (Dict[int, Dict[str, str]]): Languages by name, by concept number; empty where they
            are not known.
        """
        return self._languages.get_all(numbers, self._read_languages)

    def _read_languages(self, numbers: Sequence[int]) -> dict[int, dict[str, str]]:
        sql = "SELECT number, name, language FROM languages WHERE number IN"
        languages: dict[int, dict[str, str]] = {int(number): {} for number in numbers}
        for number, name, language in self._database.select(sql, [*languages]):
            languages[number].setdefault(name, language)
        return languages

    def types_of(self, numbers: Iterable[int]) -> dict[int, tuple[str, ...]]:
        """Read the semantic types of concepts.

        RETURNS (Dict[int, Tuple[str, ...]]): Semantic types by concept number.
        """
        return self._types.get_all(numbers, self._read_types)

    def _read_types(self, numbers: Sequence[int]) -> dict[int, tuple[str, ...]]:
        sql = "SELECT number, type FROM types WHERE number IN"
        types: dict[int, tuple[str, ...]] = dict.fromkeys(numbers, ())
        for number, name in self._database.select(sql, numbers):
            types[number] += (name,)
        return types

    def types(self) -> list[str]:
        """List the semantic types of all concepts.

        RETURNS (List[str]): The types, sorted.
        """
        return [*self._database.column("SELECT DISTINCT type FROM types ORDER BY type", str)]

    def _unknown(self, concept: str) -> ConnormError:
        types = self.types()
        more = ["..."] if len(types) > _SHOWN_TYPES else []
        known = ", ".join(types[:_SHOWN_TYPES] + more) or "none"
        return Errors.CN406(concept=concept, path=self.path.parent, known=known)

    def ancestors(self, number: int) -> frozenset[int]:
        """Find the concepts above a concept. Parents may form cycles.

        RETURNS (FrozenSet[int]): Their numbers.
        """
        return self._ancestors.get_all([number], self._read_ancestors)[number]

    def _read_ancestors(self, numbers: Sequence[int]) -> dict[int, frozenset[int]]:
        return {
            number: frozenset(self._database.column(_ANCESTORS, int, number)) for number in numbers
        }

    def of_types(self, types: Sequence[str]) -> np.ndarray:
        """Find the concepts of some semantic types.

        types (Sequence[str]): The types.
        RETURNS (Ints1d): int64 concept numbers.
        RAISES (ConnormError): CN406 for a type that no concept has.
        """
        return self._union("SELECT number FROM types WHERE type = ?", types)

    def of_branches(self, branches: Sequence[str]) -> np.ndarray:
        """Find the concepts at and below some concepts. Parents may form cycles.

        branches (Sequence[str]): Concept ids.
        RETURNS (Ints1d): int64 concept numbers.
        RAISES (ConnormError): CN406 for an unknown id.
        """
        numbers = [self.number(branch) for branch in branches]
        for branch, number in zip(branches, numbers, strict=True):
            if number is None:
                raise self._unknown(branch)
        return self._union(_BRANCH, numbers)

    def only_below(self, branches: Sequence[str]) -> np.ndarray:
        """Find some concepts, and those below them that are below no others.

        branches (Sequence[str]): Concept ids.
        RETURNS (np.ndarray): bool (concepts,): whether each is one of these.
        RAISES (ConnormError): CN406 for an unknown id.
        """
        below = np.zeros(len(self), dtype="bool")
        below[self.of_branches(branches)] = True
        roots = [place for branch in branches if (place := self.number(branch)) is not None]
        child, parent = self._links()
        while True:
            others = np.zeros(len(self), dtype="bool")
            others[child[~below[parent]]] = True
            others[roots] = False
            if not (below & others).any():
                return below
            below &= ~others

    def placed(self) -> np.ndarray:
        """Find the concepts that have a place in the hierarchy: a parent or a child.

        RETURNS (Ints1d): int64 concept numbers.
        """
        return np.unique(self._links())

    def _links(self) -> np.ndarray:
        """Read the hierarchy.

        RETURNS (Ints2d): int64 (2, l): children and their parents.
        """
        links = self._database.query("SELECT child, parent FROM parents")
        numbers = np.fromiter(chain.from_iterable(links), "int64", 2 * len(links))
        return numbers.reshape(-1, 2).T

    def _union(self, sql: str, keys: Iterable[Any]) -> np.ndarray:
        numbers: set[int] = set()
        for key in keys:
            rows = self._database.query(sql, (key,))
            if not rows:
                raise self._unknown(key)
            numbers.update(number for (number,) in rows)
        self._require_numbers(numbers)
        return np.asarray(sorted(numbers), dtype="int64")

    def _require_numbers(self, numbers: Collection[Any]) -> None:
        are_numbers = all(type(number) is int for number in numbers)
        if not are_numbers or not 0 <= min(numbers) <= max(numbers) < len(self):
            raise damaged(self.path, "it has numbers that do not belong to any concept")
