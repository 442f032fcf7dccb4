"""The settings that fit dev data best (a calibration: Guo et al. 2017), and the answers with them,
also of held-out mentions.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ..concepts import Candidate
from ..concepts.concept import by_part
from ..linker.calibration import (
    DIGITS,
    Calibration,
    CandidateFeatures,
    features_of,
    with_probabilities,
)
from ..linker.sieve import Sieve
from .metrics import ALL, Gold, Prediction, hits, lenient_rank, mean, score_predictions, strict_rank
from .nil_curve import apply_threshold, choose_threshold, trace_nil_curve
from .report import Row, nil_scores, percent

_BINS = 10


def read_calibration_data(
    gold: Sequence[Gold], predictions: Sequence[Prediction]
) -> tuple[list[CandidateFeatures], np.ndarray]:
    """Collect the first candidates of mentions, and of each part of split mentions, whether they
    are written or not.

    gold (Sequence[Gold]): The gold standard of b mentions, including those without a concept.
    predictions (Sequence[Prediction]): The pipeline's answers.
    RETURNS (Tuple[List[CandidateFeatures], Bools1d]): The features of n candidates, and bool (n,),
        whether their concepts are in the gold standard.
    """
    parts, right = _read_parts(gold, predictions)
    return [features_of(part)[0] for part in parts], right


def _read_parts(
    gold: Sequence[Gold], predictions: Sequence[Prediction]
) -> tuple[list[list[Candidate]], np.ndarray]:
    """Collect the candidates of mentions, and of each part of split mentions.

    RETURNS (Tuple[List[List[Candidate]], Bools1d]): n lists, and bool (n,), whether the concept of
        the first candidate of each is in the gold standard.
    """
    parts, right = [], []
    for mention, prediction in zip(gold, predictions, strict=True):
        for part in by_part(prediction.candidates):
            parts.append(part)
            right.append(part[0].concept_id in mention.concept_ids)
    return parts, np.asarray(right, dtype="bool")


def measure_reliability(
    probabilities: np.ndarray, right: np.ndarray
) -> tuple[float | None, float | None]:
    """Compare probabilities with outcomes.

    probabilities (Floats1d): (n,), 0 to 1.
    right (Bools1d): bool (n,), whether each answer is right.
    RETURNS (Tuple[Optional[float], Optional[float]]): The log loss: the mean of -ln(probability of
        the true outcome), in nats; and the expected calibration error, 0 to 1: the distance of the
        mean probability of each of ten equal ranges from its share of right answers, averaged over
        all answers. None without answers.
    """
    if not len(right):
        return None, None
    of_outcome = np.where(right, probabilities, 1 - probabilities)
    log_loss = -float(np.log(np.maximum(of_outcome, np.finfo("float64").tiny)).mean())
    places = np.minimum((probabilities * _BINS).astype("int64"), _BINS - 1)
    # The sum of the differences over a range is its size times the distance of its means.
    distances = np.bincount(places, weights=probabilities - right)
    return log_loss, float(np.abs(distances).sum()) / len(right)


FOLDS = 10
_MAX_CONFIDENCE = 0.999
# For each search, its answers: one prediction per mention.
SearchAnswers = Mapping[str, Sequence[Prediction]]


class Tuning(NamedTuple):
    """The tuned settings of a pipeline.

    sieve (Sieve): The searches and the thresholds from which they answer.
    nil_threshold (Optional[float]): The probability below which "NIL" is written; None for never.
    calibration (Calibration): Turns scores into probabilities.
    """

    sieve: Sieve
    nil_threshold: float | None
    calibration: Calibration


class Outcome(NamedTuple):
    """The answers with tuned settings.

    gold (List[Gold]): The gold standard of b mentions.
    predictions (List[Prediction]): The answers to them.
    probabilities (Floats1d): float64 (n,), for the first candidates.
    right (Bools1d): bool (n,), which of these are right.
    """

    gold: list[Gold]
    predictions: list[Prediction]
    probabilities: np.ndarray
    right: np.ndarray


def tune(gold: Sequence[Gold], answers: SearchAnswers, sieve: Sieve) -> Tuning:
    """Choose the thresholds of the sieve, then, from the resulting candidates, the calibration and
    the NIL threshold.

    gold (Sequence[Gold]): The gold standard of n mentions.
    answers (Mapping[str, Sequence[Prediction]]): The answers of each search alone.
    sieve (Sieve): The searches and their current thresholds.
    RETURNS (Tuning): The settings. The NIL threshold is None if no mention is NIL, since such a
        corpus says nothing about it.
    """
    thresholds = choose_thresholds(gold, answers, sieve.searches, sieve.thresholds)
    predictions = Sieve(sieve.searches, thresholds).choose(answers, best_score)
    features, right = read_calibration_data(gold, predictions)
    calibration = Calibration.fit(np.asarray(features, dtype="float64"), right)
    nil_threshold = None
    if any(not mention.concept_ids for mention in gold):
        curve = trace_nil_curve(gold, _with_calibration(predictions, calibration))
        nil_threshold = choose_threshold(curve)
    return Tuning(
        Sieve(sieve.searches, [round(threshold, DIGITS) for threshold in thresholds]),
        None if nil_threshold is None else round(nil_threshold, DIGITS),
        calibration,
    )


def _with_calibration(
    predictions: Sequence[Prediction], calibration: Calibration
) -> list[Prediction]:
    return [
        prediction._replace(candidates=with_probabilities(prediction.candidates, calibration))
        for prediction in predictions
    ]


def apply_tuning(tuning: Tuning, gold: Sequence[Gold], answers: SearchAnswers) -> Outcome:
    """Answer with tuned settings.

    tuning (Tuning): The settings.
    gold (Sequence[Gold]): As for `tune`.
    answers (Mapping[str, Sequence[Prediction]]): As for `tune`.
    RETURNS (Outcome): The answers.
    """
    answered = _with_calibration(tuning.sieve.choose(answers, best_score), tuning.calibration)
    return judge(gold, apply_threshold(answered, tuning.nil_threshold))


def judge(gold: Sequence[Gold], predictions: Sequence[Prediction]) -> Outcome:
    """Judge answers and their probabilities.

    gold (Sequence[Gold]): The gold standard of b mentions.
    predictions (Sequence[Prediction]): The answers to them. The scores of candidates without a
        probability take its place.
    RETURNS (Outcome): The answers.
    """
    parts, right = _read_parts(gold, predictions)
    probabilities = [_probability(part[0]) for part in parts]
    return Outcome(list(gold), list(predictions), np.asarray(probabilities, "float64"), right)


def _probability(candidate: Candidate) -> float:
    if candidate.probability is not None:
        return candidate.probability
    # Clipped, since a single error would otherwise dominate the log loss.
    return min(max(candidate.score, 1 - _MAX_CONFIDENCE), _MAX_CONFIDENCE)


def cross_validate(gold: Sequence[Gold], answers: SearchAnswers, sieve: Sieve) -> Outcome:
    """For each fold, tune on all other folds and answer the mentions of this one.

    gold (Sequence[Gold]): The gold standard of n mentions, with at least as many different texts as
        folds.
    answers (Mapping[str, Sequence[Prediction]]): As for `tune`.
    sieve (Sieve): As for `tune`.
    RETURNS (Outcome): The answers to all mentions, fold by fold.
    """
    from sklearn.model_selection import GroupKFold

    # Mentions with the same text have the same answer, so they stay together.
    texts = [mention.text.lower() for mention in gold]
    outcomes = []
    for others, held_out in GroupKFold(FOLDS).split(texts, groups=texts):
        tuning = tune(*_choose(gold, answers, others), sieve)
        outcomes.append(apply_tuning(tuning, *_choose(gold, answers, held_out)))
    return Outcome(
        [mention for outcome in outcomes for mention in outcome.gold],
        [prediction for outcome in outcomes for prediction in outcome.predictions],
        np.concatenate([outcome.probabilities for outcome in outcomes]),
        np.concatenate([outcome.right for outcome in outcomes]),
    )


def _choose(
    gold: Sequence[Gold], answers: SearchAnswers, places: np.ndarray
) -> tuple[list[Gold], dict[str, list[Prediction]]]:
    chosen = {search: [listed[place] for place in places] for search, listed in answers.items()}
    return [gold[place] for place in places], chosen


def choose_thresholds(
    gold: Sequence[Gold], answers: SearchAnswers, searches: Sequence[str], current: Sequence[float]
) -> list[float]:
    """For each search except the last, choose the cosine from which it answers better than the
    following searches: by strict, then by lenient Acc@1. The last threshold is chosen first, then
    the one before it, over all mentions; so for two searches, the result is the best possible
    threshold, and for more searches, each is a good one.

    gold (Sequence[Gold]): The gold standard of n mentions; those without a concept do not count.
    answers (Mapping[str, Sequence[Prediction]]): What each search alone finds.
    searches (Sequence[str]): The searches of the sieve, in order.
    current (Sequence[float]): The current thresholds: of equally good ones, the nearest to these is
        chosen.
    RETURNS (List[float]): One per search except the last, -1 to 1.
    """
    linked = np.asarray([bool(mention.concept_ids) for mention in gold], dtype="bool")
    after = _right(gold, answers[searches[-1]])[linked]
    thresholds: list[float] = []
    for search, now in reversed(list(zip(searches, current, strict=False))):
        scores = np.asarray(list(map(best_score, answers[search])))[linked]
        right = _right(gold, answers[search])[linked]
        threshold = _best_threshold(scores, right - after, now)
        after = np.where((scores >= threshold)[:, None], right, after)
        thresholds.insert(0, threshold)
    return thresholds


def best_score(prediction: Prediction) -> float:
    """Find the score that thresholds are compared with.

    prediction (Prediction): The answer to a mention.
    RETURNS (float): The first candidate's score; for a split mention, that of its worst part; -2.0,
        below any threshold, without candidates. Scores rounded above 1 are set to 1, since no
        threshold is higher.
    """
    scores = (part[0].score for part in by_part(prediction.candidates))
    return min(1.0, min(scores, default=-2.0))


def _right(gold: Sequence[Gold], predictions: Sequence[Prediction]) -> np.ndarray:
    """Mark mentions that are right strictly, and leniently, by 1 in int64 (n, 2)."""
    rows = [
        (strict_rank(prediction, mention) == 1, lenient_rank(prediction.candidates, mention) == 1)
        for mention, prediction in zip(gold, predictions, strict=True)
    ]
    return np.asarray(rows, dtype="int64").reshape(-1, 2)


def _best_threshold(scores: np.ndarray, gains: np.ndarray, current: float) -> float:
    """Find the threshold above which the sum of gains (n, 2), at scores (n,), is best, comparing
    the first column before the second. Of equally good thresholds, the nearest to the current one
    is chosen.
    """
    order = np.argsort(-scores, kind="stable")
    last = np.flatnonzero(np.diff(scores[order], append=-np.inf))
    # All thresholds between a score and the next lower one have the same effect; above the best
    # score, the search never answers.
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


def outcome_row(outcome: Outcome) -> Row:
    """Flatten the scores of tuned answers into one row, shares in percent.

    outcome (Outcome): The answers.
    RETURNS (Dict[str, Any]): "mentions"; "strict@1" and "lenient@1" of those with gold ids;
        "concept_p", "concept_r" and "concept_f" of the written ids, strictly; "coverage", the share
        of mentions with written ids; "nil_mentions", "nil_precision", "nil_recall", "nil_f1";
        "log_loss" in nats and "calibration_error" of the first candidates' probabilities.
    """
    evaluation = score_predictions(outcome.gold, outcome.predictions)
    ranks = evaluation.ranks[ALL]
    right = int(hits(ranks.strict, 1).sum())
    written = sum(bool(prediction.written_ids) for prediction in outcome.predictions)
    linked = len(ranks.strict)
    log_loss, error = measure_reliability(outcome.probabilities, outcome.right)
    return {
        "mentions": len(outcome.gold),
        "strict@1": percent(mean(hits(ranks.strict, 1))),
        "lenient@1": percent(mean(hits(ranks.lenient, 1))),
        "concept_p": percent(right / written if written else None),
        "concept_r": percent(right / linked if linked else None),
        "concept_f": percent(2 * right / (written + linked) if written + linked else None),
        "coverage": percent(written / len(outcome.gold) if outcome.gold else None),
        **nil_scores(evaluation.nil),
        "log_loss": log_loss,
        "calibration_error": percent(error),
    }
