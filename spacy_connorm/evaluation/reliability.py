"""Probabilities fitted to dev data, and how reliable they are (Guo et al. 2017)."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..linker.calibration import Calibration, margins
from .protocol import Gold, Prediction, by_part

# Weak regularization: it only stops weights from growing without end if dev data is separable.
_INVERSE_PENALTY = 100.0
_MAX_CONFIDENCE = 0.999
BINS = 10
# Decimals of the fitted numbers.
DIGITS = 8


class CalibrationData(NamedTuple):
    """The first candidates of mentions, and of each part of split mentions.

    features (Floats2d): float64 (n, 2), score and margin.
    right (Bools1d): bool (n,), whether the concept is in the gold standard.
    """

    features: np.ndarray
    right: np.ndarray


class Reliability(NamedTuple):
    """How reliable probabilities are. Scores are None if there are no answers.

    log_loss (Optional[float]): The mean of -ln(probability of the true outcome), in nats.
    error (Optional[float]): The expected calibration error, 0 to 1: the distance of a bin's mean
        probability from its share of right answers, averaged over all answers.
    bins (List[Bin]): The bins that are not empty.
    """

    log_loss: float | None
    error: float | None
    bins: list["Bin"]


class Bin(NamedTuple):
    """Answers in a range of probabilities.

    low (float): The lowest probability of the range.
    high (float): The end of the range, exclusive.
    answers (int): The number of answers, at least one.
    probability (float): Their mean probability.
    right (float): The share of right answers, 0 to 1.
    """

    low: float
    high: float
    answers: int
    probability: float
    right: float


def read_calibration_data(
    gold: Sequence[Gold], predictions: Sequence[Prediction]
) -> CalibrationData:
    """Collect the first candidates, whether they are written or not.

    gold (Sequence[Gold]): The gold standard of b mentions, including those of no concept.
    predictions (Sequence[Prediction]): The pipeline's answers to them.
    RETURNS (CalibrationData): One answer per mention with candidates, or one per part.
    """
    rows = [
        (part[0].score, next(margins(part)), part[0].concept_id in each.concept_ids)
        for each, prediction in zip(gold, predictions, strict=True)
        for part in by_part(prediction.candidates)
    ]
    table = np.asarray(rows, dtype="float64").reshape(-1, 3)
    return CalibrationData(table[:, :2], table[:, 2].astype("bool"))


def fit_calibration(data: CalibrationData) -> Calibration:
    """Fit a logistic regression of score and margin.

    data (CalibrationData): Right and wrong answers.
    RETURNS (Calibration): Its parameters, to eight decimals.
    """
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(C=_INVERSE_PENALTY).fit(data.features, data.right)
    numbers = [*model.intercept_.tolist(), *model.coef_[0].tolist()]
    return Calibration(*(round(number, DIGITS) for number in numbers))


def predict_probabilities(data: CalibrationData, calibration: Calibration) -> np.ndarray:
    """RETURNS (Floats1d): float64 (n,), the probabilities of n answers."""
    pairs = data.features.tolist()
    return np.asarray([calibration.probability(*pair) for pair in pairs], dtype="float64")


def cosines_as_probabilities(data: CalibrationData) -> np.ndarray:
    """RETURNS (Floats1d): float64 (n,), the scores of n answers, used as probabilities for lack of
    a calibration. They are clipped to 99.9 %, or a single error would dominate the log loss.
    """
    return np.clip(data.features[:, 0], 1 - _MAX_CONFIDENCE, _MAX_CONFIDENCE)


def measure_reliability(
    probabilities: np.ndarray, right: np.ndarray, *, bins: int = BINS
) -> Reliability:
    """Compare probabilities with outcomes.

    probabilities (Floats1d): (n,), 0 to 1.
    right (Bools1d): bool (n,), whether each answer is right.
    bins (int): The number of equal ranges of probabilities.
    RETURNS (Reliability): Log loss, calibration error and the bins.
    """
    if not len(right):
        return Reliability(None, None, [])
    of_outcome = np.where(right, probabilities, 1 - probabilities)
    log_loss = -float(np.log(np.maximum(of_outcome, np.finfo("float64").tiny)).mean())
    places = np.minimum((probabilities * bins).astype("int64"), bins - 1)
    filled = [
        Bin(
            place / bins,
            (place + 1) / bins,
            int(np.count_nonzero(places == place)),
            float(probabilities[places == place].mean()),
            float(right[places == place].mean()),
        )
        for place in np.unique(places).tolist()
    ]
    error = sum(each.answers * abs(each.probability - each.right) for each in filled) / len(right)
    return Reliability(log_loss, error, filled)
