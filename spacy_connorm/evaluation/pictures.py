"""Pictures of calibrations and of concept texts. Needs matplotlib."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from textwrap import shorten
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import require_installed
from ..files.atomic import atomic_file
from ..pipeline.concept_normalizer import ConceptNormalizer
from .curves import NilCurve, Reliability

if TYPE_CHECKING:
    from .projection import ConceptTexts, Panel

_SIZE = (10.4, 4.8)
_LINES = {"precision": "#117733", "recall": "#CC6677", "f1": "#332288", "coverage": "#999933"}
# Twelve colours safe for colour-blind people (Carto's "Safe", after Paul Tol). Markers have a cycle
# of their own, so 84 concepts look different.
_COLOURS = (
    *("#332288", "#CC6677", "#117733", "#88CCEE", "#882255", "#999933"),
    *("#AA4499", "#44AA99", "#661100", "#DDAA33", "#6699CC", "#666666"),
)
_MARKERS = ("o", "s", "^", "D", "v", "P", "X")
_PANEL_INCHES = 5.2
_TITLE_INCHES = 0.6
_LEGEND_INCHES = 0.22
_NAME_WIDTH = 40


def require_matplotlib() -> None:
    """Fail early where no picture can be drawn.

    RAISES (ConnormError): CN126 if matplotlib is not installed.
    """
    require_installed("Drawing", "plot", "matplotlib")


def save_figure(figure: Any, path: Path) -> None:
    """Write a figure. Equal figures give equal files.

    figure (Figure): The figure.
    path (Path): A `.svg` or `.png` file.
    """
    import matplotlib

    kind = path.suffix[1:]
    # No date, and ids that do not change from run to run.
    metadata = {"Date": None} if kind == "svg" else {"Software": None}
    with matplotlib.rc_context({"svg.hashsalt": "connorm"}):
        figure.savefig(path, format=kind, dpi=150, metadata=metadata)


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
    RAISES (ConnormError): CN126 if matplotlib is not installed.
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
    errors = ["-" if each.error is None else f"{each.error:.1%}" for each in reliabilities.values()]
    shown = zip(reliabilities.items(), errors, ("#999999", "#332288"), strict=False)
    for (label, each), error, colour in shown:
        points = [(point.probability, point.right) for point in each.bins]
        lines = np.reshape(points, (-1, 2)).T
        axis.plot(*lines, marker="o", color=colour, label=f"{label}: ECE {error}")
        style = {"textcoords": "offset points", "fontsize": 7, "color": colour}
        for point, place in zip(each.bins, points, strict=True):
            axis.annotate(f"{point.answers:,}", place, xytext=(4, -9), **style)
    axis.set_title(f"Reliability, expected calibration error {', '.join(errors)}")
    axis.set_xlabel("mean probability of the bin's answers")
    axis.set_ylabel("share of right answers")
    axis.set(xlim=(0, 1.02), ylim=(0, 1.02))
    axis.legend(frameon=False, loc="upper left")


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


class Drawing:
    """The same concept texts as several encoders place them, one panel a pipeline.

    concepts (List[ConceptTexts]): What all panels show.
    panels (List[Panel]): The points of each pipeline.
    """

    def __init__(self, concept_ids: Sequence[str] = ()) -> None:
        """Start without panels.

        concept_ids (Sequence[str]): What to draw; chosen by `projection.choose_concepts` if empty.
        RAISES (ConnormError): CN126 if matplotlib is not installed.
        """
        require_matplotlib()
        self._concept_ids = list(concept_ids)
        self.concepts: list[ConceptTexts] = []
        self.panels: list[Panel] = []

    def add(self, normalizer: ConceptNormalizer, label: str) -> None:
        """Add a panel. The first pipeline's index chooses the concepts and texts of all panels.

        normalizer (ConceptNormalizer): Its encoder places the texts.
        label (str): The panel's title.
        RAISES (ConnormError): CN411 for a concept that the first index lacks, CN603 if there is too
            little to draw.
        """
        from .projection import choose_concepts, project, read_texts

        index, encoder = normalizer.lookup.index, normalizer.lookup.normalized_encoder
        if not self.concepts:
            self.concepts = read_texts(index, self._concept_ids or choose_concepts(index))
        self.panels.append(project(encoder, self.concepts, label=label))

    def write(self, path: str | Path) -> None:
        """Draw the panels side by side.

        path (Union[str, Path]): A `.svg` or `.png` file.
        RAISES (ConnormError): CN105 or CN108 if it cannot be written.
        """
        with atomic_file(path) as aside:
            draw_projections(self.panels, self.concepts, aside)


def draw_projections(
    panels: Sequence["Panel"], concepts: Sequence["ConceptTexts"], path: Path
) -> None:
    """Draw projections side by side, with one colour and one marker per concept.

    panels (Sequence[Panel]): At least one.
    concepts (Sequence[ConceptTexts]): The texts that all panels show.
    path (Path): A `.svg` or `.png` file.
    RAISES (ConnormError): CN126 if matplotlib is not installed.
    """
    require_matplotlib()
    import matplotlib
    from matplotlib.figure import Figure

    columns = min(len(panels) + 1, 3)
    lines = -(-len(concepts) // columns)
    height = _PANEL_INCHES + _TITLE_INCHES + _LEGEND_INCHES * lines
    with matplotlib.rc_context({"font.size": 9}):
        figure = Figure(figsize=(_PANEL_INCHES * max(len(panels), 1.5), height), facecolor="white")
        axes = figure.subplots(1, len(panels), squeeze=False)[0]
        for axis, panel in zip(axes, panels, strict=True):
            _draw_panel(axis, panel, concepts)
        handles, labels = axes[0].get_legend_handles_labels()
        bottom = (_LEGEND_INCHES * lines + 0.2) / height
        figure.subplots_adjust(
            left=0.02, right=0.98, top=1 - _TITLE_INCHES / height, bottom=bottom, wspace=0.04
        )
        figure.legend(handles, labels, loc="lower center", ncols=columns, frameon=False)
        save_figure(figure, path)


def _draw_panel(axis: Any, panel: "Panel", concepts: Sequence["ConceptTexts"]) -> None:
    start = 0
    style = {"s": 26, "linewidths": 0.3, "edgecolors": "white"}
    for place, concept in enumerate(concepts):
        points = panel.points[start : start + len(concept.texts)]
        start += len(concept.texts)
        name = shorten(concept.name, _NAME_WIDTH, placeholder=" ...")
        axis.scatter(
            *points.T,
            c=_COLOURS[place % len(_COLOURS)],
            marker=_MARKERS[place % len(_MARKERS)],
            label=f"{name} ({concept.concept_id}, {len(concept.texts)})",
            **style,
        )
    axis.set_title(f"{panel.label}\nmean average precision of synonyms {panel.precision:.1%}")
    axis.set(xticks=[], yticks=[])
    for spine in axis.spines.values():
        spine.set_color("#BBBBBB")
