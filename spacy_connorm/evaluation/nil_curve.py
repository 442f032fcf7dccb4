"""What a NIL threshold does: precision, recall and coverage of what is written above it."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from ..annotations.spans import written_id
from .protocol import Gold, Prediction, by_part

_MOST_POINTS = 200


class NilCurve(NamedTuple):
    """What is written by threshold, best scores first. Shares of nothing are 0.

    threshold (Floats1d): float64 (n,), cosines, falling: everything from there on is written.
    written (Ints1d): int64 (n,), for how many mentions ids are written.
    right (Ints1d): int64 (n,), for how many of them the ids are all of the gold standard.
    linked (int): Mentions that have gold ids.
    mentions (int): All mentions.
    """

    threshold: np.ndarray
    written: np.ndarray
    right: np.ndarray
    linked: int
    mentions: int

    @property
    def precision(self) -> np.ndarray:
        """RETURNS (Floats1d): The share of right mentions among those that ids are written for."""
        return self.right / np.maximum(self.written, 1)

    @property
    def recall(self) -> np.ndarray:
        """RETURNS (Floats1d): The share of right mentions among those that have gold ids."""
        return self.right / max(self.linked, 1)

    @property
    def coverage(self) -> np.ndarray:
        """RETURNS (Floats1d): The share of mentions that ids are written for."""
        return self.written / max(self.mentions, 1)

    @property
    def f1(self) -> np.ndarray:
        """RETURNS (Floats1d): The harmonic mean of precision and recall. An id that is written for
        a mention of no concept (NIL) lowers the precision.
        """
        return 2 * self.right / np.maximum(self.written + self.linked, 1)


def trace_nil_curve(gold: Sequence[Gold], predictions: Sequence[Prediction]) -> NilCurve:
    """Lower the threshold from the best score of all to the worst.

    gold (Sequence[Gold]): What is right for b mentions, those of no concept included.
    predictions (Sequence[Prediction]): What the pipeline finds for them; what it writes does not
        matter.
    RETURNS (NilCurve): One point a score of a first candidate.
    """
    steps = sorted(
        (step for pair in zip(gold, predictions, strict=True) for step in _steps(*pair)),
        reverse=True,
    )
    table = np.asarray(steps, dtype="float64").reshape(-1, 3)
    # Where scores are equal only the last step is a point: all of them pass at once.
    last = np.flatnonzero(np.diff(table[:, 0], append=-np.inf))
    totals = table[:, 1:].cumsum(axis=0).astype("int64")[last]
    linked = sum(bool(each.concept_ids) for each in gold)
    return NilCurve(table[last, 0], totals[:, 0], totals[:, 1], linked, len(gold))


def _steps(gold: Gold, prediction: Prediction) -> Iterator[tuple[float, int, int]]:
    """YIELDS (Tuple[float, int, int]): Where the threshold changes what is written for a mention,
    and by how many mentions that makes more of them written, and right.
    """
    was_written = was_right = False
    # What rounding puts above 1 is 1, as no threshold is higher.
    scores = {min(part[0].score, 1.0) for part in by_part(prediction.candidates)}
    for score in sorted(scores, reverse=True):
        ids = prediction._replace(written=written_id(prediction.candidates, score)).written_ids
        is_right = bool(ids) and ids == gold.concept_ids
        yield score, bool(ids) - was_written, is_right - was_right
        was_written, was_right = bool(ids), is_right


def choose_threshold(curve: NilCurve) -> float | None:
    """Choose the cosine under which writing NIL raises F1 most.

    curve (NilCurve): Of dev data.
    RETURNS (Optional[float]): Half-way between the last score that is to pass and the first that is
        not; None if it is best to write an id for every mention.
    """
    if not len(curve.threshold):
        return None
    # The last of equals: who is as right with fewer NILs writes fewer.
    best = len(curve.f1) - 1 - int(np.argmax(curve.f1[::-1]))
    if best == len(curve.threshold) - 1:
        return None
    return float(curve.threshold[best : best + 2].mean())


def apply_threshold(predictions: Sequence[Prediction], threshold: float | None) -> list[Prediction]:
    """RETURNS (List[Prediction]): The same candidates, and what is written for them with another
    NIL threshold.
    """
    return [each._replace(written=written_id(each.candidates, threshold)) for each in predictions]


def curve_points(curve: NilCurve, *, most: int = _MOST_POINTS) -> list[dict[str, float]]:
    """Thin a curve out.

    curve (NilCurve): The curve.
    most (int): How many points are kept at most, evenly over the points.
    RETURNS (List[Dict[str, float]]): "threshold", and shares 0 to 1: "precision", "recall", "f1"
        and "coverage".
    """
    count = len(curve.threshold)
    chosen = np.unique(np.linspace(0, max(count - 1, 0), min(count, most)).round().astype("int64"))
    columns = {
        name: getattr(curve, name)[chosen].tolist()
        for name in ("threshold", "precision", "recall", "f1", "coverage")
    }
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
