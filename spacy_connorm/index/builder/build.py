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

from ...about import __version__
from ...concepts import Concept, Source
from ...concepts.concept import require_id_and_name
from ...encoders.normalized import Encoding, NormalizedEncoder, encode_here
from ...errors import ConnormError, Errors, Warnings, warn
from ...files.atomic import atomic_folder
from ...files.folders import seal, verify
from ...text.substitutions import Substitution
from ..backends.protocol import Backend, Earlier, UpdatingBackend
from ..concept_index import ConceptIndex
from ..keys import KeyTable
from ..members import D, Members, O
from ..metrics import COSINE, metric_of
from ..rewriting import RewritingTable
from ..search import Search
from ..vectors.base import Vectors, open_vectors
from ..vectors.scaled import scaled
from ..word_bags import WordBags
from .names import InputHashes, NameFile, group_names
from .rows import Centroids, RowEncoder, can_reuse
from .store_writer import StoreWriter

_CHUNK = 4096


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
    encoding: Encoding = encode_here,
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
    encoding (Callable): Lets workers compute the vectors.
    RAISES (ConnormError): CN409 if there are no texts, CN108 if it cannot be written, CN402 if the
        older index is damaged.
    """
    with atomic_folder(path) as folder:
        facts = _facts(encoder, searches, backend, source or Source())
        texts = _ConceptTexts(concepts, synonyms, clean)
        counts, updates = _fill(folder, texts, encoder, searches, backend, known, encoding)
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
    encoding: Encoding,
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
        with encoding(encoder) as encode:
            rows = RowEncoder(encode, names, dtype=backend.dtype, known=reused)
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
    for start in range(0, len(texts), _CHUNK):
        yield from names.read(texts[start : start + _CHUNK])


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
