"""What the scores of an index are: cosines, or inner products of vectors as long as the encoder
made them.
"""

from pathlib import Path
from typing import Any, Literal, TypeAlias

from ..errors import refuse
from ..files.folders import MANIFEST, damaged

Metric: TypeAlias = Literal["cosine", "dot"]
COSINE: Metric = "cosine"
METRICS = (COSINE, "dot")


def require_metric(metric: str) -> None:
    """RAISES (ConnormError): CN006 for anything but "cosine" and "dot"."""
    if metric not in METRICS:
        refuse("metric", metric, '"cosine" or "dot"')


def metric_of(backend: Any) -> str:
    """RETURNS (str): What the scores of a backend are; "cosine" for one that does not say."""
    return getattr(backend, "metric", COSINE)


def stored_metric(folder: Path, manifest: dict[str, Any]) -> str:
    """Read the metric that an index was built with. Those of older versions do not say, and have
    cosines.

    folder (Path): The index.
    manifest (Dict[str, Any]): Its manifest.
    RETURNS (str): One of `METRICS`.
    RAISES (ConnormError): CN402 for anything else.
    """
    backend = manifest.get("backend")
    metric = backend.get("metric", COSINE) if isinstance(backend, dict) else COSINE
    if metric not in METRICS:
        raise damaged(folder / MANIFEST, "it names an unknown metric")
    return metric
