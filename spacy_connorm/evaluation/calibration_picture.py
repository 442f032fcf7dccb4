"""The picture of a calibration: a reliability diagram beside the curve of NIL thresholds."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .figures import require_matplotlib, save_figure
from .nil_curve import NilCurve
from .reliability import Reliability

_SIZE = (10.4, 4.8)
_COLOURS = ("#999999", "#332288")
_LINES = {"precision": "#117733", "recall": "#CC6677", "f1": "#332288", "coverage": "#999933"}


def draw_calibration(
    reliabilities: Mapping[str, Reliability],
    curve: NilCurve,
    threshold: float | None,
    path: Path,
) -> None:
    """Draw a reliability diagram, with the number of answers at each point, beside precision,
    recall, F1 and coverage by NIL threshold.

    reliabilities (Mapping[str, Reliability]): Reliabilities by label, at most two.
    curve (NilCurve): The curve of one of them.
    threshold (Optional[float]): The chosen NIL threshold, if any.
    path (Path): A `.svg` or `.png` file.
    RAISES (ConnormError): CN604 if matplotlib is not installed.
    """
    require_matplotlib()
    from matplotlib.figure import Figure

    figure = Figure(figsize=_SIZE, facecolor="white", layout="constrained")
    left, right = figure.subplots(1, 2)
    _draw_reliability(left, reliabilities)
    _draw_curve(right, curve, threshold)
    save_figure(figure, path)


def _draw_reliability(axis: Any, reliabilities: Mapping[str, Reliability]) -> None:
    axis.plot([0, 1], [0, 1], color="#BBBBBB", linestyle="--", linewidth=1)
    for (label, each), colour in zip(reliabilities.items(), _COLOURS, strict=False):
        axis.plot(
            [point.probability for point in each.bins],
            [point.right for point in each.bins],
            marker="o",
            color=colour,
            label=f"{label}: ECE {_share(each.error)}",
        )
        for point in each.bins:
            axis.annotate(
                f"{point.answers:,}",
                (point.probability, point.right),
                xytext=(4, -9),
                textcoords="offset points",
                fontsize=7,
                color=colour,
            )
    errors = ", ".join(_share(each.error) for each in reliabilities.values())
    axis.set_title(f"Reliability, expected calibration error {errors}")
    axis.set_xlabel("mean probability of the bin's answers")
    axis.set_ylabel("share of right answers")
    axis.set_xlim(0, 1.02)
    axis.set_ylim(0, 1.02)
    axis.legend(frameon=False, loc="upper left")


def _share(error: float | None) -> str:
    return "-" if error is None else f"{error:.1%}"


def _draw_curve(axis: Any, curve: NilCurve, threshold: float | None) -> None:
    for name, colour in _LINES.items():
        axis.plot(curve.threshold, getattr(curve, name), color=colour, label=name)
    chosen = "no threshold is chosen" if threshold is None else f"chosen: {threshold:.3f}"
    if threshold is not None:
        axis.axvline(threshold, color="#666666", linestyle=":", linewidth=1)
    axis.set_title(f"Ids written from a threshold on, {chosen}")
    axis.set_xlabel("NIL threshold (score)")
    axis.set_ylim(0, 1.02)
    axis.legend(frameon=False, loc="lower left")
