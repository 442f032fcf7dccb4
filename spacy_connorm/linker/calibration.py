"""How likely candidates are right, from their scores and margins, and from what their names share
with the text that was searched.
"""

import math
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from operator import mul
from typing import NamedTuple

import numpy as np

from ..concepts import Candidate
from ..concepts.concept import by_part

# The cosine of texts that have nothing in common, used as the score of a missing rival.
_UNRELATED = 0.0
# The cosine of a text with itself, up to rounding.
SAME_TEXT = 0.9999
# Weak regularization, which only keeps weights from growing without limit if the answers are
# separable.
_INVERSE_PENALTY = 100.0
# The decimals of fitted numbers.
DIGITS = 8
_WORD = re.compile(r"[^\W_]+")
_CACHED = 4096


class CandidateFeatures(NamedTuple):
    """What a probability is computed from.

    score (float): The score of a candidate.
    margin (float): How far it is ahead of its best rival, see `margins`.
    shared (float): The share of letters that its name has in common with the text that was
        searched, see `shared_letters`.
    name (float): 1 if the text is the candidate's name, otherwise 0.
    extra (float): The number of letters of the longest word that the text has and the name lacks.
    lacking (float): The number of letters of the longest word that the name has and the text lacks.
    """

    score: float
    margin: float
    shared: float
    name: float
    extra: float
    lacking: float


class Calibration(NamedTuple):
    """A logistic regression: c / (1 + exp(-x)), where x is the intercept and each of the
    `CandidateFeatures` times its weight, and c the ceiling.

    intercept (float): What is added.
    score (float): The weight of the score.
    margin (float): The weight of the margin.
    shared (float): The weight of the shared letters.
    name (float): The weight of a text that is a name.
    extra (float): The weight of a letter of the longest word that the name lacks.
    lacking (float): The weight of a letter of the longest word that the text lacks.
    ceiling (float): The highest probability.
    """

    intercept: float
    score: float
    margin: float
    shared: float = 0.0
    name: float = 0.0
    extra: float = 0.0
    lacking: float = 0.0
    ceiling: float = 1.0

    @classmethod
    def fit(cls, features: np.ndarray, right: np.ndarray) -> "Calibration":
        """Fit a logistic regression.

        features (Floats2d): float64 (n, 6): the `CandidateFeatures` of n answers.
        right (Bools1d): bool (n,): which of them are right; some must be, and some not.
        RETURNS (Calibration): Its parameters, to eight decimals.
        """
        from sklearn.linear_model import LogisticRegression

        model = LogisticRegression(C=_INVERSE_PENALTY, max_iter=1000).fit(features, right)
        numbers = [*model.intercept_.tolist(), *model.coef_[0].tolist()]
        return cls(*(round(number, DIGITS) for number in numbers))

    def probability(self, features: CandidateFeatures) -> float:
        """Compute how likely a candidate is right.

        features (CandidateFeatures): What is known of it.
        RETURNS (float): The probability, 0 to 1.
        """
        logit = self.intercept + sum(map(mul, self[1:-1], features))
        # The logistic function, without the overflow that exp() has far from 0.
        return self.ceiling * (1 + math.tanh(logit / 2)) / 2


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
        candidate._replace(probability=calibration.probability(features))
        for candidate, features in zip(candidates, features_of(candidates), strict=True)
    ]


def features_of(candidates: Sequence[Candidate]) -> list[CandidateFeatures]:
    """Collect what the probabilities of candidates are computed from.

    candidates (Sequence[Candidate]): As for `with_probabilities`.
    RETURNS (List[CandidateFeatures]): One for each.
    """
    return [
        CandidateFeatures(
            candidate.score,
            margin,
            shared_letters(candidate.searched, candidate.text),
            # A name that a finder matched has a lower score, see `linking.REWORDED`.
            float(candidate.score >= SAME_TEXT or candidate.text == candidate.searched != ""),
            longest_extra_word(candidate.searched, candidate.text),
            longest_extra_word(candidate.text, candidate.searched),
        )
        for candidate, margin in zip(candidates, margins(candidates), strict=True)
    ]


def margins(candidates: Sequence[Candidate]) -> Iterator[float]:
    """Compute how far each candidate is ahead of its best rival. Concepts that share a name are no
    rivals: they have the same score, which says how likely the name is right, not which of them.

    candidates (Sequence[Candidate]): The candidates of a mention, best first, part by part.
    YIELDS (float): The score minus the best score of another candidate of the same part: over 0 for
        the first one and those with the same score, under 0 for the others.
    """
    if not candidates:
        return
    for rivals in by_part(candidates) if candidates[-1].part else [candidates]:
        scores = [candidate.score for candidate in rivals]
        first = scores[0]
        second = next((score for score in scores if score < first), _UNRELATED)
        for score in scores:
            yield score - (second if score == first else first)


def shared_letters(text: str, other: str) -> float:
    """Compute how similar the letters of two texts are.

    RETURNS (float): The share of the distinct sequences of three characters, including the spaces
        around a text, that both have, 0 to 1.
    """
    ours, others = _sequences(text), _sequences(other)
    both = len(ours & others)
    return both / max(len(ours) + len(others) - both, 1)


def longest_extra_word(text: str, other: str) -> float:
    """Find the longest word of a text that another lacks. One rare word ("chronic" beside
    "nonspherocytic") says more than two short ones, and the longer ones are rarer.

    RETURNS (float): The number of its letters and digits; 0 if there is none.
    """
    return float(max(map(len, _words(text) - _words(other)), default=0))


@lru_cache(_CACHED)
def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.lower()))


@lru_cache(_CACHED)
def _sequences(text: str) -> frozenset[str]:
    padded = f" {text.lower()} "
    return frozenset(map("".join, zip(padded, padded[1:], padded[2:], strict=False)))
