"""All that dev data can set of a pipeline at once, and how good that is where it was not set."""

from collections.abc import Sequence
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
from .report import Row, percent
from .sieve_thresholds import Found, best_score, choose_thresholds


class Tuning(NamedTuple):
    """Settings of a pipeline.

    sieve (Sieve): Its searches, and the thresholds from which they answer.
    nil_threshold (Optional[float]): The score under which "NIL" is written; None: never.
    calibration (Calibration): Gives probabilities.
    """

    sieve: Sieve
    nil_threshold: float | None
    calibration: Calibration


class Outcome(NamedTuple):
    """What comes of settings.

    gold (List[Gold]): What is right for b mentions.
    predictions (List[Prediction]): What is said of them.
    probabilities (Floats1d): float64 (n,), of their first candidates.
    right (Bools1d): (n,), which of these are right.
    """

    gold: list[Gold]
    predictions: list[Prediction]
    probabilities: np.ndarray
    right: np.ndarray

    @property
    def reliability(self) -> Reliability:
        """RETURNS (Reliability): How far the probabilities can be trusted."""
        return measure_reliability(self.probabilities, self.right)


def tune(gold: Sequence[Gold], found: Found, sieve: Sieve) -> Tuning:
    """Set first the thresholds of the sieve, then, with the candidates that this gives, the NIL
    threshold and the calibration.

    gold (Sequence[Gold]): What is right for n mentions.
    found (Mapping[str, Sequence[Prediction]]): What each search finds alone.
    sieve (Sieve): The searches, and the thresholds up to now.
    RETURNS (Tuning): The settings. The NIL threshold is None if no mention is NIL: what a corpus
        without any tells of it is only how sure wrong answers are.
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
    """RETURNS (Outcome): What comes of settings, the searches having been asked before."""
    answered = tuning.sieve.choose(found, best_score)
    predictions = apply_threshold(answered, tuning.nil_threshold)
    answers = read_calibration_data(gold, predictions)
    return Outcome(
        list(gold), predictions, predict_probabilities(answers, tuning.calibration), answers.right
    )


def cross_validate(
    gold: Sequence[Gold], found: Found, sieve: Sieve, folds: Sequence[Split]
) -> Outcome:
    """Tune on all folds but one and apply that to this one, each in turn.

    gold (Sequence[Gold]): As for `tune`, as are the next two.
    folds (Sequence[Split]): Over the mentions.
    RETURNS (Outcome): Of all mentions, fold by fold.
    """
    outcomes = []
    for fold in folds:
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
    """Put what comes of settings into a flat row, shares in percent.

    outcome (Outcome): What comes of them.
    RETURNS (Dict[str, Any]): "mentions", "strict@1" and "lenient@1" of those with gold ids;
        "concept_p", "concept_r" and "concept_f" of the ids that are written, strictly; "coverage",
        the share of mentions that have one; "nil_mentions", "nil_precision", "nil_recall",
        "nil_f1"; "log_loss" in nats and "calibration_error" of the first candidates' probabilities.
    """
    evaluation = score_predictions(outcome.gold, outcome.predictions)
    ranks, nil = evaluation.ranks[ALL], evaluation.nil
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
        "nil_mentions": nil.mentions,
        **{f"nil_{key}": percent(getattr(nil, key)) for key in ("precision", "recall", "f1")},
        "log_loss": reliability.log_loss,
        "calibration_error": percent(reliability.error),
    }
