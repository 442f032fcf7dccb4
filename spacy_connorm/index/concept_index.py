"""The index of an ontology and its annotated data: one memory-mapped folder."""

import shutil
from collections.abc import Iterable
from dataclasses import replace
from functools import cached_property
from multiprocessing.context import get_spawning_popen
from pathlib import Path
from typing import Any

import numpy as np

from ..concepts import Concept
from ..encoders.normalized import NormalizedEncoder
from ..errors import ConnormError, Errors
from ..files.arrays import open_array
from ..files.atomic import TemporaryFolder
from ..files.folders import (
    MANIFEST,
    BackgroundCheck,
    Stamp,
    checksum_of,
    damaged,
    pack,
    stamps,
    unpack,
    unseal,
    unseal_again,
)
from .backends.exact import ExactSearcher
from .backends.protocol import Backend, Searcher
from .keys import KeyTable
from .members import TARGETS, Members, O
from .metrics import metric_of, stored_metric
from .rewriting import RewritingTable
from .search import Search
from .store import ConceptStore
from .vectors.base import Vectors, open_vectors
from .vectors.scaled import scaled
from .word_bags import WordBags


class ConceptIndex:
    """Vectors, what they denote, and a searcher for each search the index was built for."""

    def __init__(
        self,
        folder: Path,
        backend: Backend,
        *,
        owner: TemporaryFolder | None = None,
        manifest: dict[str, Any] | None = None,
    ) -> None:
        """Open an index: its files are mapped into memory. What is trusted without further checks
        (offsets, members, keys) is read now, and so are files of up to 256 MiB, to compare their
        checksums; of larger ones a sample is, and a thread reads the rest.

        folder (Path): What `write_index` wrote.
        backend (Backend): Searches it.
        owner (Optional[TemporaryFolder]): The folder's owner, if any; kept as long as the index.
        manifest (Optional[Dict[str, Any]]): From `unseal`, if that was called already.
        RAISES (ConnormError): CN400, CN401, CN402 if the folder is no index or damaged.
        """
        self.folder = folder
        self.backend = backend
        self._seen = stamps(folder)
        self.manifest = unseal(folder) if manifest is None else manifest
        self._background = BackgroundCheck(folder, self.manifest)
        self.store = ConceptStore(folder / "concepts.sqlite")
        self.vectors = open_vectors(folder, "texts")
        rows = len(self.vectors)
        self.members = Members.open(folder, rows=rows, concepts=self.concept_count)
        self.keys = KeyTable.open(folder, rows=rows)
        self.word_bags = WordBags.open(folder, rows=rows)
        self.rewriting = RewritingTable.open(folder)
        self._owner = owner
        self._searches = _searches_of(folder, self.manifest)
        self._fingerprint = _fingerprint_of(folder, self.manifest)
        self.metric = stored_metric(folder, self.manifest)
        self._searchers: dict[str, Searcher] = {}
        self._concepts: dict[str, np.ndarray] = {}

    def __reduce__(self) -> tuple:
        # A spawned worker maps the same files; other pickles may be read on another machine.
        if get_spawning_popen() is not None:
            return _opened_again, (self.folder, self.backend, self.manifest, self._seen)
        return _from_files, (pack(self.folder), self.backend)

    @property
    def fingerprint(self) -> str:
        """RETURNS (str): The fingerprint of the encoder that made the vectors."""
        return self._fingerprint

    @property
    def checksum(self) -> int:
        """RETURNS (int): Identifies this build of the index: files saved beside it refer to it."""
        return checksum_of(self.manifest)

    def require_sound(self) -> None:
        """Check whether damage was found since the index was opened: large files are checked
        completely while they are in use.

        RAISES (ConnormError): CN402 if there is any.
        """
        self._background.require_sound()

    def require(self, encoder: NormalizedEncoder, searches: Iterable[str]) -> None:
        """Check that an encoder and its searches can use the index.

        encoder (NormalizedEncoder): The encoder.
        searches (Iterable[str]): The searches.
        RAISES (ConnormError): CN410 if it was built with another encoder, CN418 if with another
            metric than that of the backend, CN402 if its vectors are not like the encoder's, CN408
            if it was built without one of the searches.
        """
        fingerprint = encoder.fingerprint()
        if self.fingerprint != fingerprint:
            found = self.fingerprint
            message = Errors.CN410.format(path=self.folder, found=found, expected=fingerprint)
            raise ConnormError(message)
        metric = metric_of(self.backend)
        if self.metric != metric:
            message = Errors.CN418.format(path=self.folder, found=self.metric, expected=metric)
            raise ConnormError(message)
        if encoder.widths != self.vectors.widths:
            reason = f"its vectors have {self.vectors.widths} components, not {encoder.widths}"
            raise damaged(self.folder, reason)
        for search in searches:
            self.searcher(search)

    def write(self, folder: Path) -> None:
        """Write the index again.

        folder (Path): The folder to make.
        """
        copy = _hand_over if self._owner is not None else shutil.copy2
        shutil.copytree(self.folder, folder, copy_function=copy)

    @cached_property
    def concept_count(self) -> int:
        """RETURNS (int): How many concepts the index has, including those that are only in D."""
        return len(self.store)

    @cached_property
    def row_numbers(self) -> np.ndarray:
        """RETURNS (Ints1d): int64 (members,): the row of each member."""
        return self.members.row_numbers()

    def number(self, concept_id: str) -> int:
        """Find a concept.

        concept_id (str): Its id, or an alternate id.
        RETURNS (int): Its number.
        RAISES (ConnormError): CN411 for an unknown id.
        """
        number = self.store.number(concept_id)
        if number is None:
            raise ConnormError(Errors.CN411.format(concept=concept_id, path=self.folder))
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
        RETURNS (Searcher): Its items are rows minus `first_row(search)`, or places in
            `concepts_of(search)`.
        RAISES (ConnormError): CN118 for an unknown search, CN408 for one over concepts that the
            index was built without. One over texts that was not built is exact.
        """
        if search not in self._searchers:
            self._searchers[search] = self._open_searcher(Search(search))
        return self._searchers[search]

    def _open_searcher(self, search: Search) -> Searcher:
        built = search in self._searches
        if not built and search.representation == "C":
            known = self._searches
            raise ConnormError(Errors.CN408.format(path=self.folder, search=search, known=known))
        vectors = self.search_vectors(search)
        # A target without texts, such as D before any synonym is added, has no index file.
        if built and len(vectors):
            return self.backend.open(vectors, self.folder / f"{search}.index")
        return ExactSearcher(vectors)

    @cached_property
    def compared(self) -> Vectors:
        """RETURNS (Vectors): The vectors as searches compare them."""
        return self.as_compared(self.vectors)

    def as_compared(self, vectors: Vectors) -> Vectors:
        """RETURNS (Vectors): Other vectors of the same encoder, compared as those of the index."""
        return scaled(vectors, self.metric)

    def search_vectors(self, search: Search) -> Vectors:
        """RETURNS (Vectors): What a search compares with: text vectors or concept means."""
        return self.as_compared(self.stored_vectors(search))

    def stored_vectors(self, search: Search) -> Vectors:
        """RETURNS (Vectors): The same as they are stored: at unit length.
        RAISES (ConnormError): CN402 if they do not fit the index.
        """
        if search.representation == "T":
            return self.vectors.view(*self._rows_of[search.target])
        vectors = open_vectors(self.folder, search)
        if vectors.widths != self.vectors.widths:
            raise damaged(
                self.folder / f"{search}.norms.npy", "its vectors are not like the texts'"
            )
        return vectors

    def first_row(self, search: Search) -> int:
        """RETURNS (int): The row that is item 0 of a search over texts."""
        return self._rows_of[search.target][0]

    def concepts_of(self, search: Search) -> np.ndarray:
        """RETURNS (Ints1d): The concept number of each item of a search over concepts.
        RAISES (ConnormError): CN402 if they do not fit the index.
        """
        if search not in self._concepts:
            self._concepts[search] = open_array(
                self.folder / f"{search}.concepts.npy",
                ("int64", "int32"),
                (len(self.searcher(search)),),
                bounds=(0, self.concept_count),
            )
        return self._concepts[search]

    @cached_property
    def _rows_of(self) -> dict[int, tuple[int, int]]:
        return {target: self.members.rows_of(target) for target in TARGETS.values()}


def _searches_of(folder: Path, manifest: dict[str, Any]) -> list[str]:
    searches = manifest.get("searches")
    if not isinstance(searches, list):
        raise damaged(folder / MANIFEST, "it names no searches")
    return searches


def _fingerprint_of(folder: Path, manifest: dict[str, Any]) -> str:
    encoder = manifest.get("encoder")
    fingerprint = encoder.get("fingerprint") if isinstance(encoder, dict) else None
    if not isinstance(fingerprint, str):
        raise damaged(folder / MANIFEST, "it names no encoder")
    return fingerprint


def _hand_over(source: str, target: str) -> None:
    """Give a temporary file a second name instead of copying gigabytes. A file gets only one:
    folders that are kept must not share files.
    """
    try:
        if Path(source).stat().st_nlink == 1:
            Path(target).hardlink_to(source)
            return
    except OSError:
        pass  # another file system, or one without links
    shutil.copy2(source, target)


def _opened_again(
    folder: Path, backend: Backend, manifest: dict[str, Any], seen: dict[str, Stamp]
) -> ConceptIndex:
    unseal_again(folder, manifest, seen)
    return ConceptIndex(folder, backend, manifest=manifest)


def _from_files(files: dict[str, bytes], backend: Backend) -> ConceptIndex:
    owner = TemporaryFolder()
    unpack(files, owner.path)
    return ConceptIndex(owner.path, backend, owner=owner)
