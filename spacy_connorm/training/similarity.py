"""Nearest texts by their vectors, for batchers."""

import numpy as np

# Scores in memory at once.
COMPARED_AT_ONCE = 2**24


def top_columns(scores: np.ndarray, count: int) -> np.ndarray:
    """Find the highest scores of each row.

    scores (Floats2d): (n, m).
    count (int): How many of each row, at most m.
    RETURNS (Ints2d): int64 (n, count): their columns, highest score first.
    """
    if not count:
        return np.empty((len(scores), 0), dtype="int64")
    top = np.argpartition(-scores, count - 1, axis=1)[:, :count]
    order = np.argsort(-np.take_along_axis(scores, top, axis=1), axis=1, kind="stable")
    return np.take_along_axis(top, order, axis=1)
