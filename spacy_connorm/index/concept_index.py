"""The index of an ontology and its annotated data, as one memory-mapped folder; and the concepts
that a filter allows.
"""

import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from functools import cached_property
from hashlib import blake2b
from multiprocessing.context import get_spawning_popen
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..concepts import Concept
from ..encoders.protocol import Encoder, fingerprint, loaded_shim
from ..errors import ConnormError, Errors, quote_id, require_choice
from ..files.arrays import find_sorted, open_array, require_offsets, save_arrays
from ..files.atomic import TemporaryFolder
from ..files.folders import (
    MANIFEST,
    checksum_of,
    damaged,
    pack,
    replaced_since,
    unpack,
    unseal,
)
from .backends.exact import AllowedItems, Backend, ExactSearcher, Searcher
from .store import ConceptStore
from .vectors import COSINE, METRICS, Vectors, metric_of, open_vectors, scaled
from .word_bags import RewritingTable, WordBags

O, D = 1, 2  # noqa: E741  (the papers' names)
_MOST_TIMES = 2**31
TARGETS = {"O": O, "D": D, "OD": O | D}


@dataclass(frozen=True)
class Members:
    """The members of all rows.

    start (Ints1d): int64 (rows + 1,): the members of row r are start[r] to start[r + 1].
    concept (Ints1d): int32 (members,): concept numbers.
    target (Ints1d): uint8 (members,): O, D or both.
    count (Ints1d): int32 (members,): how often this text has this concept in D; 0 for O.
    preferred (Ints1d): bool (members,): whether the text is the concept's preferred name.
    inexact (Ints1d): bool (members,): whether it is only in O, as an inexact synonym.
    """

    start: np.ndarray
    concept: np.ndarray
    target: np.ndarray
    count: np.ndarray
    preferred: np.ndarray
    inexact: np.ndarray

    def rows_of(self, target: int) -> tuple[int, int]:
        """Find the rows of a target.

        RETURNS (Tuple[int, int]): The range of rows that have a member of the target.
        """
        matching = self.target & target > 0
        if not matching.any():
            return 0, 0
        ends = [matching.argmax(), len(matching) - 1 - matching[::-1].argmax()]
        first, last = np.searchsorted(self.start, ends, side="right") - 1
        return int(first), int(last) + 1

    def row_numbers(self) -> np.ndarray:
        """The row of each member.

        RETURNS (Ints1d): int64 (members,).
        """
        return np.repeat(np.arange(len(self.start) - 1), np.diff(self.start))

    def of(self, row: int, concept: int) -> np.ndarray:
        """Find the members of a row that denote a concept.

        RETURNS (Ints1d): int64 member numbers.
        """
        first, last = self.start[row], self.start[row + 1]
        return first + np.flatnonzero(self.concept[first:last] == concept)

    def of_rows(self, rows: np.ndarray) -> np.ndarray:
        """List the members of some rows.

        RETURNS (Ints1d): int64 member numbers, row by row.
        """
        start = self.start[rows]
        sizes = self.start[rows + 1] - start
        ends = np.cumsum(sizes)
        return np.repeat(start - ends + sizes, sizes) + np.arange(ends[-1] if len(ends) else 0)

    def ranks(self, members: np.ndarray) -> np.ndarray:
        """Rank members by the kind of name.

        RETURNS (Ints1d): int8: 0 for a concept's preferred name, 1 for another name, 2 for an
            inexact synonym.
        """
        return 1 - self.preferred[members].astype("int8") + self.inexact[members]

    def write(self, folder: Path) -> None:
        save_arrays(folder, "members", vars(self))

    @classmethod
    def open(cls, folder: Path, *, rows: int, concepts: int) -> "Members":
        """Open the files written by `write`, memory-mapped.

        folder (Path): The folder.
        rows (int): The number of rows.
        concepts (int): The number of concepts.
        RETURNS (Members): The members.
        RAISES (ConnormError): CN402 if the files are not for these rows and concepts.
        """
        file = {field.name: folder / f"members.{field.name}.npy" for field in fields(cls)}
        concept = open_array(file["concept"], "int32", (None,), bounds=(0, concepts))
        same = concept.shape
        start = open_array(file["start"], "int64", (rows + 1,))
        require_offsets(file["start"], start, len(concept))
        return cls(
            start=start,
            concept=concept,
            target=open_array(file["target"], "uint8", same, bounds=(O, (O | D) + 1)),
            count=open_array(file["count"], "int32", same, bounds=(0, _MOST_TIMES)),
            preferred=open_array(file["preferred"], "bool", same, bounds=(0, 2)),
            inexact=open_array(file["inexact"], "bool", same, bounds=(0, 2)),
        )


class Search(StrEnum):
    """One of the six searches (Xu & Bethard 2021, section 3.2), such as "OD-T". It equals its name,
    so it can be used wherever configs and files have a string; `Search("OD-T")` parses one.

    target (int): The texts to search: `O`, `D` or both.
    representation (str): "T": each text is a vector. "C": a concept is the mean of its texts'
        vectors.
    """

    O_T = "O-T"
    O_C = "O-C"
    D_T = "D-T"
    D_C = "D-C"
    OD_T = "OD-T"
    OD_C = "OD-C"

    def __init__(self, name: str) -> None:
        target, representation = name.split("-")
        self.target: int = TARGETS[target]
        self.representation: str = representation

    @classmethod
    def _missing_(cls, value: Any) -> None:
        require_choice("search", value, list(cls))


SEARCHES = tuple(Search)


class KeyTable:
    """Sorted 64-bit hashes of encoder inputs, opened memory-mapped. The probability that any two of
    ten million inputs share a hash is about 3 in a million.
    """

    def __init__(self, hashes: np.ndarray, rows: np.ndarray) -> None:
        """Wrap the arrays.

        hashes (np.ndarray): uint64 (n,), sorted.
        rows (np.ndarray): int64 (n,), the row of each.
        """
        self._hashes = hashes
        self._rows = rows

    @classmethod
    def from_hashes(cls, hashes: np.ndarray) -> "KeyTable":
        """Sort the hashes of rows.

        hashes (np.ndarray): uint64 (n,), one per row.
        """
        rows = np.argsort(hashes, kind="stable")
        return cls(hashes[rows], rows)

    def row(self, key: bytes) -> int | None:
        """Find the row of an encoder input.

        RETURNS (Optional[int]): The row; None if the index does not have it.
        """
        row = int(self.rows_of(hash_keys([key]))[0])
        return None if row < 0 else row

    def rows_of(self, values: np.ndarray) -> np.ndarray:
        """Find the rows of n encoder inputs.

        values (np.ndarray): uint64 (n,): their hashes, from `hash_keys`.
        RETURNS (Ints1d): int64 (n,); -1 for unknown inputs.
        """
        places = find_sorted(self._hashes, values)
        found = places >= 0
        rows = np.full(len(values), -1, dtype="int64")
        rows[found] = self._rows[places[found]]
        return rows

    def hashes(self) -> np.ndarray:
        """List the hash of each row's encoder input.

        RETURNS (np.ndarray): uint64 (rows,).
        """
        hashes = np.empty(len(self._hashes), dtype="uint64")
        hashes[self._rows] = self._hashes
        return hashes

    def write(self, folder: Path) -> None:
        save_arrays(folder, "keys", {"hashes": self._hashes, "rows": self._rows})

    @classmethod
    def open(cls, folder: Path, *, rows: int) -> "KeyTable":
        """Open the files written by `write`, memory-mapped.

        folder (Path): The folder.
        rows (int): The number of rows.
        RETURNS (KeyTable): The table.
        RAISES (ConnormError): CN402 if the files do not belong to these rows.
        """
        return cls(
            open_array(folder / "keys.hashes.npy", "uint64", (rows,)),
            open_array(folder / "keys.rows.npy", "int64", (rows,), bounds=(0, rows)),
        )


def hash_keys(keys: Iterable[bytes]) -> np.ndarray:
    """Hash encoder inputs.

    RETURNS (np.ndarray): uint64 (n,).
    """
    digests = (blake2b(key, digest_size=8).digest() for key in keys)
    return np.frombuffer(b"".join(digests), dtype=">u8").astype("uint64")


class ConceptIndex:
    """Vectors, the concepts that they denote, and a searcher for each search that the index was
    built for.
    """

    def __init__(
        self,
        folder: Path,
        backend: Backend,
        *,
        owner: TemporaryFolder | None = None,
    ) -> None:
        """Open an index by mapping its files into memory. Files that are used without further
        checks (offsets, members, keys) are read now, and so are all files of up to 256 MiB, to
        compare their checksums. Of larger files, a sample is read.

        folder (Path): A folder written by `write_index`.
        backend (Backend): The settings of the search.
        owner (Optional[TemporaryFolder]): The folder's owner, if any; kept as long as the index.
        RAISES (ConnormError): CN400, CN401, CN402 if the folder is not an index or is damaged.
        """
        self.folder = folder
        self.backend = backend
        self.manifest = unseal(folder)
        self.store = ConceptStore(folder / "concepts.sqlite")
        self.vectors = open_vectors(folder, "texts")
        rows = len(self.vectors)
        self.members = Members.open(folder, rows=rows, concepts=len(self.store))
        self.keys = KeyTable.open(folder, rows=rows)
        self.word_bags = WordBags.open(folder, rows=rows)
        self.rewriting = RewritingTable.open(folder)
        self._owner = owner
        self._searches, self.fingerprint, self.metric = _read_facts(folder, self.manifest)
        self._searchers: dict[str, Searcher] = {}
        self._concepts: dict[str, np.ndarray] = {}

    def __reduce__(self) -> tuple:
        # A spawned worker maps the same files; any other pickle may be read on another machine.
        if get_spawning_popen() is not None:
            return _opened_again, (self.folder, self.backend, self.manifest)
        return _from_files, (pack(self.folder), self.backend)

    @property
    def checksum(self) -> int:
        """The id of this build. Files saved beside the index refer to it.

        RETURNS (int): A checksum of its manifest.
        """
        return checksum_of(self.manifest)

    def require(self, encoder: Encoder, searches: Iterable[str]) -> None:
        """Check that the index fits an encoder and searches.

        encoder (Model[List[str], Floats2d]): The encoder.
        searches (Iterable[str]): The searches.
        RAISES (ConnormError): CN410 if it was built with another encoder, or with another metric
            than that of the backend, CN402 if its vectors differ in kind from the encoder's,
            CN408 if it was built without one of the searches.
        """
        for part, found, expected in (
            ("encoder", self.fingerprint, fingerprint(encoder)),
            ("metric", self.metric, metric_of(self.backend)),
        ):
            if found != expected:
                told = {"part": part, "found": found, "expected": expected}
                raise ConnormError(Errors.CN410.format(path=self.folder, **told))
        widths = loaded_shim(encoder).widths
        if widths != self.vectors.widths:
            reason = f"its vectors have {self.vectors.widths} components, not {widths}"
            raise damaged(self.folder, reason)
        for search in searches:
            self.searcher(search)

    def write(self, folder: Path) -> None:
        """Write a copy of the index.

        folder (Path): The folder to create.
        """
        copy = _hand_over if self._owner is not None else shutil.copy2
        shutil.copytree(self.folder, folder, copy_function=copy)

    @cached_property
    def row_numbers(self) -> np.ndarray:
        """The row of each member.

        RETURNS (Ints1d): int64 (members,).
        """
        return self.members.row_numbers()

    def number(self, concept_id: str) -> int:
        """Find the number of a concept.

        concept_id (str): Its id, or an alternate id.
        RETURNS (int): Its number.
        RAISES (ConnormError): CN411 for an unknown id.
        """
        number = self.store.number(concept_id)
        if number is None:
            told = {"concept": quote_id(concept_id), "path": self.folder}
            raise ConnormError(Errors.CN411.format(**told))
        return number

    def concept(self, concept_id: str) -> Concept:
        """Read a concept.

        concept_id (str): Its id, or an alternate id.
        RETURNS (Concept): The concept, with the ontology's aliases, one for each distinct encoder
            input.
        RAISES (ConnormError): CN411 for an unknown id.
        """
        number = self.number(concept_id)
        concept, members = self.store.concept(number), self.members
        mine = np.flatnonzero((members.concept == number) & (members.target & O > 0))
        texts = self.store.texts(mine)
        aliases = (texts[member] for member in mine.tolist() if not members.preferred[member])
        return replace(concept, aliases=tuple(aliases))

    def searcher(self, search: str) -> Searcher:
        """Open the searcher of one search.

        search (str): The search or its name, e.g. "OD-T".
        RETURNS (Searcher): Its items are rows minus the first of `row_ranges`, or positions in
            `concepts_of(search)`.
        RAISES (ConnormError): CN118 for an unknown search, CN408 for a search over concepts that
            the index was built without. A search over texts that was not built is exact.
        """
        if search not in self._searchers:
            self._searchers[search] = self._open_searcher(Search(search))
        return self._searchers[search]

    def _open_searcher(self, search: Search) -> Searcher:
        built = search in self._searches
        if not built and search.representation == "C":
            known = self._searches
            raise ConnormError(Errors.CN408.format(path=self.folder, search=search, known=known))
        vectors = scaled(self.stored_vectors(search), self.metric)
        # A target without texts, such as D before any synonym was added, has no index file.
        if built and len(vectors):
            return self.backend.open(vectors, self.folder / f"{search}.index")
        return ExactSearcher(vectors)

    @cached_property
    def compared(self) -> Vectors:
        """The vectors in the form in which searches compare them.

        RETURNS (Vectors): At unit length, or with their own lengths for inner products.
        """
        return scaled(self.vectors, self.metric)

    def stored_vectors(self, search: Search) -> Vectors:
        """Get the vectors of a search as they are stored, at unit length.

        RETURNS (Vectors): Text vectors or concept means.
        RAISES (ConnormError): CN402 if they do not fit the index.
        """
        if search.representation == "T":
            return self.vectors.view(*self.row_ranges[search.target])
        vectors = open_vectors(self.folder, search)
        if vectors.widths != self.vectors.widths:
            raise damaged(
                self.folder / f"{search}.norms.npy", "its vectors are not like the texts'"
            )
        return vectors

    def concepts_of(self, search: Search) -> np.ndarray:
        """List the concepts of a search over concepts.

        RETURNS (Ints1d): The concept number of each item.
        RAISES (ConnormError): CN402 if they do not fit the index.
        """
        if search not in self._concepts:
            self._concepts[search] = open_array(
                self.folder / f"{search}.concepts.npy",
                ("int64", "int32"),
                (len(self.searcher(search)),),
                bounds=(0, len(self.store)),
            )
        return self._concepts[search]

    @cached_property
    def row_ranges(self) -> dict[int, tuple[int, int]]:
        """The rows with texts of each target: O, D and both.

        RETURNS (Dict[int, Tuple[int, int]]): The first row, which is that of item 0 of a search
            over texts, and the row after the last.
        """
        return {target: self.members.rows_of(target) for target in TARGETS.values()}


def _read_facts(folder: Path, manifest: Mapping[str, Any]) -> tuple[list[str], str, str]:
    """Read the facts about an index from its manifest.

    RETURNS (Tuple[List[str], str, str]): The searches that it was built for, the fingerprint of its
        encoder, and its metric.
    """
    try:
        searches, fingerprint = manifest["searches"], manifest["encoder"]["fingerprint"]
        metric = manifest["backend"].get("metric", COSINE)
    except (KeyError, TypeError, AttributeError):
        searches = fingerprint = metric = None
    if not isinstance(searches, list) or not isinstance(fingerprint, str) or metric not in METRICS:
        reason = "it does not name the searches, the encoder and the metric"
        raise damaged(folder / MANIFEST, reason)
    return searches, fingerprint, metric


def _hand_over(source: str, target: str) -> None:
    """Give a temporary file a second name instead of copying gigabytes. A file gets at most one,
    since folders that are kept must not share files.
    """
    try:
        if Path(source).stat().st_nlink == 1:
            Path(target).hardlink_to(source)
            return
    except OSError:
        pass  # another file system, or one without links
    shutil.copy2(source, target)


def _opened_again(folder: Path, backend: Backend, manifest: dict[str, Any]) -> ConceptIndex:
    index = ConceptIndex(folder, backend)
    # Saving a pipeline to its own folder replaces the files by copies with the same manifest.
    if index.manifest != manifest:
        raise replaced_since(folder)
    return index


def _from_files(files: dict[str, bytes], backend: Backend) -> ConceptIndex:
    owner = TemporaryFolder()
    unpack(files, owner.path)
    return ConceptIndex(owner.path, backend, owner=owner)


class Filter(NamedTuple):
    """Limits the concepts that may be found.

    types (Tuple[str, ...]): Only concepts of these semantic types; all if empty.
    branches (Tuple[str, ...]): Only concepts at or below these; all if empty.
    excluded (Tuple[str, ...]): None of these concepts, nor those that are only below them.
    """

    types: tuple[str, ...] = ()
    branches: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()


class AllowedConcepts:
    """The concepts of an index that may be found. The items of each search are computed only once,
    since that takes a while with millions of names.
    """

    def __init__(self, index: ConceptIndex, concepts: np.ndarray) -> None:
        """Store the mask.

        index (ConceptIndex): The index.
        concepts (np.ndarray): bool (concepts,): which concepts may be found.
        """
        self.concepts = concepts
        self._index = index
        self._items: dict[Search, AllowedItems] = {}

    def items(self, search: Search) -> AllowedItems:
        """Find the items of a search that denote an allowed concept.

        search (Search): A search.
        RETURNS (AllowedItems): These items.
        """
        if search not in self._items:
            if search.representation == "T":
                mask = self._texts(search)
            else:
                mask = self.concepts[self._index.concepts_of(search)]
            self._items[search] = AllowedItems(mask)
        return self._items[search]

    def _texts(self, search: Search) -> np.ndarray:
        index, members = self._index, self._index.members
        rows = np.zeros(len(members.start) - 1, dtype="bool")
        named = (members.target & search.target > 0) & self.concepts[members.concept]
        rows[index.row_numbers[named]] = True
        return rows[slice(*index.row_ranges[search.target])]


def allowed_concepts(filter: Filter, index: ConceptIndex) -> AllowedConcepts | None:
    """Find the concepts that a filter allows.

    filter (Filter): The filter.
    index (ConceptIndex): The index.
    RETURNS (Optional[AllowedConcepts]): The concepts; None if all are allowed.
    RAISES (ConnormError): CN406 for an unknown type or branch.
    """
    if not any(filter):
        return None
    mask = np.ones(len(index.store), dtype="bool")
    if filter.types:
        mask &= _among(index.store.of_types(filter.types), len(mask))
    if filter.branches:
        mask &= _among(index.store.of_branches(filter.branches), len(mask))
    if filter.excluded:
        mask &= ~index.store.only_below(filter.excluded)
    return AllowedConcepts(index, mask)


def _among(numbers: np.ndarray, size: int) -> np.ndarray:
    mask = np.zeros(size, dtype="bool")
    mask[numbers] = True
    return mask
