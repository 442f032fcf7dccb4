"""Building the index: texts to rows, rows to vectors, vectors to one sealed folder."""

import datetime
import platform
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from tqdm import tqdm

from ..about import __version__
from ..concepts import Concept, Source
from ..errors import ConnormError, Errors, Warnings, warn
from .concept_index import Backend
from .folder import seal, written_aside
from .keys import KeyTable
from .members import TARGETS, D, Denotation, Members, O, gather
from .store import write_store
from .vectors import Raw, Vectors, from_raw, stack

_CHUNK = 4096


class Encoder(NamedTuple):
    """What the index needs of an encoder.

    inputs (Callable): Texts to encoder inputs: equal inputs share a row.
    encode (Callable): Texts to raw vectors, (n, width).
    fingerprint (str): Of weights and settings.
    """

    inputs: Callable[[list[str]], list[bytes]]
    encode: Callable[[list[str]], Raw]
    fingerprint: str


def build_index(
    path: Path,
    concepts: Iterable[Concept],
    synonyms: Iterable[tuple[str, str]],
    encoder: Encoder,
    *,
    searches: Sequence[str],
    backend: Backend,
    clean: Callable[[str], str],
    source: Source | None = None,
) -> None:
    """Build an index and put it in the place of `path` once it is whole.

    path (Path): The folder to make or replace.
    concepts (Iterable[Concept]): O.
    synonyms (Iterable[Tuple[str, str]]): D: texts and concept ids, repeated as often as they
        occur. An id that O lacks becomes a concept named by its most frequent text.
    encoder (Encoder): Makes the vectors.
    searches (Sequence[str]): The searches that the index must serve.
    backend (Backend): How they are served.
    clean (Callable): Applied to every text first.
    source (Optional[Source]): Of the ontology, for the manifest.
    RAISES (ConnormError): CN409 if there is no text at all, CN405 if it cannot be written.
    """
    known, annotated = _number(concepts, synonyms, clean)
    denotations = [*_ontology_texts(known), *annotated]
    if not denotations:
        raise ConnormError(Errors.CN409)
    inputs = encoder.inputs([denotation.text for denotation in denotations])
    table = gather(zip(inputs, denotations, strict=True))
    vectors = from_raw(_encode(table.inputs, encoder.encode), dtype=backend.dtype)
    with written_aside(path) as folder:
        ordered = [concept for concept, _ in known]
        write_store(folder / "concepts.sqlite", ordered, [flag for _, flag in known], table.texts)
        table.members.write(folder)
        vectors.write(folder, "texts")
        KeyTable.from_keys(table.keys).write(folder)
        for search in searches:
            _write_search(folder, search, vectors, table.members, backend, len(known))
        facts = _facts(encoder, searches, backend, source or Source())
        seal(folder, {**facts, "counts": _counts(known, table.members, vectors)})


def _number(
    concepts: Iterable[Concept],
    synonyms: Iterable[tuple[str, str]],
    clean: Callable[[str], str],
) -> tuple[list[tuple[Concept, bool]], list[Denotation]]:
    """Order all concepts by id and express D in their numbers."""
    cleaned = (_cleaned(concept, clean) for concept in concepts)
    by_id = {concept.concept_id: (concept, True) for concept in cleaned}
    # Of several concepts with one alternate id it is the first one's, as in the store.
    primary = {alt: each for each in sorted(by_id, reverse=True) for alt in by_id[each][0].alt_ids}
    pairs: list[tuple[str, str]] = []
    empty = 0
    for text, concept_id in synonyms:
        text = clean(text)
        if text:
            known = concept_id in by_id
            pairs.append((text, concept_id if known else primary.get(concept_id, concept_id)))
        empty += not text
    if empty:
        warn(Warnings.CNW402.format(count=empty))
    by_id.update(_only_in_data(pairs, by_id))
    numbers = {concept_id: number for number, concept_id in enumerate(sorted(by_id))}
    annotated = [Denotation(text, numbers[concept_id], D, False) for text, concept_id in pairs]
    return [by_id[concept_id] for concept_id in sorted(by_id)], annotated


def _cleaned(concept: Concept, clean: Callable[[str], str]) -> Concept:
    """Clean what SQLite could not store; a concept whose name vanishes is named by its id."""
    concept_id = clean(concept.concept_id)
    aliases = (clean(alias) for alias in concept.aliases)
    return replace(
        concept,
        concept_id=concept_id,
        canonical_name=clean(concept.canonical_name) or concept_id,
        aliases=tuple(alias for alias in aliases if alias),
        definition=clean(concept.definition),
        types=tuple(map(clean, concept.types)),
        parents=tuple(map(clean, concept.parents)),
        alt_ids=tuple(map(clean, concept.alt_ids)),
    )


def _only_in_data(
    pairs: Iterable[tuple[str, str]], by_id: dict[str, tuple[Concept, bool]]
) -> dict[str, tuple[Concept, bool]]:
    texts: dict[str, Counter[str]] = {}
    for text, concept_id in pairs:
        if concept_id not in by_id:
            texts.setdefault(concept_id, Counter())[text] += 1
    if texts:
        warn(Warnings.CNW401.format(count=len(texts), first=next(iter(texts))))
    return {
        concept_id: (
            Concept(concept_id, min(counts, key=lambda text: (-counts[text], text))),
            False,
        )
        for concept_id, counts in texts.items()
    }


def _ontology_texts(known: Sequence[tuple[Concept, bool]]) -> Iterator[Denotation]:
    for number, (concept, in_ontology) in enumerate(known):
        for place, name in enumerate(concept.names if in_ontology else ()):
            yield Denotation(name, number, O, place == 0)


def _encode(texts: list[str], encode: Callable[[list[str]], Raw]) -> Raw:
    # Neighbours in length share a chunk, so that an encoder pads little.
    order = np.argsort([len(text) for text in texts], kind="stable")
    chunks = [order[start : start + _CHUNK] for start in range(0, len(order), _CHUNK)]
    with tqdm(total=len(texts), desc="Encoding", unit="text", delay=2, disable=None) as bar:
        encoded = []
        for chunk in chunks:
            encoded.append(encode([texts[place] for place in chunk]))
            bar.update(len(chunk))
    return stack(encoded)[np.argsort(order)]


def _write_search(
    folder: Path,
    search: str,
    vectors: Vectors,
    members: Members,
    backend: Backend,
    concept_count: int,
) -> None:
    target, representation = search.split("-")
    if representation == "T":
        items = vectors.view(*members.rows_of(TARGETS[target]))
    else:
        concepts, means = concept_means(vectors, members, TARGETS[target], concept_count)
        items = from_raw(means, dtype=backend.dtype)
        np.save(folder / f"{search}.concepts.npy", concepts)
        items.write(folder, search)
    if len(items):
        backend.build(items, folder / f"{search}.index")


def concept_means(
    vectors: Vectors, members: Members, target: int, concept_count: int
) -> tuple[np.ndarray, Raw]:
    """Average the raw vectors of each concept's distinct texts (design section 5, C).

    vectors (Vectors): One a row.
    members (Members): What the rows denote.
    target (int): O, D or both: whose texts.
    concept_count (int): How many concepts there are.
    RETURNS (Tuple[Ints1d, Raw]): The numbers of the concepts that have texts, and a mean each.
    """
    chosen = np.flatnonzero(members.target & target)
    pairs = (members.concept[chosen], members.row_numbers()[chosen])
    incidence = sparse.csr_matrix(
        (np.ones(len(chosen), dtype="float32"), pairs), shape=(concept_count, len(vectors))
    )
    sizes = np.diff(incidence.indptr)
    concepts = np.flatnonzero(sizes)
    shares = sparse.diags(1 / sizes[concepts], dtype="float32")
    return concepts, vectors.sums(sparse.csr_matrix(shares @ incidence[concepts]))


def _facts(
    encoder: Encoder, searches: Sequence[str], backend: Backend, source: Source
) -> dict[str, Any]:
    return {
        "built_at": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "versions": {
            "python": platform.python_version(),
            "spacy_connorm": __version__,
            **{package: _version(package) for package in ("spacy", "thinc", "numpy", "annoy")},
        },
        "encoder": {"fingerprint": encoder.fingerprint},
        "backend": {"name": type(backend).__name__, **vars(backend)},
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


def _counts(
    known: Sequence[tuple[Concept, bool]], members: Members, vectors: Vectors
) -> dict[str, int]:
    return {
        "concepts": len(known),
        "concepts_only_in_data": sum(not in_ontology for _, in_ontology in known),
        "rows": len(vectors),
        "width": vectors.width,
        "ontology_members": int(np.count_nonzero(members.target & O)),
        "data_members": int(np.count_nonzero(members.target & D)),
    }
