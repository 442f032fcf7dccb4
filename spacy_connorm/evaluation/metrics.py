"""Accuracy, reciprocal rank, NIL and synonym retrieval; bootstrap intervals and paired tests (Efron
and Tibshirani 1993).
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..concepts import NIL
from ..encoders.protocol import unit_rows
from .protocol import NOWHERE, Gold, Prediction, lenient_rank, strict_rank

# Cosines in memory at once.
_COMPARED_AT_ONCE = 2**24
ALL, IN_ONTOLOGY, SEEN, UNSEEN = "all", "in_ontology", "seen", "unseen"


class Ranks(NamedTuple):
    """Ranks of the right answers, under both protocols.

    lenient (Ints1d): int64 (n,), from 1; 0 if there is no right answer.
    strict (Ints1d): int64 (n,), likewise.
    """

    lenient: np.ndarray
    strict: np.ndarray


class NilScore(NamedTuple):
    """How well mentions of no concept are recognized, 0 to 1; None if there is nothing to count.

    mentions (int): Mentions without a gold id.
    precision (Optional[float]): The share of mentions without a gold id among those answered NIL.
    recall (Optional[float]): The share of mentions answered NIL among those without a gold id.
    f1 (Optional[float]): The harmonic mean of the two.
    """

    mentions: int
    precision: float | None
    recall: float | None
    f1: float | None


class Evaluation(NamedTuple):
    """The scores of a run.

    ranks (Dict[str, Ranks]): By group of mentions with a gold id: "all"; "in_ontology", with an id
        that the ontology has; and, if D is known, "seen", with a text that D has, and "unseen".
    nil (NilScore): NIL scores over all mentions.
    """

    ranks: dict[str, Ranks]
    nil: NilScore


def score_predictions(gold: Sequence[Gold], predictions: Sequence[Prediction]) -> Evaluation:
    """Score a run.

    gold (Sequence[Gold]): The gold standard of n mentions.
    predictions (Sequence[Prediction]): The pipeline's answers to them.
    RETURNS (Evaluation): The ranks of the right answers, and NIL scores.
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
    """Mark the mentions with a right answer among the first k; the mean is Acc@k.

    ranks (Ints1d): int64 (n,), from 1; 0 without a right answer.
    k (int): How many answers count.
    RETURNS (Floats1d): float64 (n,), 1.0 or 0.0.
    """
    return ((ranks != NOWHERE) & (ranks <= k)).astype("float64")


def reciprocals(ranks: np.ndarray) -> np.ndarray:
    """Compute reciprocal ranks; the mean is MRR.

    ranks (Ints1d): int64 (n,), from 1; 0 without a right answer.
    RETURNS (Floats1d): float64 (n,), 1 / rank; 0.0 without a right answer.
    """
    return np.where(ranks != NOWHERE, 1 / np.maximum(ranks, 1), 0.0)


def mean(values: np.ndarray) -> float | None:
    """Average values.

    values (Floats1d): (n,).
    RETURNS (Optional[float]): The mean; None if there are no values.
    """
    return float(values.mean()) if len(values) else None


def nil_score(gold: Sequence[Gold], predictions: Sequence[Prediction]) -> NilScore:
    """Score NIL: it is right for mentions without any gold id. A gold id that the ontology lacks is
    not NIL.

    gold (Sequence[Gold]): The gold standard of n mentions.
    predictions (Sequence[Prediction]): The pipeline's answers to them.
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


RESAMPLES = 10_000
LEVEL = 0.95
SEED = 0


class Interval(NamedTuple):
    """The middle 95 % of the means of the resamples.

    low (float): The lower end.
    high (float): The upper end.
    """

    low: float
    high: float


class Comparison(NamedTuple):
    """The difference between the means of two runs over the same mentions.

    difference (float): The first mean minus the second.
    interval (Interval): The interval of the difference.
    p (float): The two-sided p value.
    """

    difference: float
    interval: Interval
    p: float


def bootstrap(values: np.ndarray) -> Interval:
    """Compute the percentile interval of a mean.

    values (Floats1d): (n,) one per mention, at least one.
    RETURNS (Interval): The interval.
    """
    return middle(_resampled_means(values))


def paired_bootstrap(one: np.ndarray, other: np.ndarray) -> Comparison:
    """Compare two runs over the same mentions, which are resampled together.

    one (Floats1d): (n,) the first run's values, at least one.
    other (Floats1d): (n,) the second run's, in the same order.
    RETURNS (Comparison): The difference of the means, its interval and p.
    """
    differences = one - other
    means = _resampled_means(differences)
    tail = min(np.count_nonzero(means <= 0), np.count_nonzero(means >= 0))
    return Comparison(
        difference=float(differences.mean()),
        interval=middle(means),
        p=min(1.0, 2 * (int(tail) + 1) / (RESAMPLES + 1)),
    )


def _resampled_means(values: np.ndarray) -> np.ndarray:
    # A resample's mean depends only on how often it has each distinct value, and there are few.
    distinct, counts = np.unique(values, return_counts=True)
    draws = np.random.default_rng(SEED).multinomial(
        len(values), counts / len(values), size=RESAMPLES
    )
    return draws @ distinct / len(values)


def middle(means: np.ndarray) -> Interval:
    """Find the middle 95 % of the means of resamples.

    means (Floats1d): (n,) one per resample.
    RETURNS (Interval): From the 2.5th to the 97.5th percentile.
    """
    low, high = np.quantile(means, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Interval(float(low), float(high))


class RetrievalScores(NamedTuple):
    """Means over the texts that were asked for, 0 to 1 (Fivez et al. 2021, section 5.1).

    map (float): Mean average precision, over the names of the text's concept.
    accuracy (float): The share of texts whose first name is one of these.
    mrr (float): One divided by the rank of the first of them.
    """

    map: float
    accuracy: float
    mrr: float


def score_retrieval(
    queries: np.ndarray,
    names: np.ndarray,
    relevant: Sequence[np.ndarray],
    *,
    itself: np.ndarray | None = None,
) -> RetrievalScores:
    """Rank all names by their cosine with each query, block by block; see `relevant_ranks`.

    queries (Floats2d): float32 (q, width), of any length.
    names (Floats2d): float32 (n, width), of any length.
    relevant (Sequence[Ints1d]): Of each query: the names to find, at least one, each once.
    itself (Optional[Ints1d]): int64 (q,), the query's own place among the names, which is left out.
    RETURNS (RetrievalScores): The scores.
    """
    queries, names = unit_rows(queries), unit_rows(names)
    averages, ranks = np.zeros(len(queries)), np.zeros(len(queries), dtype="int64")
    at_once = max(1, _COMPARED_AT_ONCE // max(len(names), 1))
    for start in range(0, len(queries), at_once):
        block = queries[start : start + at_once] @ names.T
        for place, cosines in enumerate(block, start=start):
            if itself is not None:
                cosines[itself[place]] = -np.inf
            found = relevant_ranks(cosines, relevant[place])
            averages[place] = average_precision(found)
            ranks[place] = found[0]
    return RetrievalScores(
        float(averages.mean()), float((ranks == 1).mean()), float((1 / ranks).mean())
    )


def relevant_ranks(scores: np.ndarray, relevant: np.ndarray) -> np.ndarray:
    """Rank names by their scores. A name that scores as much as a relevant one ranks before it, so
    ties earn nothing.

    scores (Floats1d): (n,), of all names.
    relevant (Ints1d): (k,), the places of the names to find.
    RETURNS (Ints1d): int64 (k,), their ranks, ascending, from 1.
    """
    wanted = np.sort(scores[relevant])[::-1]
    others = np.delete(scores, relevant)
    # There are few relevant names among many others, so nothing is sorted.
    before = np.array([np.count_nonzero(others >= each) for each in wanted])
    return before + np.arange(1, len(wanted) + 1)


def average_precision(ranks: np.ndarray) -> float:
    """Average the precision over relevant names.

    ranks (Ints1d): (k,), their ranks, ascending, from 1.
    RETURNS (float): From 0 to 1: the mean, over the ranks, of the share of relevant names
        up to there.
    """
    return float(np.mean(np.arange(1, len(ranks) + 1) / ranks))
