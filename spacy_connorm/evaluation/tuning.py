"""Settings of a pipeline that are chosen on dev data, and their cross-validation."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from ..linker.calibration import Calibration
from ..linker.sieve import Sieve
from .folds import Split
from .metrics import ALL, hits, mean, score_predictions
from .nil_curve import apply_threshold, choose_threshold, trace_nil_curve
from .protocol import Gold, Prediction
from .reliability import (
    DIGITS,
    Reliability,
    fit_calibration,
    measure_reliability,
    predict_probabilities,
    read_calibration_data,
)
from .report import Row, nil_scores, percent
from .sieve_thresholds import Found, best_score, choose_thresholds


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
        """RETURNS (Reliability): How reliable the probabilities are."""
        return measure_reliability(self.probabilities, self.right)


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
    """tuning (Tuning): The settings.
    gold (Sequence[Gold]): As for `tune`.
    found (Mapping[str, Sequence[Prediction]]): As for `tune`.
    RETURNS (Outcome): The answers with these settings.
    """
    answered = tuning.sieve.choose(found, best_score)
    predictions = apply_threshold(answered, tuning.nil_threshold)
    answers = read_calibration_data(gold, predictions)
    return Outcome(
        list(gold), predictions, predict_probabilities(answers, tuning.calibration), answers.right
    )


def cross_validate(
    gold: Sequence[Gold], find: Callable[[np.ndarray], Found], sieve: Sieve, folds: Sequence[Split]
) -> Outcome:
    """Tune on all folds but one and answer the mentions of that one, for each fold.

    gold (Sequence[Gold]): As for `tune`.
    find (Callable[[Bools1d], Mapping[str, Sequence[Prediction]]]): Gives the answers of each search
        alone to all n mentions, with whatever is chosen before `tune` chosen on those that the
        fold keeps, bool (n,).
    sieve (Sieve): As for `tune`.
    folds (Sequence[Split]): Over the mentions.
    RETURNS (Outcome): The answers to all mentions, fold by fold.
    """
    outcomes = []
    for fold in folds:
        found = find(fold.kept)
        tuning = tune(*_choose(gold, found, fold.kept), sieve)
        outcomes.append(apply_tuning(tuning, *_choose(gold, found, fold.held_out)))
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
