"""The six searches: what is searched, in which representation; and what vectors are compared by."""

from enum import StrEnum
from typing import Any, Literal, TypeAlias

from ..errors import require_choice

O, D = 1, 2  # noqa: E741  (the papers' names)
TARGETS = {"O": O, "D": D, "OD": O | D}


class Search(StrEnum):
    """One of the six searches (Xu & Bethard 2021, section 3.2), such as "OD-T". It equals its name,
    so it can be used wherever configs and files have a string; `Search("OD-T")` parses one.

    target (int): The texts to search: `O`, `D` or both.
    representation (str): "T": each text is a vector. "C": a concept is the mean of its texts'
        vectors.
    """

    O_T = "O-T"
    O_C = "O-C"
    D_T = "D-T"
    D_C = "D-C"
    OD_T = "OD-T"
    OD_C = "OD-C"

    def __init__(self, name: str) -> None:
        target, representation = name.split("-")
        self.target: int = TARGETS[target]
        self.representation: str = representation

    @classmethod
    def _missing_(cls, value: Any) -> None:
        require_choice("search", value, list(cls))


SEARCHES = tuple(Search)

Metric: TypeAlias = Literal["cosine", "dot"]
COSINE: Metric = "cosine"
METRICS = (COSINE, "dot")


def metric_of(backend: Any) -> str:
    """Get the metric of a backend's scores.

    RETURNS (str): The metric; "cosine" for a backend that does not specify one.
    """
    return getattr(backend, "metric", COSINE)
