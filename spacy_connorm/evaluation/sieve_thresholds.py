"""The thresholds of a sieve's searches, chosen on dev data."""

from collections.abc import Mapping, Sequence

import numpy as np

from .protocol import Gold, Prediction, by_part, lenient_rank, strict_rank

# By search what it finds, one prediction per mention.
Found = Mapping[str, Sequence[Prediction]]


def choose_thresholds(
    gold: Sequence[Gold], found: Found, searches: Sequence[str], current: Sequence[float]
) -> list[float]:
    """Choose for each search but the last the cosine from which it answers better than what comes
    after it: by strict, then by lenient Acc@1. The last but one is chosen first, then the one
    before it, over all mentions; so two searches get the best threshold that there is, more of them
    a good one each.

    gold (Sequence[Gold]): What is right for n mentions; those of no concept do not count.
    found (Mapping[str, Sequence[Prediction]]): What each search finds alone.
    searches (Sequence[str]): Of the sieve, in order.
    current (Sequence[float]): Its thresholds: of equally good ones that nearest to these is taken.
    RETURNS (List[float]): One per search but the last, -1 to 1.
    """
    linked = np.asarray([bool(each.concept_ids) for each in gold], dtype="bool")
    after = _right(gold, found[searches[-1]])[linked]
    thresholds: list[float] = []
    for search, now in reversed(list(zip(searches, current, strict=False))):
        scores = np.asarray(list(map(best_score, found[search])))[linked]
        right = _right(gold, found[search])[linked]
        threshold = _choose(scores, right - after, now)
        after = np.where((scores >= threshold)[:, None], right, after)
        thresholds.insert(0, threshold)
    return thresholds


def best_score(prediction: Prediction) -> float:
    """RETURNS (float): The score that a threshold is held against: the first candidate's, of a
    split mention that of its worst part; -2.0, under any threshold, without candidates. What
    rounding puts above 1 is 1, as no threshold is higher.
    """
    scores = (part[0].score for part in by_part(prediction.candidates))
    return min(1.0, min(scores, default=-2.0))


def _right(gold: Sequence[Gold], predictions: Sequence[Prediction]) -> np.ndarray:
    """RETURNS (Ints2d): int64 (n, 2): 1 where a mention counts strictly, and leniently."""
    rows = [
        (strict_rank(prediction, each) == 1, lenient_rank(prediction.candidates, each) == 1)
        for each, prediction in zip(gold, predictions, strict=True)
    ]
    return np.asarray(rows, dtype="int64").reshape(-1, 2)


def _choose(scores: np.ndarray, gains: np.ndarray, current: float) -> float:
    """RETURNS (float): The threshold with the best sum of gains (n, 2) at scores (n,) from it on,
    the first column before the second; of equals that nearest to the current one.
    """
    order = np.argsort(-scores, kind="stable")
    last = np.flatnonzero(np.diff(scores[order], append=-np.inf))
    # From each score on down to the next one any threshold does the same; over the best score the
    # search never answers.
    reached = np.append(1.0, scores[order][last])
    totals = np.vstack([np.zeros((1, 2), dtype="int64"), gains[order].cumsum(axis=0)[last]])
    following = np.append(reached[1:], -2.0)
    nearest = np.where(
        (following < current) & (current <= reached),
        current,
        np.clip(current, np.maximum((reached + following) / 2, -1.0), reached),
    )
    never = 1 if scores.max(initial=-1.0) >= 1 else 0
    options = [
        (*total, -abs(threshold - current), threshold)
        for total, threshold in zip(totals[never:].tolist(), nearest[never:].tolist(), strict=True)
        if threshold >= -1
    ]
    return max(options)[-1]
