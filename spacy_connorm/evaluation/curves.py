"""Fitted probabilities and how reliable they are (Guo et al. 2017); scores by NIL threshold."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from ..documents.spans import written_id
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
    """Compute the probabilities of n answers, float64 (n,)."""
    pairs = data.features.tolist()
    return np.asarray([calibration.probability(*pair) for pair in pairs], dtype="float64")


def cosines_as_probabilities(data: CalibrationData) -> np.ndarray:
    """Take the scores of n answers for probabilities, float64 (n,), for lack of a calibration. They
    are clipped to 99.9 %, or a single error would dominate the log loss.
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


_MAX_POINTS = 200
_ROUNDED = 1e-4


class NilCurve(NamedTuple):
    """What is written at each threshold, highest first. Shares of nothing are 0.

    threshold (Floats1d): float64 (n,), scores, descending: ids with at least that score are
        written.
    written (Ints1d): int64 (n,), the number of mentions for which ids are written.
    right (Ints1d): int64 (n,), the number of these whose ids equal the gold standard.
    linked (int): The number of mentions with gold ids.
    mentions (int): The number of all mentions.
    """

    threshold: np.ndarray
    written: np.ndarray
    right: np.ndarray
    linked: int
    mentions: int

    @property
    def precision(self) -> np.ndarray:
        """The share of right mentions among those with written ids."""
        return self.right / np.maximum(self.written, 1)

    @property
    def recall(self) -> np.ndarray:
        """The share of right mentions among those with gold ids."""
        return self.right / max(self.linked, 1)

    @property
    def coverage(self) -> np.ndarray:
        """The share of mentions with written ids."""
        return self.written / max(self.mentions, 1)

    @property
    def f1(self) -> np.ndarray:
        """The harmonic mean of precision and recall. Ids that are written for
        mentions of no concept (NIL) lower the precision.
        """
        return 2 * self.right / np.maximum(self.written + self.linked, 1)


def trace_nil_curve(gold: Sequence[Gold], predictions: Sequence[Prediction]) -> NilCurve:
    """Lower the threshold from the highest score to the lowest.

    gold (Sequence[Gold]): The gold standard of b mentions, including those of no concept.
    predictions (Sequence[Prediction]): The pipeline's candidates for them; the written ids do not
        matter.
    RETURNS (NilCurve): One point for each score of a first candidate.
    """
    steps = sorted(
        (step for pair in zip(gold, predictions, strict=True) for step in _steps(*pair)),
        reverse=True,
    )
    table = np.asarray(steps, dtype="float64").reshape(-1, 3)
    # Of equal scores only the last is a point: they all pass at once.
    last = np.flatnonzero(np.diff(table[:, 0], append=-np.inf))
    totals = table[:, 1:].cumsum(axis=0).astype("int64")[last]
    linked = sum(bool(each.concept_ids) for each in gold)
    return NilCurve(table[last, 0], totals[:, 0], totals[:, 1], linked, len(gold))


def _steps(gold: Gold, prediction: Prediction) -> Iterator[tuple[float, int, int]]:
    """YIELDS (Tuple[float, int, int]): The thresholds that change what is written for a mention,
    and the changes in the number of written and of right mentions.
    """
    was_written = was_right = False
    scores = {_within_one(part[0].score) for part in by_part(prediction.candidates)}
    for score in sorted(scores, reverse=True):
        ids = prediction._replace(written=written_id(prediction.candidates, score)).written_ids
        is_right = bool(ids) and ids == gold.concept_ids
        yield score, bool(ids) - was_written, is_right - was_right
        was_written, was_right = bool(ids), is_right


def _within_one(score: float) -> float:
    # Cosines rounded above 1 are 1, as no threshold is higher. Inner products may be.
    return 1.0 if 1 < score < 1 + _ROUNDED else score


def choose_threshold(curve: NilCurve) -> float | None:
    """Choose the NIL threshold with the highest F1.

    curve (NilCurve): The curve of dev data.
    RETURNS (Optional[float]): Half-way between the last score that passes and the first that does
        not; None if it is best to write an id for every mention.
    """
    if not len(curve.threshold):
        return None
    # The last of equals: of equally good thresholds the one with the fewest NILs.
    best = len(curve.f1) - 1 - int(np.argmax(curve.f1[::-1]))
    if best == len(curve.threshold) - 1:
        return None
    return float(curve.threshold[best : best + 2].mean())


def apply_threshold(predictions: Sequence[Prediction], threshold: float | None) -> list[Prediction]:
    """Write other ids: the same candidates, with the ids that are written at another NIL
    threshold.
    """
    return [each._replace(written=written_id(each.candidates, threshold)) for each in predictions]


def curve_points(curve: NilCurve, *, limit: int = _MAX_POINTS) -> list[dict[str, float]]:
    """Sample a curve evenly over its points.

    curve (NilCurve): The curve.
    limit (int): At most how many points.
    RETURNS (List[Dict[str, float]]): "threshold", and shares 0 to 1: "precision", "recall", "f1"
        and "coverage".
    """
    count = len(curve.threshold)
    chosen = np.unique(np.linspace(0, max(count - 1, 0), min(count, limit)).round().astype("int64"))
    columns = {
        name: getattr(curve, name)[chosen].tolist()
        for name in ("threshold", "precision", "recall", "f1", "coverage")
    }
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
