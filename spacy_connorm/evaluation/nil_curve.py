"""What each NIL threshold does to the answers of dev data, and the best of them."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from ..concepts.concept import by_part
from ..linker.decision import written_id
from .metrics import Gold, Prediction
from .report import Row, percent

# The shares of mentions with written ids that `curve_points` shows.
_COVERAGES = (1.0, 0.95, 0.9, 0.8, 0.7, 0.6, 0.5)


class NilCurve(NamedTuple):
    """The effect of each NIL threshold, highest first. Shares of an empty set are 0.

    threshold (Floats1d): float64 (n,), probabilities, descending: ids of candidates that are at
        least this probable are written.
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
        """The harmonic mean of precision and recall. Ids written for mentions without a concept
        (NIL) lower the precision.
        """
        return 2 * self.right / np.maximum(self.written + self.linked, 1)


def trace_nil_curve(gold: Sequence[Gold], predictions: Sequence[Prediction]) -> NilCurve:
    """Lower the threshold from the highest probability to the lowest.

    gold (Sequence[Gold]): The gold standard of b mentions, including those without a concept.
    predictions (Sequence[Prediction]): The pipeline's candidates with their probabilities; the
        written ids do not matter.
    RETURNS (NilCurve): One point for each probability of a first candidate.
    """
    pairs = zip(gold, predictions, strict=True)
    steps = sorted((step for pair in pairs for step in _steps(*pair)), reverse=True)
    table = np.asarray(steps, dtype="float64").reshape(-1, 3)
    # Only the last of equal probabilities is a point, since they all pass at once.
    last = np.flatnonzero(np.diff(table[:, 0], append=-np.inf))
    totals = table[:, 1:].cumsum(axis=0).astype("int64")[last]
    linked = sum(bool(mention.concept_ids) for mention in gold)
    return NilCurve(table[last, 0], totals[:, 0], totals[:, 1], linked, len(gold))


def _steps(gold: Gold, prediction: Prediction) -> Iterator[tuple[float, int, int]]:
    """List the thresholds at which the written ids of a mention change.

    YIELDS (Tuple[float, int, int]): The threshold, and the changes in the number of written and of
        right mentions.
    """
    was_written = was_right = False
    leading = [part[0].probability for part in by_part(prediction.candidates)]
    thresholds = {1.0 if probability is None else probability for probability in leading}
    for threshold in sorted(thresholds, reverse=True):
        ids = prediction._replace(written=written_id(prediction.candidates, threshold)).written_ids
        is_right = bool(ids) and ids == gold.concept_ids
        yield threshold, bool(ids) - was_written, is_right - was_right
        was_written, was_right = bool(ids), is_right


def choose_threshold(curve: NilCurve) -> float | None:
    """Choose the NIL threshold with the highest F1.

    curve (NilCurve): The curve of dev data.
    RETURNS (Optional[float]): Halfway between the last probability that passes and the first that
        does not; None if it is best to write an id for every mention.
    """
    if not len(curve.threshold):
        return None
    # The last one: of equally good thresholds, the one with the fewest NILs.
    best = len(curve.f1) - 1 - int(np.argmax(curve.f1[::-1]))
    if best == len(curve.threshold) - 1:
        return None
    return float(curve.threshold[best : best + 2].mean())


def apply_threshold(predictions: Sequence[Prediction], threshold: float | None) -> list[Prediction]:
    """Keep the candidates, but write the ids that another NIL threshold would give."""
    return [
        prediction._replace(written=written_id(prediction.candidates, threshold))
        for prediction in predictions
    ]


def curve_points(curve: NilCurve) -> list[Row]:
    """Show the effect of a few thresholds.

    curve (NilCurve): The curve.
    RETURNS (List[Dict[str, Any]]): "NIL below", to four decimals, and "coverage", "precision",
        "recall" and "f1" in percent, at thresholds where about as many mentions have written ids as
        given by `_COVERAGES`.
    """
    last = len(curve.threshold) - 1
    reached = (int((curve.coverage < share).sum()) for share in _COVERAGES)
    places = dict.fromkeys(min(place, last) for place in reached) if last >= 0 else ()
    names = ("coverage", "precision", "recall", "f1")
    return [
        {"NIL below": f"{curve.threshold[place]:.4f}"}
        | {name: percent(float(getattr(curve, name)[place])) for name in names}
        for place in places
    ]
