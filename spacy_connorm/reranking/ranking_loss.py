"""The reranker's objective: the cross entropy of the right candidates of each mention."""

import numpy as np


def ranking_loss(
    scores: np.ndarray, mention: np.ndarray, right: np.ndarray
) -> tuple[float, np.ndarray]:
    """Compare scores with what is right: minus the logarithm of the probability, by a softmax over
    the candidates of a mention, that a right one is chosen. Mentions without a right candidate, or
    without a wrong one, do not count.

    scores (Floats1d): (c,) scores, at least one.
    mention (Ints1d): int64 (c,): the mention of each, mentions in order.
    right (Bools1d): bool (c,): whether each is right.
    RETURNS (Tuple[float, Floats1d]): The mean over mentions, and its gradient (c,).
    """
    starts = np.flatnonzero(np.diff(mention, prepend=-1))
    sizes = np.diff([*starts, len(mention)])
    hits = np.add.reduceat(right.astype("int64"), starts)
    counted = (hits > 0) & (hits < sizes)
    if not counted.any():
        return 0.0, np.zeros_like(scores)
    everything, predicted = _softmax(scores, starts, sizes)
    # Of a mention that does not count any candidate will do.
    left = right | ~np.repeat(counted, sizes)
    among_right, wanted = _softmax(np.where(left, scores, -np.inf), starts, sizes)
    loss = (everything - among_right)[counted].sum() / counted.sum()
    gradient = np.where(np.repeat(counted, sizes), predicted - wanted, 0) / counted.sum()
    return float(loss), gradient.astype(scores.dtype)


def _softmax(
    scores: np.ndarray, starts: np.ndarray, sizes: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """RETURNS (Tuple[Floats1d, Floats1d]): The logarithm of each mention's sum of exponents (m,),
    and the share of each score in it (c,).
    """
    best = np.maximum.reduceat(scores, starts)
    exponents = np.exp(scores - np.repeat(best, sizes))
    total = np.add.reduceat(exponents, starts)
    return np.log(total) + best, exponents / np.repeat(total, sizes)
