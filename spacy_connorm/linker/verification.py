"""Check that the index, memo, synonyms and encoder of a lookup agree."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ..encoders.normalized import NormalizedEncoder
from ..files.arrays import ascends
from ..index.concept_index import ConceptIndex
from ..index.overlay_files import SYNONYMS_FILE
from ..index.ranking import SCALE
from ..index.verification import require_sound, verify_index, verify_overlay, verify_texts
from .lookup import ConceptLookup
from .memo import NONE, Memo, hash_forms

# How many vectors are read at once.
_BLOCK = 4096
_ROUNDED = 1e-3


def verify_lookup(lookup: ConceptLookup, folder: Path, *, report: Callable[[int], Any]) -> None:
    """Check all parts, as `read_lookup` read them.

    lookup (ConceptLookup): The lookup.
    folder (Path): Where it was read from.
    report (Callable): Called with the number of rows and texts read since its last call.
    RAISES (ConnormError): CN402 for the first file that is damaged.
    """
    retriever = lookup.retriever
    index, encoder = retriever.index, retriever.encoder
    verify_index(index, report=report)
    verify_texts(index, encoder, report=report)
    verify_overlay(retriever.overlay, encoder, folder / SYNONYMS_FILE, report=report)
    if retriever.memo is not None:
        verify_memo(retriever.memo, index, encoder)


def verify_memo(memo: Memo, index: ConceptIndex, encoder: NormalizedEncoder) -> None:
    """Check that all answers are to texts of the index, and that what they name is there.

    memo (Memo): The memo.
    index (ConceptIndex): A sound index.
    encoder (NormalizedEncoder): Built both.
    RAISES (ConnormError): CN402.
    """
    arrays, folder = memo.arrays, memo.folder
    count, top_k = len(arrays.rows), memo.question.top_k
    sizes = {"rows": len(index.vectors), "labels": index.concept_count}
    for name, size in {**sizes, "texts": len(index.members.concept)}.items():
        numbers, path = getattr(arrays, name), folder / f"{name}.npy"
        is_known = not len(numbers) or (numbers[0] >= 0 and numbers[-1] < size)
        require_sound(is_known and ascends(numbers, strictly=True), path, "a number is unknown")
    width, path = min(top_k, index.concept_count), folder / "concepts.npy"
    # Older versions made room for as many as were asked for.
    is_right = arrays.concepts.shape in ((count, width), (count, top_k))
    require_sound(is_right, path, f"it does not have {width} places for each answer")
    if count:
        _verify_answers(memo, index)
        _verify_forms(memo, index, encoder)


def _verify_answers(memo: Memo, index: ConceptIndex) -> None:
    arrays, folder = memo.arrays, memo.folder
    over_texts = np.asarray([each.representation == "T" for each, _ in memo.question.sieve.steps])
    has_text, has_concept = arrays.members != NONE, arrays.concepts != NONE
    is_right = np.array_equal(has_text, has_concept & over_texts[arrays.searches][:, None])
    require_sound(is_right, folder / "members.npy", "an answer has no text")
    places, numbers = np.nonzero(has_text)
    members = arrays.texts[arrays.members[places, numbers]]
    named = arrays.labels[arrays.concepts[places, numbers]]
    are_equal = np.array_equal(index.members.concept[members], named)
    require_sound(are_equal, folder / "members.npy", "a text does not denote its concept")
    _verify_scores(memo, index, has_text)
    scores = np.where(arrays.concepts == NONE, np.iinfo(arrays.scores.dtype).min, arrays.scores)
    is_best_first = (scores[:, 1:] <= scores[:, :-1]).all()
    require_sound(is_best_first, folder / "scores.npy", "answers are not best first")


def _verify_scores(memo: Memo, index: ConceptIndex, has_text: np.ndarray) -> None:
    arrays, weight = memo.arrays, memo.premises["lexical_weight"]
    for start in range(0, len(memo), _BLOCK):
        block = range(start, min(start + _BLOCK, len(memo)))
        own = index.compared.queries(arrays.rows[block.start : block.stop], weight=weight)
        for place, answer in enumerate(block):
            filled = has_text[answer]
            found = index.row_numbers[arrays.texts[arrays.members[answer][filled]]]
            scores = index.compared.rescore(own, place, found)
            are_equal = np.allclose(arrays.scores[answer][filled] / SCALE, scores, atol=_ROUNDED)
            path = memo.folder / "scores.npy"
            require_sound(are_equal, path, "a score is not that of its text")


def _verify_forms(memo: Memo, index: ConceptIndex, encoder: NormalizedEncoder) -> None:
    members = index.members.of_rows(memo.arrays.rows)
    texts = index.store.texts(members.tolist())
    forms = hash_forms(encoder.forms([texts[member] for member in members.tolist()]))
    path = memo.folder / "hashes.npy"
    hashes, first = np.unique(forms, return_index=True)
    require_sound(np.array_equal(hashes, memo.arrays.hashes), path, "it is not of these texts")
    rows = index.row_numbers[members[first]]
    are_own = np.array_equal(memo.arrays.rows[memo.arrays.places], rows)
    require_sound(are_own, memo.folder / "places.npy", "the answer to a text is that to another")
