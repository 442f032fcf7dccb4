"""Synonym retrieval: how high the names of a concept rank when one of them is the query."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..encoders.vectors import unit_rows

# Cosines in memory at once.
_COMPARED_AT_ONCE = 2**24


class RetrievalScores(NamedTuple):
    """Means over the texts that were asked for, 0 to 1 (Fivez et al. 2021, section 5.1).

    map (float): Mean average precision, over the names of the text's concept.
    accuracy (float): The share of texts whose first name is one of these.
    mrr (float): One divided by the rank of the first of them.
    """

    map: float
    accuracy: float
    mrr: float


def score_retrieval(
    queries: np.ndarray,
    names: np.ndarray,
    relevant: Sequence[np.ndarray],
    *,
    itself: np.ndarray | None = None,
) -> RetrievalScores:
    """Rank all names by their cosine with each query, block by block; see `relevant_ranks`.

    queries (Floats2d): float32 (q, width), of any length.
    names (Floats2d): float32 (n, width), of any length.
    relevant (Sequence[Ints1d]): Of each query: the names to find, at least one, each once.
    itself (Optional[Ints1d]): int64 (q,), the query's own place among the names, which is left out.
    RETURNS (RetrievalScores): The scores.
    """
    queries, names = unit_rows(queries), unit_rows(names)
    averages, ranks = np.zeros(len(queries)), np.zeros(len(queries), dtype="int64")
    at_once = max(1, _COMPARED_AT_ONCE // max(len(names), 1))
    for start in range(0, len(queries), at_once):
        block = queries[start : start + at_once] @ names.T
        for place, cosines in enumerate(block, start=start):
            if itself is not None:
                cosines[itself[place]] = -np.inf
            found = relevant_ranks(cosines, relevant[place])
            averages[place] = average_precision(found)
            ranks[place] = found[0]
    return RetrievalScores(
        float(averages.mean()), float((ranks == 1).mean()), float((1 / ranks).mean())
    )


def relevant_ranks(scores: np.ndarray, relevant: np.ndarray) -> np.ndarray:
    """Rank names by their scores. A name that scores as much as a relevant one ranks before it, so
    ties earn nothing.

    scores (Floats1d): (n,), of all names.
    relevant (Ints1d): (k,), the places of the names to find.
    RETURNS (Ints1d): int64 (k,), their ranks, ascending, from 1.
    """
    wanted = np.sort(scores[relevant])[::-1]
    others = np.delete(scores, relevant)
    # There are few relevant names among many others, so nothing is sorted.
    before = np.array([np.count_nonzero(others >= each) for each in wanted])
    return before + np.arange(1, len(wanted) + 1)


def average_precision(ranks: np.ndarray) -> float:
    """Average the precision over relevant names.

    ranks (Ints1d): (k,), their ranks, ascending, from 1.
    RETURNS (float): From 0 to 1: the mean, over the ranks, of the share of relevant names
        up to there.
    """
    return float(np.mean(np.arange(1, len(ranks) + 1) / ranks))
