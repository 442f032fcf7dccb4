"""The index of an ontology and its annotated data, as one memory-mapped folder."""

import shutil
from collections.abc import Iterable
from dataclasses import replace
from functools import cached_property
from multiprocessing.context import get_spawning_popen
from pathlib import Path
from typing import Any

import numpy as np

from ..concepts import Concept
from ..encoders.protocol import Encoder, fingerprint, loaded_shim
from ..errors import Errors, quote_id
from ..files.arrays import open_array
from ..files.atomic import TemporaryFolder
from ..files.folders import checksum_of, damaged, pack, replaced_since, unpack, unseal
from ..text.words import words_of
from .backends.exact import ExactSearcher
from .backends.protocol import Backend, Searcher
from .hash_sets import OTHER_NAMES, WORD_PAIRS, HashSet
from .manifest import read_facts
from .name_words import NameWords
from .rows import KeyTable, Members
from .search import TARGETS, O, Search, metric_of
from .store import ConceptStore
from .vectors.kinds import Vectors, open_vectors, scaled
from .word_bags import RewritingTable, WordBags


class ConceptIndex:
    """Vectors, the concepts that they denote, and a searcher for each search that the index was
    built for.
    """

    def __init__(
        self, folder: Path, backend: Backend, *, owner: TemporaryFolder | None = None
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
        facts = read_facts(folder, self.manifest)
        self._searches, self.fingerprint = facts.searches, facts.fingerprint
        self.metric = facts.metric
        self.words = words_of(facts.language, facts.endings)
        self.store = ConceptStore(folder / "concepts.sqlite")
        self.vectors = open_vectors(folder, "texts")
        rows = len(self.vectors)
        self.members = Members.open(folder, rows=rows, concepts=len(self.store))
        self.keys = KeyTable.open(folder, rows=rows)
        self.name_words = NameWords.open(folder, texts=len(self.members.concept))
        self.word_bags = WordBags.open(folder, rows=rows)
        self.rewriting = RewritingTable.open(folder)
        self.word_pairs = HashSet.open(folder, WORD_PAIRS)
        self.other_names = HashSet.open(folder, OTHER_NAMES)
        self._owner = owner
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
                raise Errors.CN410(path=self.folder, part=part, found=found, expected=expected)
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

    def number(self, concept_id: str) -> int:
        """Find the number of a concept.

        concept_id (str): Its id, or an alternate id.
        RETURNS (int): Its number.
        RAISES (ConnormError): CN411 for an unknown id.
        """
        number = self.store.number(concept_id)
        if number is None:
            raise Errors.CN411(concept=quote_id(concept_id), path=self.folder)
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
        names = np.flatnonzero((members.concept == number) & (members.target & O > 0))
        texts = self.store.texts(names)
        aliases = (texts[member] for member in names.tolist() if not members.preferred[member])
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
            raise Errors.CN408(path=self.folder, search=search, known=self._searches)
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
            return self.vectors.take(slice(*self.row_ranges[search.target]))
        vectors = open_vectors(self.folder, search)
        if vectors.widths != self.vectors.widths:
            path = self.folder / f"{search}.norms.npy"
            raise damaged(path, "its vectors are not like the texts'")
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
                (len(self.searcher(search).vectors),),
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
