"""Values looked up in sorted arrays, such as those that are opened memory-mapped."""

import numpy as np


def find_sorted(known: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Find where values stand.

    known (np.ndarray): (n,), sorted.
    values (np.ndarray): Of any shape with at least one dimension, of the same dtype.
    RETURNS (np.ndarray): int64, of their shape: the first place of each value among the known ones;
        -1 for others.
    """
    if not len(known):
        return np.full(values.shape, -1, dtype="int64")
    places = np.searchsorted(known, values)
    places[places == len(known)] = 0
    places[known[places] != values] = -1
    return places


def are_among(known: np.ndarray, values: np.ndarray) -> np.ndarray:
    """RETURNS (np.ndarray): bool, of their shape: whether each value is among the known ones.

    known (np.ndarray): (n,), sorted.
    values (np.ndarray): Of any shape with at least one dimension, of the same dtype.
    """
    return find_sorted(known, values) >= 0
