"""Significance of scores: bootstrap intervals and paired tests (Efron and Tibshirani 1993)."""

from typing import NamedTuple

import numpy as np

RESAMPLES = 10_000
LEVEL = 0.95
SEED = 0


class Interval(NamedTuple):
    """The middle 95 % of the means of the resamples.

    low (float): The lower end.
    high (float): The upper end.
    """

    low: float
    high: float


class Comparison(NamedTuple):
    """The difference between the means of two runs over the same mentions, or between the mean of
    one run and a published number.

    difference (float): The first mean minus the second.
    interval (Interval): The interval of the difference.
    p (float): The two-sided p value.
    """

    difference: float
    interval: Interval
    p: float


def bootstrap(
    values: np.ndarray, *, resamples: int = RESAMPLES, seed: int = SEED, level: float = LEVEL
) -> Interval:
    """Compute the percentile interval of a mean.

    values (Floats1d): (n,) one per mention, at least one.
    resamples (int): The number of resamples of n values, with replacement.
    seed (int): Of the resampling; equal seeds give equal intervals.
    level (float): The share of resamples inside the interval.
    RETURNS (Interval): The interval.
    """
    return _middle(_resampled_means(values, resamples, seed), level)


def paired_bootstrap(
    one: np.ndarray,
    other: np.ndarray,
    *,
    resamples: int = RESAMPLES,
    seed: int = SEED,
    level: float = LEVEL,
) -> Comparison:
    """Compare two runs over the same mentions, which are resampled together.

    one (Floats1d): (n,) the first run's values, at least one.
    other (Floats1d): (n,) the second run's, in the same order.
    resamples (int): As for `bootstrap`.
    seed (int): As for `bootstrap`.
    level (float): As for `bootstrap`.
    RETURNS (Comparison): The difference of the means, its interval and p.
    """
    differences = one - other
    means = _resampled_means(differences, resamples, seed)
    tail = min(np.count_nonzero(means <= 0), np.count_nonzero(means >= 0))
    return Comparison(
        difference=float(differences.mean()),
        interval=_middle(means, level),
        p=min(1.0, 2 * (int(tail) + 1) / (resamples + 1)),
    )


def one_sample_bootstrap(
    values: np.ndarray,
    published: float,
    *,
    resamples: int = RESAMPLES,
    seed: int = SEED,
    level: float = LEVEL,
) -> Comparison:
    """Compare a run with a published number, whose mentions are not at hand: the run alone is
    resampled, as in Xu and Bethard (2021, section 6). What chance had in the other number is not
    known, so p is smaller than that of a paired comparison of two such runs would be.

    values (Floats1d): (n,) one per mention, at least one.
    published (float): The mean that is published.
    resamples (int): As for `bootstrap`.
    seed (int): As for `bootstrap`.
    level (float): As for `bootstrap`.
    RETURNS (Comparison): The mean minus the published number, the interval of that and p.
    """
    same = np.full(len(values), published)
    return paired_bootstrap(values, same, resamples=resamples, seed=seed, level=level)


def _resampled_means(values: np.ndarray, resamples: int, seed: int) -> np.ndarray:
    # A resample's mean depends only on how often it has each distinct value, and there are few.
    distinct, counts = np.unique(values, return_counts=True)
    draws = np.random.default_rng(seed).multinomial(
        len(values), counts / len(values), size=resamples
    )
    return draws @ distinct / len(values)


def _middle(means: np.ndarray, level: float) -> Interval:
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(low), float(high))
