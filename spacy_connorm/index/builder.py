"""Build an index: texts become rows, rows become vectors, vectors become one sealed folder."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ..concepts import Concept, Source
from ..concepts.concept import require_id_and_name
from ..encoders.protocol import (
    Encoder,
    encode_inputs,
    encoder_inputs,
    fingerprint,
    fits,
    fitted,
    loaded_shim,
)
from ..encoders.raw import Raw, stack
from ..errors import Errors, Warnings
from ..files.atomic import atomic_folder
from ..files.folders import seal, verify
from ..files.progress import progress_bar
from ..text.bag_hashes import hash_bags
from ..text.cleaning import clean
from ..text.substitutions import Substitution, find_substitutions
from ..text.words import Words, words_of
from .backends.protocol import Backend, Earlier
from .concept_index import ConceptIndex
from .hash_sets import OTHER_NAMES, WORD_PAIRS, other_names, word_pairs
from .implied_names import implied_names
from .manifest import make_facts
from .name_words import NameWords
from .names import GroupedNames, NameFile, group_names
from .rows import KeyTable, Members, hash_keys
from .search import COSINE, D, O, Search, metric_of
from .store_writer import StoreWriter
from .vectors.kinds import Vectors, from_raw, join, mean_vectors, open_vectors, scaled
from .vectors.writer import VectorWriter
from .word_bags import RewritingTable, WordBags
from .wordings import other_wordings

# The number of vectors, and of means, in memory before they are written.
_WINDOW = 1 << 15
_MEANS = 1 << 14
# The number of texts encoded at once: up to 32 workers share a window.
_ENCODED = 1024
_NOTHING = -1


def _write_vectors(
    folder: Path,
    grouped: GroupedNames,
    names: NameFile,
    encoder: Encoder,
    *,
    backend: Backend,
    known: ConceptIndex | None,
) -> np.ndarray:
    """Write the vectors of all rows, either computed or copied from an older index.

    RETURNS (Ints1d): int64 (rows,): the row of the older index that each was copied from; -1 if it
        was computed.
    """
    texts = grouped.encoded
    weights = loaded_shim(encoder).weights if getattr(backend, "compact", False) else None
    writer = VectorWriter(folder, "texts", len(texts), weights=weights)
    copied = np.full(len(texts), _NOTHING, dtype="int64")
    if known is not None:
        copied = known.keys.rows_of(grouped.hashes)
    with progress_bar(unit="texts", description="Encoding", total=len(texts)) as bar:
        for start in range(0, len(texts), _WINDOW):
            window = slice(start, start + _WINDOW)
            is_new = copied[window] == _NOTHING
            parts = []
            if known is not None and not is_new.all():
                parts.append(known.vectors.take(copied[window][~is_new]))
                bar.update(len(parts[0]))
            if is_new.any():
                raw = _encode_all(list(names.read(texts[window][is_new])), encoder, bar.update)
                parts.append(from_raw(raw, dtype=backend.dtype))
            # Copied vectors come first in `parts`.
            order = np.argsort(np.argsort(is_new, kind="stable"))
            writer.append(join(parts).take(order) if len(parts) > 1 else parts[0])
    writer.close()
    return copied


def _encode_all(texts: list[str], encoder: Encoder, report: Callable[[int], Any]) -> Raw:
    # Texts of similar length share a chunk, so that encoders pad little.
    inputs = encoder_inputs(encoder, texts)
    order = np.argsort([len(tokens) for tokens in inputs], kind="stable")
    parts = []
    for start in range(0, len(order), _ENCODED):
        chunk = order[start : start + _ENCODED]
        parts.append(encode_inputs(encoder, [inputs[place] for place in chunk]))
        report(len(chunk))
    return stack(parts)[np.argsort(order)]


def concept_means(
    vectors: Vectors, members: Members, target: int
) -> tuple[np.ndarray, Iterator[Raw]]:
    """Compute the mean raw vector of each concept's distinct texts.

    vectors (Vectors): One vector per row.
    members (Members): The concepts of the rows.
    target (int): The texts to average: O, D or both.
    RETURNS (Tuple[Ints1d, Iterator[Raw]]): The numbers of the concepts with texts, and their means
        in the same order, in blocks of (b, width); at least one block.
    """
    chosen = np.flatnonzero(members.target & target)
    concepts = members.concept[chosen]
    rows = members.row_numbers[chosen][np.argsort(concepts, kind="stable")]
    sizes = np.bincount(concepts)
    numbers = np.flatnonzero(sizes)
    ends = np.concatenate([[0], np.cumsum(sizes[numbers])])

    def blocks() -> Iterator[Raw]:
        for start in range(0, max(len(numbers), 1), _MEANS):
            bounds = ends[start : start + _MEANS + 1]
            averaged = vectors.take(rows[bounds[0] : bounds[-1]])
            yield mean_vectors(averaged, bounds - bounds[0])

    return numbers, blocks()


# Learning substitutions takes about a kilobyte per name, and ten seconds for 100,000 names.
_MOST_LEARNED = 200_000


def write_index(
    path: Path,
    concepts: Iterable[Concept],
    synonyms: Iterable[tuple[str, str]],
    encoder: Encoder,
    *,
    searches: Sequence[str],
    backend: Backend,
    language: str,
    source: Source | None = None,
    known: ConceptIndex | None = None,
    substitutions: Iterable[Substitution] | None = (),
    background: Iterable[Concept] = (),
) -> None:
    """Build an index, and replace `path` once it is complete. Concepts and synonyms are read once
    and not kept: memory grows by a few hundred bytes per name.

    path (Path): The folder to create or replace.
    concepts (Iterable[Concept]): The ontology, O. Concepts with the same id are merged.
    synonyms (Iterable[Tuple[str, str]]): D: texts and concept ids, once per occurrence. An id that
        is not in O becomes a concept, named by its most frequent text.
    encoder (Model[List[str], Floats2d]): A loaded encoder, which computes the vectors.
    searches (Sequence[str]): The searches that the index must support.
    backend (Backend): Runs the searches.
    language (str): The language of the texts, as in `nlp.lang`: it tells which words are the same.
    source (Optional[Source]): The source of the ontology, for the manifest.
    known (Optional[ConceptIndex]): An older index. If it has the same encoder, the vectors of texts
        in both are copied.
    substitutions (Optional[Iterable[Substitution]]): Words in texts that can replace words in
        names, see `index.word_bags`; if None, they are learned from O's own names, 200,000 at most,
        and so are `implied_names`.
    background (Iterable[Concept]): Other things, whose names are not found, but may have a name of
        the ontology inside: "tumor necrosis factor".
    RAISES (ConnormError): CN409 if there are no texts, CN108 if it cannot be written, CN402 if the
        older index is damaged, CN424 if texts and ids of the synonyms are swapped.
    """
    with atomic_folder(path) as folder:
        reused = _reusable(known, encoder, backend)
        facts = make_facts(encoder, searches, backend, source or Source(), language)
        learned_from: list[Concept] = []
        if substitutions is None:
            concepts = _remember_names(concepts, learned_from)

        def hash_inputs(texts: list[str]) -> np.ndarray:
            return hash_keys(encoder_inputs(encoder, texts))

        with (
            StoreWriter(folder / "concepts.sqlite") as store,
            NameFile(folder / "names.txt", hash_inputs, reused) as names,
        ):
            _add_concepts(concepts, store, names)
            _add_synonyms(synonyms, store, names)
            if not len(store):
                raise Errors.CN409()
            grouped = group_names(names.ordered(store.number()))
            store.close()
            names.write(grouped.texts, folder)
            grouped.members.write(folder)
            KeyTable.from_hashes(grouped.hashes).write(folder)
            words = words_of(language)
            name_words = NameWords.from_texts(names.read(grouped.texts), words)
            name_words.write(folder)
            rows = grouped.members.row_numbers
            _word_bags(name_words, rows, learned_from, words).write(folder)
            word_pairs(names.read(grouped.texts), words).write(folder, WORD_PAIRS)
            names_of_others = (name for concept in background for name in concept.names)
            others = other_names(map(clean, names_of_others), words)
            others.write(folder, OTHER_NAMES)
            copied = _write_vectors(folder, grouped, names, encoder, backend=backend, known=reused)
            counts = {"concepts": len(store), "concepts_only_in_data": store.only_in_data}
        if substitutions is None:
            names_of = [concept.names for concept in learned_from]
            substitutions = find_substitutions([names_of], words)
        rewritings = list(substitutions)
        if rewritings:
            RewritingTable.from_substitutions(rewritings).write(folder)
        facts["endings"] = [row.endings for row in rewritings if row.endings]
        vectors = open_vectors(folder, "texts")
        members = Members.open(folder, rows=len(vectors), concepts=counts["concepts"])
        counts |= {
            "rows": len(vectors),
            "copied_rows": int(np.count_nonzero(copied >= 0)),
            "width": vectors.width,
            "ontology_members": int(np.count_nonzero(members.target & O)),
            "data_members": int(np.count_nonzero(members.target & D)),
            "substitutions": len(rewritings),
            "other_names": len(others),
        }
        searched: dict[str, str] = {}
        for search in map(Search, searches):
            items = _items(folder, search, vectors, members, backend)
            if len(items):
                copied_rows = copied[slice(*members.rows_of(search.target))]
                earlier = _earlier(reused, search, copied_rows, len(items), backend)
                path_of_search = folder / f"{search}.index"
                searched[search.value] = backend.build(items, path_of_search, earlier)
        seal(folder, {**facts, "counts": counts, "searched": searched})


def _word_bags(
    names: NameWords, rows: np.ndarray, concepts: Iterable[Concept], words: Words
) -> WordBags:
    """Collect the bags of words of names, and those that stand for them: of implied names, and
    of names in other words.

    names (NameWords): The words of n names.
    rows (Ints1d): int64 (n,): the row of each.
    concepts (Iterable[Concept]): The concepts whose names imply others.
    words (Words): Reads the words of their language.
    RETURNS (WordBags): All of them.
    """
    bags = WordBags.from_words(names, rows)
    implied = implied_names(concepts, words)
    which, implied_rows = bags.rows_of(hash_bags(implied.values()))
    wordings = other_wordings(names, bags.known_bags, words)
    return bags.with_others(
        np.concatenate([hash_bags(implied)[which], wordings.hashes]),
        np.concatenate([implied_rows, rows[wordings.texts]]),
        words=wordings.words,
        longest=max(wordings.longest, *map(len, implied), 0),
    )


def _reusable(
    known: ConceptIndex | None, encoder: Encoder, backend: Backend
) -> ConceptIndex | None:
    """Choose the older index if its vectors can be copied, that is, if encoder and dtype are the
    same. It is verified completely first, since copies of damaged vectors would look intact.

    RETURNS (Optional[ConceptIndex]): The older index, or None.
    """
    if known is None or known.fingerprint != fingerprint(encoder):
        return None
    if known.manifest["backend"].get("dtype") != backend.dtype:
        return None
    verify(known.folder)
    return known


def _remember_names(concepts: Iterable[Concept], remembered: list[Concept]) -> Iterator[Concept]:
    """Keep the first names of an ontology while it is read.

    remembered (List[Concept]): Gets each concept, without what names do not follow from.
    YIELDS (Concept): The same concepts.
    """
    count = 0
    for concept in concepts:
        if count < _MOST_LEARNED:
            remembered.append(replace(concept, definition="", alt_ids=(), xrefs=()))
            count += len(concept.names)
        yield concept


def _add_concepts(concepts: Iterable[Concept], store: StoreWriter, names: NameFile) -> None:
    with progress_bar(concepts, unit="concepts", description="Reading") as bar:
        for concept in bar:
            concept = concept.cleaned(clean)
            if not concept.canonical_name:
                concept = replace(concept, canonical_name=concept.concept_id)
            require_id_and_name(concept, concept)
            place, is_new = store.add(concept)
            exact = set(concept.exact_names)
            for number, name in enumerate(concept.names):
                is_preferred = is_new and number == 0
                names.add(name, place, O, preferred=is_preferred, inexact=name not in exact)


def _add_synonyms(synonyms: Iterable[tuple[str, str]], store: StoreWriter, names: NameFile) -> None:
    empty = 0
    for text, concept_id in synonyms:
        text = clean(text)
        if text:
            names.add(text, store.place(clean(concept_id), text), D)
        empty += not text
    if empty:
        Warnings.CNW402.warn(count=empty)


def fit_encoder(
    encoder: Encoder, concepts: Iterable[Concept], synonyms: Iterable[tuple[str, str]]
) -> tuple[Encoder, Iterable[Concept], Iterable[tuple[str, str]]]:
    """Load an encoder for `write_index`, or fit it to the texts if it needs that.

    encoder (Model[List[str], Floats2d]): An encoder with its settings.
    concepts, synonyms: As in `write_index`.
    RETURNS (Tuple[Model, Iterable[Concept], Iterable[Tuple[str, str]]]): A new encoder, and the
        concepts and synonyms, which are lists if the encoder was fitted.
    RAISES (ConnormError): CN409 if there are no texts to fit it to, and the errors of the encoder.
    """
    if not fits(encoder):
        return fitted(encoder), concepts, synonyms
    concepts, synonyms = list(concepts), list(synonyms)
    names = [clean(name) for concept in concepts for name in concept.names]
    texts = [*names, *(clean(text) for text, _ in synonyms)]
    if not any(texts):
        raise Errors.CN409()
    return fitted(encoder, texts), concepts, synonyms


def _items(
    folder: Path, search: Search, vectors: Vectors, members: Members, backend: Backend
) -> Vectors:
    """Get the vectors that a search compares with. Means of concepts are written first."""
    if search.representation == "T":
        return scaled(vectors.take(slice(*members.rows_of(search.target))), metric_of(backend))
    numbers, blocks = concept_means(vectors, members, search.target)
    np.save(folder / f"{search}.concepts.npy", numbers)
    writer = VectorWriter(folder, search, len(numbers))
    for block in blocks:
        writer.append(from_raw(block, dtype=backend.dtype))
    writer.close()
    return scaled(open_vectors(folder, search), metric_of(backend))


def _earlier(
    older: ConceptIndex | None, search: Search, copied: np.ndarray, count: int, backend: Backend
) -> Earlier | None:
    """Get the older index's build for a search, if it is of the same kind. Builds for inner
    products are not reused, since they depend on the longest vector of all. The mean of a concept
    counts as new, since other names change it.

    RETURNS (Optional[Earlier]): The build, or None.
    """
    if older is None or search not in older.manifest["searches"]:
        return None
    is_same_kind = older.manifest["backend"].get("name") == type(backend).__name__
    if not is_same_kind or not older.metric == metric_of(backend) == COSINE:
        return None
    path, size = older.folder / f"{search}.index", len(older.stored_vectors(search))
    if search.representation == "C":
        return Earlier(path, size, np.full(count, -1))
    items = copied - older.row_ranges[search.target][0]
    items[(items < 0) | (items >= size)] = -1
    return Earlier(path, size, items)
