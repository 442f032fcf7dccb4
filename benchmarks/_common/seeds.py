"""Means over trainings that differ in their seed."""

import sys
from argparse import Namespace
from collections.abc import Callable, Iterable, Sequence
from statistics import mean, stdev
from typing import TypeVar

from _common.config_variants import per_seed
from spacy_connorm.evaluation.report import Row

Measured = TypeVar("Measured")


def by_seed(
    names: Iterable[str], seeds: int, measure: Callable[[str, int], Measured]
) -> dict[str, list[Measured]]:
    """Measure with each seed, and tell it. One seed after the other, so that a run that is stopped
    has whole ones.

    names (Iterable[str]): What to measure.
    seeds (int): How many.
    measure (Callable): From a name and a seed to what was measured.
    RETURNS (Dict[str, List[Measured]]): By name what was measured with each seed.
    """
    found: dict[str, list[Measured]] = {name: [] for name in names}
    for seed in range(seeds):
        for name, own in found.items():
            own.append(measure(name, seed))
            print(f"{name}, seed {seed}: {own[-1]}", file=sys.stderr)
    return found


def mean_columns(rows: Sequence[Row], scores: Sequence[str]) -> Row:
    """RETURNS (Dict[str, Any]): The mean of each score over the rows, and half its 95 % interval by
    Student's t (None for one row).
    """
    columns: Row = {}
    for score in scores:
        values = [row[score] for row in rows]
        columns[score] = round(mean(values), 2)
        columns[f"{score} +-"] = half_width(values)
    return columns


def over_seeds(
    measure: Callable[[Namespace], list[Row]], arguments: Namespace, spread: Sequence[str]
) -> list[Row]:
    """Measure once, or with `--seeds` for each of them.

    measure (Callable): From a command's arguments to its rows.
    arguments (Namespace): With the option of `add_seeds`.
    spread (Sequence[str]): As for `mean_rows`.
    RETURNS (List[Dict[str, Any]]): The rows, or their means.
    """
    if arguments.seeds is None:
        return measure(arguments)
    rows = mean_rows([measure(seed) for seed in per_seed(arguments)], spread)
    return [{**row, "encoder": arguments.encoder} for row in rows]


def mean_rows(runs: Sequence[Sequence[Row]], spread: Sequence[str]) -> list[Row]:
    """Average what was measured with several encoders that differ in their seed.

    runs (Sequence[Sequence[Dict[str, Any]]]): The rows of each, in the same order.
    spread (Sequence[str]): Columns that get a half width beside them.
    RETURNS (List[Dict[str, Any]]): The first run's rows, with each float replaced by its mean, and
        without the bounds of intervals over mentions, whose means are no bounds, and without p.
    """
    rows = []
    for same in zip(*runs, strict=True):
        row: Row = {"seeds": len(runs)}
        for name, value in same[0].items():
            if name.endswith(("_low", "_high", "_p")):
                continue
            is_score = isinstance(value, float)
            row[name] = round(mean(each[name] for each in same), 2) if is_score else value
        row |= {f"{name} +-": half_width([each[name] for each in same]) for name in spread}
        rows.append(row)
    return rows


def half_width(values: Sequence[float]) -> float | None:
    """RETURNS (Optional[float]): Half the 95 % interval of the mean; None for one value."""
    if len(values) < 2:
        return None
    from scipy.stats import t

    return round(float(t.ppf(0.975, len(values) - 1)) * stdev(values) / len(values) ** 0.5, 2)
