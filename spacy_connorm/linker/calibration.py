"""Probabilities of candidates: how often ones with such scores were right on dev data."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby

from ..concepts import Candidate

# The cosine of texts that have nothing in common: it stands in for a missing rival's score.
_UNRELATED = 0.0


@dataclass(frozen=True)
class Calibration:
    """A logistic regression: 1 / (1 + exp(-(intercept + score * a + margin * b))), where a is the
    score of a candidate and b its margin.

    intercept (float): Added to both.
    score (float): The weight of the score.
    margin (float): The weight of the margin, see `margins`.
    """

    intercept: float
    score: float
    margin: float

    def to_dict(self) -> dict[str, float]:
        """RETURNS (Dict[str, float]): The setting `calibration` of a concept normalizer."""
        return asdict(self)

    def probability(self, score: float, margin: float) -> float:
        """RETURNS (float): How likely a candidate is right, 0 to 1.

        score (float): Its cosine.
        margin (float): How far it is ahead of its best rival, or behind it.
        """
        # The logistic function, without the overflow that exp() has far from 0.
        return (1 + math.tanh((self.intercept + self.score * score + self.margin * margin) / 2)) / 2


def with_probabilities(
    candidates: Sequence[Candidate], calibration: Calibration
) -> list[Candidate]:
    """Compute how likely each candidate is right by itself: those of a part need not add up to 1,
    since none may be, and several can be where one text denotes them all.

    candidates (Sequence[Candidate]): Those of a mention, best first, part by part; at least two of
        a part if there are two, or its first one seems to have no rival.
    calibration (Calibration): Fitted with the encoder and the sieve that gave the scores.
    RETURNS (List[Candidate]): The same, each with its `probability`.
    """
    return [
        candidate._replace(probability=calibration.probability(candidate.score, margin))
        for candidate, margin in zip(candidates, margins(candidates), strict=True)
    ]


def margins(candidates: Sequence[Candidate]) -> Iterator[float]:
    """Compute how far ahead of or behind its best rival each candidate is.

    candidates (Sequence[Candidate]): Those of a mention, best first, part by part.
    YIELDS (float): The score less the best score of another candidate of the same part: 0 or more
        for the first one, 0 or less for the others.
    """
    for _, alike in groupby(candidates, key=lambda each: each.part):
        scores = [each.score for each in alike]
        first, second = (*scores[:2], _UNRELATED)[:2]
        yield first - second
        for score in scores[1:]:
            yield score - first
