"""How likely candidates are right, from their scores and margins."""

import math
from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple

from ..concepts import Candidate

# The cosine of texts that have nothing in common, used as the score of a missing rival.
_UNRELATED = 0.0


class Calibration(NamedTuple):
    """A logistic regression: 1 / (1 + exp(-(intercept + score * a + margin * b))), where a is the
    score of a candidate and b its margin.

    intercept (float): Added to both.
    score (float): The weight of the score.
    margin (float): The weight of the margin, see `margins`.
    """

    intercept: float
    score: float
    margin: float

    def probability(self, score: float, margin: float) -> float:
        """Compute how likely a candidate is right.

        score (float): Its score.
        margin (float): How far it is ahead of its best rival (negative if it is behind).
        RETURNS (float): The probability, 0 to 1.
        """
        # The logistic function, without the overflow that exp() has far from 0.
        return (1 + math.tanh((self.intercept + self.score * score + self.margin * margin) / 2)) / 2


def with_probabilities(
    candidates: Sequence[Candidate], calibration: Calibration
) -> list[Candidate]:
    """Compute how likely each candidate is right. The probabilities of a part need not add up to 1:
    no candidate may be right, or several if one text denotes them all.

    candidates (Sequence[Candidate]): The candidates of a mention, best first, part by part. Give at
        least two per part if there are two, or the first one seems to have no rival.
    calibration (Calibration): Fitted with the same encoder and sieve.
    RETURNS (List[Candidate]): The same candidates with their `probability`.
    """
    return [
        candidate._replace(probability=calibration.probability(candidate.score, margin))
        for candidate, margin in zip(candidates, margins(candidates), strict=True)
    ]


def margins(candidates: Sequence[Candidate]) -> Iterator[float]:
    """Compute how far each candidate is ahead of its best rival.

    candidates (Sequence[Candidate]): The candidates of a mention, best first, part by part.
    YIELDS (float): The score minus the best score of another candidate of the same part: 0 or more
        for the first one, 0 or less for the others.
    """
    for _, rivals in groupby(candidates, key=attrgetter("part")):
        scores = [candidate.score for candidate in rivals]
        first, second = (*scores[:2], _UNRELATED)[:2]
        yield first - second
        for score in scores[1:]:
            yield score - first
