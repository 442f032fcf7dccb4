"""Check that the files of an index agree with each other and with the encoder. Opening an index
compares checksums, which do not show errors made before the files were written.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from ..encoders.protocol import Encoder, Raw, encode, encode_inputs, encoder_inputs, stack
from ..files.arrays import ascends
from ..files.folders import damaged
from .builder import concept_means
from .concept_index import ConceptIndex, D, O, Search, hash_keys
from .overlay import SynonymOverlay
from .vectors import HybridVectors, SparseVectors, Vectors, from_raw, row_blocks
from .word_bags import HASHES, WordBags

# The number of texts read and tokenized at once.
_CHUNK = 4096
# The number of texts to encode again.
_SAMPLE = 256
# Means of vectors that cancel each other depend on the order of summation.
_LEAST_MEAN = 1e-2
# How far the length of a row may differ from one.
_ROUNDED = 2e-5
# The maximum squared distance between two vectors of the same text. Dense vectors may be rounded to
# eight bits, or encoded by another processor.
_SAME_DENSE, _SAME_SPARSE = 2e-3, 1e-8
_Report = Callable[[int], Any]


def verify_index(index: ConceptIndex, *, report: _Report) -> None:
    """Check that all files of an index agree.

    index (ConceptIndex): The index.
    report (Callable): Called with the number of rows read since its last call.
    RAISES (ConnormError): CN402 for the first file that is damaged.
    """
    _verify_members(index)
    _verify_keys(index)
    verify_vectors(index.vectors, index.folder, "texts", report=report)
    index.store.verify(members=len(index.members.concept), counts=_counts(index))
    _verify_names(index)
    _verify_word_bags(index)
    if index.rewriting is not None:
        path = index.folder / "rewriting.words.npy"
        require_sound(index.rewriting.is_sound(), path, "its table is not sorted")
    for name in index.manifest["searches"]:
        search = Search(name)
        if search.representation == "C":
            _verify_means(index, search, report)
        index.searcher(search).verify(index.folder / f"{search}.index")


def verify_texts(index: ConceptIndex, encoder: Encoder, *, report: _Report) -> None:
    """Check that the encoder sees each text as the input of its row, and gives it the row's vector.

    index (ConceptIndex): An index whose files agree.
    encoder (Model[List[str], Floats2d]): The encoder that it was built with. It
        tokenizes all texts, and encodes some of them.
    report (Callable): Called with the number of texts read since its last call.
    RAISES (ConnormError): CN402.
    """
    store, path = index.store, index.folder / "keys.hashes.npy"
    for start in range(0, len(index.members.concept), _CHUNK):
        members = range(start, min(start + _CHUNK, len(index.members.concept)))
        texts = store.texts(members)
        inputs = encoder_inputs(encoder, [texts[member] for member in members])
        found = index.keys.rows_of(hash_keys(inputs))
        is_found = np.array_equal(found, index.row_numbers[members.start : members.stop])
        require_sound(is_found, path, "a text is not found in its own row")
        report(len(members))
    rows = np.unique(np.linspace(0, len(index.vectors) - 1, _SAMPLE).astype("int64"))
    texts = store.texts(index.members.start[rows].tolist())
    raw = encode(encoder, [texts[member] for member in index.members.start[rows].tolist()])
    are_equal = are_same(from_raw(raw), index.vectors.take(rows))
    require_sound(are_equal, index.folder / "texts.norms.npy", "a vector is not that of its text")


def verify_overlay(
    overlay: SynonymOverlay, encoder: Encoder, path: Path, *, report: _Report
) -> None:
    """Check that the encoder gives added synonyms the saved inputs and vectors.

    overlay (SynonymOverlay): The synonyms.
    encoder (Model[List[str], Floats2d]): The encoder that they were encoded with.
    path (Path): Their file.
    report (Callable): Called with the number of synonyms read since its last call.
    RAISES (ConnormError): CN402.
    """
    synonyms = overlay.synonyms
    for start in range(0, len(synonyms), _SAMPLE):
        block = synonyms[start : start + _SAMPLE]
        keys = [each.key for each in block]
        are_equal = encoder_inputs(encoder, [each.text for each in block]) == keys
        require_sound(are_equal, path, "the encoder sees a text differently")
        saved = from_raw(stack(overlay.raw[key] for key in keys))
        are_equal = are_same(from_raw(encode_inputs(encoder, keys)), saved)
        require_sound(are_equal, path, "the encoder gives a text another vector")
        report(len(block))


def _counts(index: ConceptIndex) -> dict[str, int]:
    counts = index.manifest.get("counts")
    return counts if isinstance(counts, dict) else {}


def _verify_members(index: ConceptIndex) -> None:
    members, folder = index.members, index.folder
    path = folder / "members.start.npy"
    require_sound(ascends(members.start, strictly=True), path, "a row has no members")
    concept, target, count = members.concept, members.target, members.count
    order = np.asarray([0, 0, 2, 1])[np.bitwise_or.reduceat(target, members.start[:-1])]
    path = folder / "members.target.npy"
    require_sound(ascends(order), path, "rows are not sorted by target")
    are_right = np.array_equal(count > 0, target & D > 0)
    require_sound(are_right, folder / "members.count.npy", "counts and targets disagree")
    pairs = np.unique(index.row_numbers * (len(index.store) + 1) + concept)
    path = folder / "members.concept.npy"
    require_sound(len(pairs) == len(concept), path, "a row has a concept twice")
    for key, each in (("ontology_members", O), ("data_members", D)):
        expected = _counts(index).get(key, np.count_nonzero(target & each))
        is_right = np.count_nonzero(target & each) == expected
        require_sound(
            is_right, folder / "members.target.npy", f"the manifest says {expected} {key}"
        )


def _verify_names(index: ConceptIndex) -> None:
    """Check that the preferred names are those in the store, one for each concept of O."""
    path = index.folder / "members.preferred.npy"
    preferred = np.flatnonzero(index.members.preferred)
    concepts = index.members.concept[preferred]
    expected = len(index.store) - _counts(index).get("concepts_only_in_data", 0)
    is_right = len(np.unique(concepts)) == len(concepts) == expected
    require_sound(is_right, path, f"it does not have one name for each of {expected} concepts")
    for start in range(0, len(preferred), _CHUNK):
        members = preferred[start : start + _CHUNK].tolist()
        numbers = concepts[start : start + _CHUNK].tolist()
        texts, labels = index.store.texts(members), index.store.labels(numbers)
        are_names = all(
            texts[member] == labels[number][1]
            for member, number in zip(members, numbers, strict=True)
        )
        require_sound(are_names, path, "a preferred name is not that of its concept")
    members = index.members
    is_exact = members.preferred | (members.target & D > 0)
    path = index.folder / "members.inexact.npy"
    require_sound(not (members.inexact & is_exact).any(), path, "an exact name is not exact")


def _verify_word_bags(index: ConceptIndex) -> None:
    expected = WordBags.from_texts(index.store.all_texts(), index.row_numbers)
    are_right = index.word_bags.are_same(expected)
    path = index.folder / HASHES
    require_sound(are_right, path, "it does not have the words of the texts")


def _verify_keys(index: ConceptIndex) -> None:
    rows, folder = len(index.members.start) - 1, index.folder
    require_sound(
        index.keys.has_each_row_once(rows), folder / "keys.rows.npy", "not every row has one key"
    )


def _verify_means(index: ConceptIndex, search: Search, report: _Report) -> None:
    folder, concepts = index.folder, index.concepts_of(search)
    vectors = index.stored_vectors(search)
    numbers, means = concept_means(index.vectors, index.members, search.target, len(index.store))
    path = folder / f"{search}.concepts.npy"
    is_right = np.array_equal(concepts, numbers)
    require_sound(is_right, path, "it does not have the concepts with texts")
    is_right = len(vectors) == len(concepts)
    require_sound(is_right, path, f"there are {len(vectors)} vectors for {len(concepts)} concepts")
    verify_vectors(vectors, folder, search, report=report)
    path, start = folder / f"{search}.norms.npy", 0
    for raw in means:
        expected = from_raw(raw)
        certain = np.flatnonzero(expected.norms > _LEAST_MEAN)
        are_equal = are_same(expected.take(certain), vectors.take(start + certain))
        start += len(expected)
        require_sound(are_equal, path, "a vector is not the mean of its concept's texts")


def require_sound(is_sound: bool | np.bool_, path: Path, reason: str) -> None:
    """Refuse a damaged file.

    is_sound (bool): Whether it is undamaged.
    path (Path): The file.
    reason (str): What is wrong if it is damaged.
    RAISES (ConnormError): CN402.
    """
    if not is_sound:
        raise damaged(path, reason)


def verify_vectors(
    vectors: Vectors, folder: Path, stem: str, *, report: Callable[[int], Any]
) -> None:
    """Read all vectors and check that they are finite and have length one, or zero if their norm is
    0.

    vectors (Vectors): The vectors.
    folder (Path): The folder of their files.
    stem (str): The beginning of the file names.
    report (Callable): Called with the number of rows read since its last call.
    RAISES (ConnormError): CN402 for the first file that is damaged.
    """
    if isinstance(vectors, HybridVectors):
        verify_vectors(vectors.dense, folder, f"{stem}.dense", report=report)
        verify_vectors(vectors.lexical, folder, f"{stem}.lexical", report=lambda _: None)
        return
    norms = vectors.norms
    require_sound((norms >= 0).all(), folder / f"{stem}.norms.npy", "a norm is negative")
    path = folder / f"{stem}.{'data' if isinstance(vectors, SparseVectors) else 'rows'}.npy"
    for rows in row_blocks(np.arange(len(vectors))):
        lengths = np.sqrt(_squares(vectors.queries(rows)))
        # The condition is written so that NaN is refused.
        is_unit = (np.abs(lengths - (norms[rows] > 0)) < _ROUNDED).all()
        require_sound(is_unit, path, "a vector does not have the length given by its norm")
        report(len(rows))


def are_same(one: Vectors, other: Vectors) -> bool:
    """Compare vectors row by row.

    one (Vectors): n vectors.
    other (Vectors): As many vectors of the same kind, possibly with another precision.
    RETURNS (bool): Whether they could be vectors of the same texts.
    """
    if len(one) != len(other) or one.widths != other.widths:
        return False
    if isinstance(one, HybridVectors) and isinstance(other, HybridVectors):
        return are_same(one.dense, other.dense) and are_same(one.lexical, other.lexical)
    rows = np.arange(len(one))
    distances = _squares(one.queries(rows) - other.queries(rows))
    are_as_long = np.allclose(one.norms, other.norms, rtol=2e-2, atol=1e-5)
    largest = _SAME_SPARSE if isinstance(one, SparseVectors) else _SAME_DENSE
    return are_as_long and bool((distances < largest).all())


def _squares(raw: Raw) -> np.ndarray:
    """Compute the squared length of each row."""
    if sparse.issparse(raw):
        return np.asarray(raw.multiply(raw).sum(axis=1)).ravel()
    return np.square(raw, dtype="float32").sum(axis=1)
