"""Precision, recall and coverage by NIL threshold."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from ..documents.spans import written_id
from .protocol import Gold, Prediction, by_part

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
        """RETURNS (Floats1d): The share of right mentions among those with written ids."""
        return self.right / np.maximum(self.written, 1)

    @property
    def recall(self) -> np.ndarray:
        """RETURNS (Floats1d): The share of right mentions among those with gold ids."""
        return self.right / max(self.linked, 1)

    @property
    def coverage(self) -> np.ndarray:
        """RETURNS (Floats1d): The share of mentions with written ids."""
        return self.written / max(self.mentions, 1)

    @property
    def f1(self) -> np.ndarray:
        """RETURNS (Floats1d): The harmonic mean of precision and recall. Ids that are written for
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
    """RETURNS (List[Prediction]): The same candidates, with the ids that are written at another NIL
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
