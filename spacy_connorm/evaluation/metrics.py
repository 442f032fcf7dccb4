"""Scores over mentions: accuracy, reciprocal rank, NIL."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..concepts import NIL
from .protocol import NOWHERE, Gold, Prediction, lenient_rank, strict_rank

ALL, IN_ONTOLOGY, SEEN, UNSEEN = "all", "in_ontology", "seen", "unseen"


class Ranks(NamedTuple):
    """Where the right answers stand, under both protocols.

    lenient (Ints1d): int64 (n,), from 1; 0 where none was found.
    strict (Ints1d): The same.
    """

    lenient: np.ndarray
    strict: np.ndarray


class NilScore(NamedTuple):
    """How well mentions of no concept are told. A score without anything to count is None.

    mentions (int): Mentions without a gold id.
    precision (Optional[float]): The share of them among those for which NIL was written.
    recall (Optional[float]): The share of them for which NIL was written.
    f1 (Optional[float]): The harmonic mean of the two.
    """

    mentions: int
    precision: float | None
    recall: float | None
    f1: float | None


class Evaluation(NamedTuple):
    """What comes out of a run.

    ranks (Dict[str, Ranks]): By group of mentions: "all" that have a gold id; "in_ontology", those
        of them with an id that the ontology has; "seen", those whose text D has, and "unseen", the
        others, if D is known.
    nil (NilScore): Over all mentions.
    """

    ranks: dict[str, Ranks]
    nil: NilScore


def score_predictions(gold: Sequence[Gold], predictions: Sequence[Prediction]) -> Evaluation:
    """Score a run.

    gold (Sequence[Gold]): What is right for n mentions.
    predictions (Sequence[Prediction]): What the pipeline says of them.
    RETURNS (Evaluation): The ranks of right answers among mentions with gold ids, and NIL scores.
    """
    linked = [(g, p) for g, p in zip(gold, predictions, strict=True) if g.concept_ids]
    lenient = [lenient_rank(prediction.candidates, each) for each, prediction in linked]
    strict = [strict_rank(prediction, each) for each, prediction in linked]
    ranks = Ranks(np.asarray(lenient, dtype="int64"), np.asarray(strict, dtype="int64"))
    groups = {
        name: Ranks(ranks.lenient[mask], ranks.strict[mask])
        for name, mask in _groups([each for each, _ in linked]).items()
    }
    return Evaluation(groups, nil_score(gold, predictions))


def _groups(gold: Sequence[Gold]) -> dict[str, np.ndarray]:
    groups = {
        ALL: np.ones(len(gold), dtype="bool"),
        IN_ONTOLOGY: np.asarray([each.in_ontology for each in gold], dtype="bool"),
    }
    if all(each.seen is not None for each in gold):
        groups[SEEN] = np.asarray([each.seen for each in gold], dtype="bool")
        groups[UNSEEN] = ~groups[SEEN]
    return groups


def hits(ranks: np.ndarray, k: int) -> np.ndarray:
    """RETURNS (Floats1d): 1.0 for each mention with a right answer on the first k places; Acc@k is
    the mean.
    """
    return ((ranks != NOWHERE) & (ranks <= k)).astype("float64")


def reciprocals(ranks: np.ndarray) -> np.ndarray:
    """RETURNS (Floats1d): 1 / rank of each mention, 0.0 without a right answer; MRR is the mean."""
    return np.where(ranks != NOWHERE, 1 / np.maximum(ranks, 1), 0.0)


def mean(values: np.ndarray) -> float | None:
    """RETURNS (Optional[float]): The mean; None if there are no values."""
    return float(values.mean()) if len(values) else None


def nil_score(gold: Sequence[Gold], predictions: Sequence[Prediction]) -> NilScore:
    """Compare where NIL is written with where it is right: at mentions without any gold id. An id
    that the ontology lacks is no NIL.

    gold (Sequence[Gold]): What is right for n mentions.
    predictions (Sequence[Prediction]): What the pipeline says of them.
    RETURNS (NilScore): The scores.
    """
    right = np.asarray([not each.concept_ids for each in gold], dtype="bool")
    written = np.asarray([each.written == NIL for each in predictions], dtype="bool")
    both = int(np.count_nonzero(right & written))
    relevant, found = int(right.sum()), int(written.sum())
    return NilScore(
        mentions=relevant,
        precision=both / found if found else None,
        recall=both / relevant if relevant else None,
        f1=2 * both / (relevant + found) if relevant + found else None,
    )
