"""Writing figures. Needs matplotlib."""

from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ..errors import ConnormError, Errors


def require_matplotlib() -> None:
    """Fail early where no picture can be drawn.

    RAISES (ConnormError): CN604 if matplotlib is not installed.
    """
    if find_spec("matplotlib") is None:
        raise ConnormError(Errors.CN604)


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
