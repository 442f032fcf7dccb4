"""The first candidates of dev data, to fit a calibration to (Guo et al. 2017), and their
probabilities compared with what was right.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..linker.calibration import CandidateFeatures, features_of
from .metrics import Gold, Prediction, by_part

_BINS = 10


class CalibrationData(NamedTuple):
    """The first candidates of mentions, and of each part of split mentions.

    features (Floats2d): float64 (n, 6), their `CandidateFeatures`.
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
        (*features_of(part)[0], part[0].concept_id in mention.concept_ids)
        for mention, prediction in zip(gold, predictions, strict=True)
        for part in by_part(prediction.candidates)
    ]
    width = len(CandidateFeatures._fields)
    table = np.asarray(rows, dtype="float64").reshape(-1, width + 1)
    return CalibrationData(table[:, :width], table[:, width].astype("bool"))


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
