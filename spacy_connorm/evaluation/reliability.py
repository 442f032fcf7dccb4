"""Probabilities fitted to dev data, and how far they can be trusted (Guo et al. 2017)."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..linker.calibration import Calibration, margins
from .protocol import Gold, Prediction, by_part

# Weights are kept from growing without end where dev data is separable, and hardly held back else.
_INVERSE_PENALTY = 100.0
_MOST_SURE = 0.999
BINS = 10
# Of what is fitted: as many as JSON keeps of a number.
DIGITS = 8


class CalibrationData(NamedTuple):
    """The first candidates of mentions and of the parts of split ones.

    features (Floats2d): float64 (n, 2), score and margin.
    right (Bools1d): (n,), whether the concept is one of the gold standard.
    """

    features: np.ndarray
    right: np.ndarray


class Reliability(NamedTuple):
    """How far probabilities can be trusted. A score of no answers is None.

    log_loss (Optional[float]): The mean of -ln(the probability of what was the case), nats.
    error (Optional[float]): The expected calibration error: how far the mean probability of a bin
        is from the share of right answers in it, weighed by its answers, 0 to 1.
    bins (List[Bin]): Those that hold answers.
    """

    log_loss: float | None
    error: float | None
    bins: list["Bin"]


class Bin(NamedTuple):
    """Answers of about one probability.

    low (float): The least probability.
    high (float): The first that belongs to the next bin.
    answers (int): How many there are, at least one.
    probability (float): Their mean probability.
    right (float): The share of right ones, 0 to 1.
    """

    low: float
    high: float
    answers: int
    probability: float
    right: float


def read_calibration_data(
    gold: Sequence[Gold], predictions: Sequence[Prediction]
) -> CalibrationData:
    """Collect what a pipeline answers first, whatever it writes.

    gold (Sequence[Gold]): What is right for b mentions, those of no concept included.
    predictions (Sequence[Prediction]): What the pipeline says of them.
    RETURNS (CalibrationData): One a mention with candidates, or one a part.
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

    data (CalibrationData): Right ones and wrong ones.
    RETURNS (Calibration): Its numbers, to eight decimals.
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
    """RETURNS (Floats1d): float64 (n,), the scores of n answers taken for probabilities: what one
    would do without a calibration. None is surer than 99.9 %, or one error would decide.
    """
    return np.clip(data.features[:, 0], 1 - _MOST_SURE, _MOST_SURE)


def measure_reliability(
    probabilities: np.ndarray, right: np.ndarray, *, bins: int = BINS
) -> Reliability:
    """Compare probabilities with what was the case.

    probabilities (Floats1d): (n,), 0 to 1.
    right (Bools1d): (n,).
    bins (int): Into how many equal ranges of probabilities the answers go.
    RETURNS (Reliability): Log loss, calibration error and the bins.
    """
    if not len(right):
        return Reliability(None, None, [])
    of_case = np.where(right, probabilities, 1 - probabilities)
    log_loss = -float(np.log(np.maximum(of_case, np.finfo("float64").tiny)).mean())
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
