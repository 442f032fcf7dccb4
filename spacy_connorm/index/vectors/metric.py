"""What vectors are compared by."""

from typing import Any, Literal, TypeAlias

Metric: TypeAlias = Literal["cosine", "dot"]
COSINE: Metric = "cosine"
METRICS = (COSINE, "dot")


def metric_of(backend: Any) -> str:
    """Get the metric of a backend's scores.

    RETURNS (str): The metric; "cosine" for a backend that does not specify one.
    """
    return getattr(backend, "metric", COSINE)
