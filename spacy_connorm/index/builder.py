"""Build an index: texts to rows, rows to vectors, vectors to one sealed folder."""

import datetime
import platform
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from tqdm import tqdm

from ..about import __version__
from ..concepts import Concept, Source
from ..concepts.concept import require_id_and_name
from ..encoders.protocol import NormalizedEncoder, Raw, stack
from ..errors import ConnormError, Errors, Warnings, warn
from ..files.atomic import atomic_folder
from ..files.folders import seal, verify
from ..text.substitutions import Substitution
from .backends.exact import Backend, Earlier, UpdatingBackend
from .concept_index import ConceptIndex, D, KeyTable, Members, O, Search
from .names import GroupedNames, InputHashes, NameFile, group_names
from .store_writer import StoreWriter
from .vectors import COSINE, Vectors, VectorWriter, from_raw, join, metric_of, open_vectors, scaled
from .word_bags import RewritingTable, WordBags

# How many vectors are in memory before they are written, and how many means.
_WINDOW = 1 << 15
_MEANS = 1 << 14
# How many texts are encoded at once: up to 32 workers share a window.
_ENCODED = 1024
_NOTHING = -1


class RowEncoder:
    """Computes the vectors of rows, or copies them from an older index."""

    def __init__(
        self,
        encoder: NormalizedEncoder,
        names: NameFile,
        *,
        dtype: str,
        known: ConceptIndex | None,
    ) -> None:
        """Store the settings.

        encoder (NormalizedEncoder): Computes the vectors.
        names (NameFile): Holds the texts.
        dtype (str): How dense vectors are stored.
        known (Optional[ConceptIndex]): An older index with the same encoder and dtype.
        """
        self._encoder = encoder
        self._names = names
        self._dtype = dtype
        self._known = known

    def write(self, grouped: GroupedNames, folder: Path, stem: str) -> np.ndarray:
        """Write the vectors of all rows.

        grouped (GroupedNames): The rows.
        folder (Path): Where to write.
        stem (str): How the file names start.
        RETURNS (Ints1d): int32 (rows,): the row of the older index that each was copied from; -1
            for one that was computed.
        """
        encoded = grouped.encoded
        writer = VectorWriter(folder, stem, len(encoded))
        copied = np.full(len(encoded), _NOTHING, dtype="int32")
        with tqdm(total=len(encoded), desc="Encoding", unit="text", delay=2, disable=None) as bar:
            for start in range(0, len(encoded), _WINDOW):
                window = slice(start, start + _WINDOW)
                rows = self._known_rows(grouped.hashes[window])
                writer.append(self._vectors(encoded[window], rows))
                copied[window] = rows
                bar.update(len(rows))
        writer.close()
        return copied

    def _known_rows(self, hashes: np.ndarray) -> np.ndarray:
        if self._known is None:
            return np.full(len(hashes), _NOTHING)
        return self._known.keys.rows_of(hashes)

    def _vectors(self, texts: np.ndarray, rows: np.ndarray) -> Vectors:
        new, old = np.flatnonzero(rows == _NOTHING), np.flatnonzero(rows != _NOTHING)
        parts = []
        if len(new):
            raw = _encode_all(self._names.read(texts[new]), self._encoder)
            parts.append(from_raw(raw, dtype=self._dtype))
        if self._known is not None and len(old):
            parts.append(self._known.vectors.take(rows[old]))
        if len(parts) == 1:
            return parts[0]
        return join(parts).take(np.argsort(np.concatenate([new, old])))


def _encode_all(texts: list[str], encoder: NormalizedEncoder) -> Raw:
    # Texts of similar length share a chunk, so that encoders pad little.
    order = np.argsort([len(text) for text in texts], kind="stable")
    chunks = [order[start : start + _ENCODED] for start in range(0, len(order), _ENCODED)]
    encoded = stack(encoder.encode([texts[place] for place in chunk]) for chunk in chunks)
    return encoded[np.argsort(order)]


def can_reuse(index: ConceptIndex | None, *, fingerprint: str, dtype: str) -> bool:
    """Check whether an older index has vectors that can be copied.

    index (Optional[ConceptIndex]): The index.
    fingerprint (str): The encoder's fingerprint.
    dtype (str): How dense vectors must be stored.
    RETURNS (bool): Whether encoder and dtype are the same.
    """
    if index is None or index.fingerprint != fingerprint:
        return False
    return index.manifest["backend"].get("dtype") == dtype


class Centroids:
    """The centroids of the concepts that have texts in a target."""

    def __init__(self, vectors: Vectors, members: Members, target: int, concept_count: int) -> None:
        """Group the rows by concept.

        vectors (Vectors): One vector per row.
        members (Members): The concepts of the rows.
        target (int): O, D or both: which texts are averaged.
        concept_count (int): The number of concepts.
        """
        chosen = np.flatnonzero(members.target & target)
        concepts = members.concept[chosen]
        rows = np.searchsorted(members.start, chosen, side="right") - 1
        sizes = np.bincount(concepts, minlength=concept_count)
        self.concepts = np.flatnonzero(sizes)
        self._vectors = vectors
        self._rows = rows[np.argsort(concepts, kind="stable")]
        self._ends = np.concatenate([[0], np.cumsum(sizes[self.concepts])])

    def blocks(self) -> Iterator[Raw]:
        """YIELDS (Raw): The centroids in order, (b, width) at a time; at least one block."""
        for start in range(0, max(len(self.concepts), 1), _MEANS):
            yield self._block(self._ends[start : start + _MEANS + 1])

    def _block(self, ends: np.ndarray) -> Raw:
        sizes = np.diff(ends)
        shares = np.repeat((1 / sizes).astype("float32"), sizes)
        rows = self._rows[ends[0] : ends[-1]]
        shape = (len(sizes), len(self._vectors))
        from scipy.sparse import csr_matrix

        return self._vectors.sums(csr_matrix((shares, rows, ends - ends[0]), shape=shape))

    def write(self, folder: Path, stem: str, *, dtype: str) -> None:
        """Write the centroids as vectors, and the numbers of their concepts.

        folder (Path): Where to write.
        stem (str): How the file names start.
        dtype (str): How dense vectors are stored.
        """
        np.save(folder / f"{stem}.concepts.npy", self.concepts)
        writer = VectorWriter(folder, stem, len(self.concepts))
        for block in self.blocks():
            writer.append(from_raw(block, dtype=dtype))
        writer.close()


def concept_centroids(
    vectors: Vectors, members: Members, target: int, concept_count: int
) -> tuple[np.ndarray, Raw]:
    """Compute all centroids at once: the mean raw vector of each concept's distinct texts.

    vectors, members, target, concept_count: As in `Centroids`.
    RETURNS (Tuple[Ints1d, Raw]): The numbers of the concepts with texts, and their centroids.
    """
    centroids = Centroids(vectors, members, target, concept_count)
    return centroids.concepts, stack(centroids.blocks())


_READ = 4096


def write_index(
    path: Path,
    concepts: Iterable[Concept],
    synonyms: Iterable[tuple[str, str]],
    encoder: NormalizedEncoder,
    *,
    searches: Sequence[str],
    backend: Backend,
    clean: Callable[[str], str],
    source: Source | None = None,
    known: ConceptIndex | None = None,
    substitutions: Iterable[Substitution] = (),
) -> None:
    """Build an index, and replace `path` once it is complete. Concepts and synonyms are read once
    and not kept: memory grows by some hundred bytes per name.

    path (Path): The folder to create or replace.
    concepts (Iterable[Concept]): O. Concepts with the same id are merged.
    synonyms (Iterable[Tuple[str, str]]): D: texts and concept ids, once per occurrence. An id that
        is not in O becomes a concept, named by its most frequent text.
    encoder (NormalizedEncoder): Loaded; computes the vectors.
    searches (Sequence[str]): The searches that the index must support.
    backend (Backend): Runs them.
    clean (Callable): Applied to every text first.
    source (Optional[Source]): The source of the ontology, for the manifest.
    known (Optional[ConceptIndex]): An older index. If it has the same encoder, the vectors of texts
        that both have are copied.
    substitutions (Iterable[Substitution]): Words that texts may have in place of those of names;
        see `index.rewriting`.
    RAISES (ConnormError): CN409 if there are no texts, CN108 if it cannot be written, CN402 if the
        older index is damaged.
    """
    with atomic_folder(path) as folder:
        facts = _facts(encoder, searches, backend, source or Source())
        texts = _ConceptTexts(concepts, synonyms, clean)
        counts, updates = _fill(folder, texts, encoder, searches, backend, known)
        counts["substitutions"] = _write_rewriting(folder, substitutions)
        seal(folder, {**facts, "counts": counts, "updates": updates})


class _ConceptTexts(NamedTuple):
    """O, D and the function that cleans their texts; see `write_index`."""

    concepts: Iterable[Concept]
    synonyms: Iterable[tuple[str, str]]
    clean: Callable[[str], str]


def _fill(
    folder: Path,
    concept_texts: _ConceptTexts,
    encoder: NormalizedEncoder,
    searches: Sequence[str],
    backend: Backend,
    known: ConceptIndex | None,
) -> tuple[dict[str, int], dict[str, str]]:
    """Write all files except the manifest.

    RETURNS (Tuple[Dict[str, int], Dict[str, str]]): Counts for the manifest, and for each search
        what became of what the older index had built for it.
    """
    reused = _reusable(known, encoder, backend)
    hash_inputs = InputHashes(encoder.inputs, reused)
    with (
        StoreWriter(folder / "concepts.sqlite") as store,
        NameFile(folder / "names.txt", hash_inputs) as names,
    ):
        _add_names(concept_texts, store, names)
        if not len(names):
            raise ConnormError(Errors.CN409)
        grouped = group_names(names.ordered(store.number()))
        store.write_texts(_read_texts(names, grouped.texts))
        grouped.members.write(folder)
        KeyTable.from_hashes(grouped.hashes).write(folder)
        texts = _read_texts(names, grouped.texts)
        WordBags.from_texts(texts, grouped.members.row_numbers()).write(folder)
        rows = RowEncoder(encoder, names, dtype=backend.dtype, known=reused)
        written = rows.write(grouped, folder, "texts")
        concept_count, only_in_data = len(store), store.only_in_data
    del grouped
    vectors = open_vectors(folder, "texts")
    members = Members.open(folder, rows=len(vectors), concepts=concept_count)
    updates = {}
    for search in map(Search, searches):
        items = _items(folder, search, vectors, members, backend, concept_count)
        items = scaled(items, metric_of(backend))
        if len(items):
            copied = written[slice(*members.rows_of(search.target))]
            earlier = _earlier(reused, search, copied, len(items), backend)
            updates[search.value] = _build(items, folder / f"{search}.index", backend, earlier)
    counts = {
        "concepts": concept_count,
        "concepts_only_in_data": only_in_data,
        "rows": len(vectors),
        "copied_rows": int(np.count_nonzero(written >= 0)),
        "width": vectors.width,
        "ontology_members": int(np.count_nonzero(members.target & O)),
        "data_members": int(np.count_nonzero(members.target & D)),
    }
    return counts, {search: update for search, update in updates.items() if update}


def _write_rewriting(folder: Path, substitutions: Iterable[Substitution]) -> int:
    listed = list(substitutions)
    if listed:
        RewritingTable.from_substitutions(listed).write(folder)
    return len(listed)


def _reusable(
    known: ConceptIndex | None, encoder: NormalizedEncoder, backend: Backend
) -> ConceptIndex | None:
    """RETURNS (Optional[ConceptIndex]): The older index if its vectors can be copied. It is checked
    completely first: copies of damaged vectors would look intact.
    """
    fits = can_reuse(known, fingerprint=encoder.fingerprint(), dtype=backend.dtype)
    if known is None or not fits:
        return None
    verify(known.folder)
    return known


def _add_names(given: _ConceptTexts, store: StoreWriter, names: NameFile) -> None:
    """Read all concepts, then all annotated texts."""
    with tqdm(given.concepts, desc="Reading", unit=" concepts", delay=2, disable=None) as bar:
        for concept in bar:
            concept = concept.cleaned(given.clean)
            if not concept.canonical_name:
                concept = replace(concept, canonical_name=concept.concept_id)
            require_id_and_name(concept, concept)
            place, is_new = store.add(concept)
            exact = set(concept.exact_names)
            for number, name in enumerate(concept.names):
                is_preferred = is_new and number == 0
                names.add(name, place, O, preferred=is_preferred, inexact=name not in exact)
    empty = 0
    for text, concept_id in given.synonyms:
        text = given.clean(text)
        if text:
            names.add(text, store.place(given.clean(concept_id), text), D)
        empty += not text
    if empty:
        warn(Warnings.CNW402.format(count=empty))


def _read_texts(names: NameFile, texts: np.ndarray) -> Iterator[str]:
    for start in range(0, len(texts), _READ):
        yield from names.read(texts[start : start + _READ])


def fit_encoder(
    encoder: NormalizedEncoder,
    concepts: Iterable[Concept],
    synonyms: Iterable[tuple[str, str]],
    clean: Callable[[str], str],
) -> tuple[NormalizedEncoder, Iterable[Concept], Iterable[tuple[str, str]]]:
    """Load an encoder for `write_index`, or fit it to the texts, if that is its way.

    encoder (NormalizedEncoder): Has the settings.
    concepts, synonyms, clean: As in `write_index`.
    RETURNS (Tuple[NormalizedEncoder, Iterable[Concept], Iterable[Tuple[str, str]]]): A new encoder,
        and the concepts and synonyms, which were read if it was fitted.
    RAISES (ConnormError): CN409 if there are no texts to fit it to, and those of the encoder.
    """
    if not encoder.fits:
        return encoder.fitted(), concepts, synonyms
    concepts, synonyms = list(concepts), list(synonyms)
    names = [clean(name) for concept in concepts for name in concept.names]
    texts = [*names, *(clean(text) for text, _ in synonyms)]
    if not any(texts):
        raise ConnormError(Errors.CN409)
    return encoder.fitted(texts), concepts, synonyms


def _items(
    folder: Path,
    search: Search,
    vectors: Vectors,
    members: Members,
    backend: Backend,
    concept_count: int,
) -> Vectors:
    """RETURNS (Vectors): What a search compares with; means of concepts are written first."""
    if search.representation == "T":
        return vectors.view(*members.rows_of(search.target))
    means = Centroids(vectors, members, search.target, concept_count)
    means.write(folder, search, dtype=backend.dtype)
    return open_vectors(folder, search)


def _build(items: Vectors, path: Path, backend: Backend, earlier: Earlier | None) -> str | None:
    """RETURNS (Optional[str]): What became of the earlier build, if the backend can keep any."""
    if earlier is not None and isinstance(backend, UpdatingBackend):
        return backend.update(items, path, earlier)
    backend.build(items, path)
    return None


def _earlier(
    older: ConceptIndex | None, search: Search, copied: np.ndarray, count: int, backend: Backend
) -> Earlier | None:
    """RETURNS (Optional[Earlier]): What the older index built for a search, if it is of the same
    kind: what is built for inner products depends on the longest vector of all. The mean of a
    concept counts as new, as other names change it.
    """
    if older is None or search not in older.manifest["searches"]:
        return None
    is_same_kind = older.manifest["backend"].get("name") == type(backend).__name__
    if not is_same_kind or not older.metric == metric_of(backend) == COSINE:
        return None
    path, size = older.folder / f"{search}.index", len(older.search_vectors(search))
    if search.representation == "C":
        return Earlier(path, size, np.full(count, -1))
    items = copied - older.first_row(search)
    items[(items < 0) | (items >= size)] = -1
    return Earlier(path, size, items)


def _facts(
    encoder: NormalizedEncoder, searches: Sequence[str], backend: Backend, source: Source
) -> dict[str, Any]:
    return {
        "built_at": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "versions": {
            "python": platform.python_version(),
            "spacy_connorm": __version__,
            **{package: _version(package) for package in ("spacy", "thinc", "numpy", "annoy")},
        },
        "encoder": {"fingerprint": encoder.fingerprint()},
        "backend": {"name": type(backend).__name__, **vars(backend), "dtype": backend.dtype},
        "searches": list(searches),
        "ontology": {
            "path": source.path,
            "sha256": source.sha256,
            "licence": source.licence,
        },
    }


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
