"""Probabilities of first candidates: fitted to dev data (Guo et al. 2017), and compared with what
was right.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..linker.calibration import Calibration, margins
from .metrics import Gold, Prediction, by_part

# Weak regularization, which only keeps weights from growing without limit if dev data are
# separable.
_INVERSE_PENALTY = 100.0
_BINS = 10
# The decimals of fitted numbers.
DIGITS = 8


class CalibrationData(NamedTuple):
    """The first candidates of mentions, and of each part of split mentions.

    features (Floats2d): float64 (n, 2), score and margin.
    right (Bools1d): bool (n,), whether the concept is in the gold standard.
    """

    features: np.ndarray
    right: np.ndarray


def read_calibration_data(
    gold: Sequence[Gold], predictions: Sequence[Prediction]
) -> CalibrationData:
    """Collect the first candidates, whether they are written or not.

    gold (Sequence[Gold]): The gold standard of b mentions, including those without a concept.
    predictions (Sequence[Prediction]): The pipeline's answers.
    RETURNS (CalibrationData): One answer per mention with candidates, or one per part.
    """
    rows = [
        (part[0].score, next(margins(part)), part[0].concept_id in mention.concept_ids)
        for mention, prediction in zip(gold, predictions, strict=True)
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
