"""What is known of a candidate besides its score: numbers for the reranker."""

from collections.abc import Collection, Sequence
from math import log1p

import numpy as np

from ..concepts import Candidate
from ..linker.extra_words import extra_share
from .annotated_counts import AnnotatedCounts

COLUMNS = (
    "score",
    "gap to the first",
    "reciprocal rank",
    "first",
    "count of the concept in D",
    "concept in D",
    "share of the text in D",
    "text and concept in D",
    "extra words of the text",
    "missing words of the text",
    "extra words of the name",
    "missing words of the name",
    "certain elsewhere in the document",
    "text is the name",
)
# Makes the usual difference of two cosines as large as the other columns.
_GAP_SCALE = 5.0
_COUNT_SCALE = 0.2


def candidate_features(
    candidates: Sequence[Candidate],
    counts: AnnotatedCounts,
    *,
    key: bytes,
    elsewhere: Collection[str],
) -> np.ndarray:
    """Describe the candidates of a mention.

    candidates (Sequence[Candidate]): c candidates of the whole mention, best first, at least one.
    counts (AnnotatedCounts): What D counts.
    key (bytes): The encoder input of the text that was searched.
    elsewhere (Collection[str]): The concepts that other mentions of the document certainly link to.
    RETURNS (Floats2d): float32 (c, len(COLUMNS)).
    """
    by_concept = counts.of_text(key)
    times = sum(by_concept.values())
    rows = []
    for rank, each in enumerate(candidates):
        number = counts.index.number(each.concept_id)
        linked, known = by_concept.get(number, 0), counts.of_concept(number)
        unshared = _unshared(each.searched, each.text)
        rows.append(
            (
                each.score,
                _GAP_SCALE * (each.score - candidates[0].score),
                1 / (rank + 1),
                rank == 0,
                _COUNT_SCALE * log1p(known),
                known > 0,
                linked / (times + 1),
                linked > 0,
                *unshared,
                *(unshared if each.name == each.text else _unshared(each.searched, each.name)),
                each.concept_id in elsewhere,
                each.text.lower() == each.name.lower(),
            )
        )
    return np.asarray(rows, dtype="float32")


def _unshared(mention: str, name: str) -> tuple[float, float]:
    return extra_share(mention, name), extra_share(name, mention)
