"""Take turns, so that other work on the machine slows all sides alike, and describe the results.

Ratios are computed turn by turn, from runs that are close in time. Standard library only: workers
and other environments import it.
"""

from collections.abc import Callable, Sequence
from statistics import median
from typing import Any, NamedTuple, TypeVar

Result = TypeVar("Result")


def take_turns(
    sides: Sequence[Callable[[int], Result]], repeats: int, *, warm_up: int = 0
) -> list[list[Result]]:
    """Run every side once per repeat. Each repeat starts with the next side.

    sides (Sequence[Callable[[int], Result]]): Called with the number of the repeat, from 0.
    repeats (int): Recorded repeats.
    warm_up (int): Repeats before these that are not recorded, with negative numbers.
    RETURNS (List[List[Result]]): The results of each side, one a repeat.
    """
    results: list[list[Result]] = [[] for _ in sides]
    for repeat in range(-warm_up, repeats):
        for place in range(len(sides)):
            side = (place + repeat) % len(sides)
            result = sides[side](repeat)
            if repeat >= 0:
                results[side].append(result)
    return results


class Spread(NamedTuple):
    """The middle and the extremes of some measurements."""

    median: float
    lowest: float
    highest: float

    def rounded(self, digits: int | None = None) -> "Spread":
        """RETURNS (Spread): Rounded to some decimals, or to whole numbers."""
        return Spread(*(round(figure, digits) for figure in self))

    def columns(self, median: str, lowest: str, highest: str) -> dict[str, float]:
        """RETURNS (Dict[str, float]): The numbers by these names."""
        return {median: self.median, lowest: self.lowest, highest: self.highest}


def spread(values: Sequence[float]) -> Spread:
    """RETURNS (Spread): Of at least one value."""
    return Spread(median(values), min(values), max(values))


def ratios(own: Sequence[float], reference: Sequence[float]) -> list[float]:
    """RETURNS (List[float]): How many times as fast as the reference, turn by turn, by seconds."""
    return [theirs / ours for ours, theirs in zip(own, reference, strict=True)]


def ratio_columns(
    own: Sequence[float], reference: Sequence[float], *, prefix: str = ""
) -> dict[str, Any]:
    """Compare seconds turn by turn.

    own (Sequence[float]): Seconds of each turn.
    reference (Sequence[float]): Seconds of the same turns of the side to compare with.
    prefix (str): Of the columns.
    RETURNS (Dict[str, Any]): How many times as fast: median, lowest and highest.
    """
    names = (f"{which}{prefix}ratio" for which in ("", "lowest_", "highest_"))
    return spread(ratios(own, reference)).rounded(2).columns(*names)


def speed_columns(
    speeds: Sequence[float], name: str, *, prefix: str = "", digits: int | None = None
) -> dict[str, Any]:
    """Describe the speed of some turns.

    speeds (Sequence[float]): Items per second of each turn.
    name (str): Of the median's column.
    prefix (str): Of all columns.
    digits (Optional[int]): Decimals; none if not given.
    RETURNS (Dict[str, Any]): The median, the slowest and the fastest turn.
    """
    names = (f"{prefix}{each}" for each in (name, "slowest", "fastest"))
    return spread(speeds).rounded(digits).columns(*names)
