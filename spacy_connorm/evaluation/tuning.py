"""Settings of a pipeline that are chosen on dev data, and their cross-validation."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ..linker.calibration import Calibration
from ..linker.sieve import Sieve
from .curves import (
    DIGITS,
    NilCurve,
    Reliability,
    apply_threshold,
    choose_threshold,
    cosines_as_probabilities,
    fit_calibration,
    measure_reliability,
    predict_probabilities,
    read_calibration_data,
    trace_nil_curve,
)
from .metrics import ALL, hits, mean, score_predictions
from .protocol import Gold, Prediction, by_part, lenient_rank, strict_rank
from .report import Row, nil_scores, percent

FOLDS = 10
SEED = 0


def make_folds(texts: Sequence[str], *, folds: int = FOLDS, seed: int = SEED) -> list[np.ndarray]:
    """Hold each mention out once, so that settings are judged on unseen ones. Mentions with the
    same text stay together, as they have the same answer: it would be known from the other folds.

    texts (Sequence[str]): n mentions, of at least as many different texts as folds.
    folds (int): The number of folds, with about equally many texts.
    seed (int): Of the random order of the texts.
    RETURNS (List[Bools1d]): For each fold which mentions are held out, bool (n,).
    """
    distinct, text_of = np.unique(np.asarray([text.lower() for text in texts]), return_inverse=True)
    fold_of = (np.random.default_rng(seed).permutation(len(distinct)) % folds)[text_of]
    return [fold_of == fold for fold in range(folds)]


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
        threshold = _best_threshold(scores, right - after, now)
        after = np.where((scores >= threshold)[:, None], right, after)
        thresholds.insert(0, threshold)
    return thresholds


def best_score(prediction: Prediction) -> float:
    """Find the score that a threshold is held against.

    prediction (Prediction): The answer to a mention.
    RETURNS (float): The first candidate's, of a split mention that of its worst part; -2.0, under
        any threshold, without candidates. What rounding puts above 1 is 1, as no threshold is
        higher.
    """
    scores = (part[0].score for part in by_part(prediction.candidates))
    return min(1.0, min(scores, default=-2.0))


def _right(gold: Sequence[Gold], predictions: Sequence[Prediction]) -> np.ndarray:
    """Mark, int64 (n, 2), 1 where a mention counts strictly, and leniently."""
    rows = [
        (strict_rank(prediction, each) == 1, lenient_rank(prediction.candidates, each) == 1)
        for each, prediction in zip(gold, predictions, strict=True)
    ]
    return np.asarray(rows, dtype="int64").reshape(-1, 2)


def _best_threshold(scores: np.ndarray, gains: np.ndarray, current: float) -> float:
    """The threshold with the best sum of gains (n, 2) at scores (n,) from it on,
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


class Tuning(NamedTuple):
    """The tuned settings of a pipeline.

    sieve (Sieve): The searches and the thresholds from which they answer.
    nil_threshold (Optional[float]): The score below which "NIL" is written; None: never.
    calibration (Calibration): Turns scores into probabilities.
    """

    sieve: Sieve
    nil_threshold: float | None
    calibration: Calibration


class Outcome(NamedTuple):
    """The answers with tuned settings.

    gold (List[Gold]): The gold standard of b mentions.
    predictions (List[Prediction]): The answers to them.
    probabilities (Floats1d): float64 (n,), of their first candidates.
    right (Bools1d): bool (n,), which of these are right.
    """

    gold: list[Gold]
    predictions: list[Prediction]
    probabilities: np.ndarray
    right: np.ndarray

    @property
    def reliability(self) -> Reliability:
        """How reliable the probabilities are."""
        return measure_reliability(self.probabilities, self.right)

    @property
    def curve(self) -> NilCurve:
        """What other NIL thresholds would give."""
        return trace_nil_curve(self.gold, self.predictions)


def tune(gold: Sequence[Gold], found: Found, sieve: Sieve) -> Tuning:
    """Choose the thresholds of the sieve, then, from the resulting candidates, the NIL threshold
    and the calibration.

    gold (Sequence[Gold]): The gold standard of n mentions.
    found (Mapping[str, Sequence[Prediction]]): The answers of each search alone.
    sieve (Sieve): The searches and their current thresholds.
    RETURNS (Tuning): The settings. The NIL threshold is None if no mention is NIL, as such a corpus
        says nothing about it.
    """
    thresholds = choose_thresholds(gold, found, sieve.searches, sieve.thresholds)
    predictions = Sieve(sieve.searches, thresholds).choose(found, best_score)
    has_nil = any(not each.concept_ids for each in gold)
    nil_threshold = choose_threshold(trace_nil_curve(gold, predictions)) if has_nil else None
    return Tuning(
        Sieve(sieve.searches, [round(each, DIGITS) for each in thresholds]),
        None if nil_threshold is None else round(nil_threshold, DIGITS),
        fit_calibration(read_calibration_data(gold, predictions)),
    )


def apply_tuning(tuning: Tuning, gold: Sequence[Gold], found: Found) -> Outcome:
    """Answer with tuned settings.

    tuning (Tuning): The settings.
    gold (Sequence[Gold]): As for `tune`.
    found (Mapping[str, Sequence[Prediction]]): As for `tune`.
    RETURNS (Outcome): The answers.
    """
    answered = tuning.sieve.choose(found, best_score)
    return judge(gold, apply_threshold(answered, tuning.nil_threshold), tuning.calibration)


def judge(
    gold: Sequence[Gold], predictions: Sequence[Prediction], calibration: Calibration | None
) -> Outcome:
    """Judge answers, and how sure they are.

    gold (Sequence[Gold]): The gold standard of b mentions.
    predictions (Sequence[Prediction]): The answers to them.
    calibration (Optional[Calibration]): Gives their probabilities; without it these are the scores.
    RETURNS (Outcome): The answers.
    """
    answers = read_calibration_data(gold, predictions)
    if calibration is None:
        probabilities = cosines_as_probabilities(answers)
    else:
        probabilities = predict_probabilities(answers, calibration)
    return Outcome(list(gold), list(predictions), probabilities, answers.right)


def cross_validate(gold: Sequence[Gold], found: Found, sieve: Sieve) -> Outcome:
    """Tune on all folds but one and answer the mentions of that one, for each fold.

    gold (Sequence[Gold]): As for `tune`.
    found (Mapping[str, Sequence[Prediction]]): As for `tune`.
    sieve (Sieve): As for `tune`.
    RETURNS (Outcome): The answers to all mentions, fold by fold.
    """
    outcomes = []
    for held_out in make_folds([each.text for each in gold]):
        tuning = tune(*_choose(gold, found, ~held_out), sieve)
        outcomes.append(apply_tuning(tuning, *_choose(gold, found, held_out)))
    return Outcome(
        [each for outcome in outcomes for each in outcome.gold],
        [each for outcome in outcomes for each in outcome.predictions],
        np.concatenate([outcome.probabilities for outcome in outcomes]),
        np.concatenate([outcome.right for outcome in outcomes]),
    )


def _choose(
    gold: Sequence[Gold], found: Found, mask: np.ndarray
) -> tuple[list[Gold], dict[str, list[Prediction]]]:
    chosen = np.flatnonzero(mask).tolist()
    return (
        [gold[number] for number in chosen],
        {search: [listed[number] for number in chosen] for search, listed in found.items()},
    )


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
    written = sum(bool(each.written_ids) for each in outcome.predictions)
    linked = len(ranks.strict)
    reliability = outcome.reliability
    return {
        "mentions": len(outcome.gold),
        "strict@1": percent(mean(hits(ranks.strict, 1))),
        "lenient@1": percent(mean(hits(ranks.lenient, 1))),
        "concept_p": percent(right / written if written else None),
        "concept_r": percent(right / linked if linked else None),
        "concept_f": percent(2 * right / (written + linked) if written + linked else None),
        "coverage": percent(written / len(outcome.gold) if outcome.gold else None),
        **nil_scores(evaluation.nil),
        "log_loss": reliability.log_loss,
        "calibration_error": percent(reliability.error),
    }
