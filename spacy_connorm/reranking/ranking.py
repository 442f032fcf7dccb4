"""Which mentions are ranked again, and in what order their candidates come. It must stay light."""

from collections.abc import Iterable, Sequence

import numpy as np

from ..concepts import Candidate


def is_ranked(candidates: Sequence[Candidate]) -> bool:
    """RETURNS (bool): Whether there is anything to choose from. The parts of composites are not
    ranked.
    """
    return len(candidates) > 1 and not candidates[-1].part


def rank_again(found: Iterable[Sequence[Candidate]], scores: np.ndarray) -> list[list[Candidate]]:
    """Put candidates in the order of the reranker's scores; those that score alike keep their
    order.

    found (Iterable[Sequence[Candidate]]): The candidates of all mentions of a document.
    scores (Floats1d): (c,) scores of those that are ranked, in order.
    RETURNS (List[List[Candidate]]): The same candidates with the same cosines.
    """
    ranked, start = [], 0
    for candidates in found:
        order = np.arange(len(candidates))
        if is_ranked(candidates):
            end = start + len(candidates)
            order, start = np.argsort(-scores[start:end], kind="stable"), end
        ranked.append([candidates[place] for place in order.tolist()])
    return ranked
