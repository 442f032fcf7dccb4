"""The picture of projections."""

from collections.abc import Sequence
from pathlib import Path
from textwrap import shorten

from .figures import require_matplotlib, save_figure
from .projection import ConceptTexts, Panel

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


def draw_projections(panels: Sequence[Panel], concepts: Sequence[ConceptTexts], path: Path) -> None:
    """Draw projections side by side, with one colour and one marker per concept.

    panels (Sequence[Panel]): At least one.
    concepts (Sequence[ConceptTexts]): The texts that all panels show.
    path (Path): A `.svg` or `.png` file.
    RAISES (ConnormError): CN604 if matplotlib is not installed.
    """
    require_matplotlib()
    import matplotlib
    from matplotlib.figure import Figure

    names = [_legend_entry(concept) for concept in concepts]
    columns = min(len(panels) + 1, 3)
    lines = -(-len(names) // columns)
    height = _PANEL_INCHES + _TITLE_INCHES + _LEGEND_INCHES * lines
    with matplotlib.rc_context({"font.size": 9}):
        figure = Figure(figsize=(_PANEL_INCHES * max(len(panels), 1.5), height), facecolor="white")
        axes = figure.subplots(1, len(panels), squeeze=False)[0]
        for axis, panel in zip(axes, panels, strict=True):
            _draw_panel(axis, panel, concepts, names)
        handles, labels = axes[0].get_legend_handles_labels()
        bottom = (_LEGEND_INCHES * lines + 0.2) / height
        figure.subplots_adjust(
            left=0.02, right=0.98, top=1 - _TITLE_INCHES / height, bottom=bottom, wspace=0.04
        )
        figure.legend(handles, labels, loc="lower center", ncols=columns, frameon=False)
        save_figure(figure, path)


def _draw_panel(axis, panel: Panel, concepts: Sequence[ConceptTexts], names: Sequence[str]) -> None:
    start = 0
    for place, (concept, name) in enumerate(zip(concepts, names, strict=True)):
        points = panel.points[start : start + len(concept.texts)]
        start += len(concept.texts)
        axis.scatter(
            points[:, 0],
            points[:, 1],
            s=26,
            c=_COLOURS[place % len(_COLOURS)],
            marker=_MARKERS[place % len(_MARKERS)],
            linewidths=0.3,
            edgecolors="white",
            label=name,
        )
    axis.set_title(f"{panel.label}\nmean average precision of synonyms {panel.precision:.1%}")
    axis.set_xticks([])
    axis.set_yticks([])
    for spine in axis.spines.values():
        spine.set_color("#BBBBBB")


def _legend_entry(concept: ConceptTexts) -> str:
    name = shorten(concept.name, _NAME_WIDTH, placeholder=" ...")
    return f"{name} ({concept.concept_id}, {len(concept.texts)})"
