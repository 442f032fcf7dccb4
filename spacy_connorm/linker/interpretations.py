"""The interpretations of a mention, and which of them answers: the whole, or its parts if they link
better. Also the probabilities of candidates, and the rule for NIL.
"""

import math
import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Literal, NamedTuple

from ..concepts import NIL, Candidate
from ..lang import WordClasses

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

        score (float): Its cosine.
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
    for _, alike in groupby(candidates, key=lambda each: each.part):
        scores = [each.score for each in alike]
        first, second = (*scores[:2], _UNRELATED)[:2]
        yield first - second
        for score in scores[1:]:
            yield score - first


# Below every cosine.
_NOTHING_FOUND = -1.0
# How much higher parts must score than the whole. An additional word in a text makes a smaller
# difference. Chosen on the dev parts of NCBI and BC5CDR (0, 0.02, 0.05, 0.1).
_MARGIN = 0.05
# The minimum score of each part; if a part scores lower, the mention is not split. Chosen as above,
# and on coordinated names left out of MEDIC, DO and UBERON (none, 0.6 to 0.95).
_LEAST_SCORE = 0.7
_LEAST_PROBABILITY = 0.5
# The cosine of a text with itself, up to rounding.
SAME_TEXT = 0.9999
_WORD = re.compile(r"\w+")
# As PubTator writes a composite.
_ID_SEPARATOR = "|"


class Interpretation(NamedTuple):
    """One way to read a mention, and what was found for it.

    kind (str): "found name", "reworded name", "long form", "as written" or "parts".
    texts (Tuple[str, ...]): The texts searched: one, or one for each part.
    parts (Tuple[List[Candidate], ...]): The candidates of each text, best first.
    """

    kind: Literal["found name", "reworded name", "long form", "as written", "parts"]
    texts: tuple[str, ...]
    parts: tuple[list[Candidate], ...]

    @property
    def score(self) -> float:
        """The score of this interpretation.

        RETURNS (float): The best score; for several parts, that of the worst part.
        """
        return min(part[0].score if part else _NOTHING_FOUND for part in self.parts)

    @property
    def concepts(self) -> set[str]:
        """The concepts of this interpretation.

        RETURNS (Set[str]): The first concept of each part.
        """
        return {part[0].concept_id for part in self.parts if part}

    @property
    def candidates(self) -> list[Candidate]:
        """All candidates, with the number of their part.

        RETURNS (List[Candidate]): Part by part, best first.
        """
        if self.kind != "parts":
            return list(self.parts[0])
        return [
            candidate._replace(part=number)
            for number, part in enumerate(self.parts, start=1)
            for candidate in part
        ]

    def first(self, top_k: int) -> "Interpretation":
        """Keep the first candidates of each text.

        RETURNS (Interpretation): At most top_k candidates for each text.
        """
        return Interpretation(self.kind, self.texts, tuple([part[:top_k] for part in self.parts]))


def best_first(
    interpretations: Sequence[Interpretation], classes: WordClasses
) -> list[Interpretation]:
    """Move the interpretation that answers to the front: the whole mention with the best score, or
    its parts if they link better. If there are several ways to split it, a later one must link
    clearly better than the first.

    interpretations (Sequence[Interpretation]): At least one for the whole mention; ties go to the
        first.
    RETURNS (List[Interpretation]): The same; the others keep their order.
    """
    if len(interpretations) == 1:
        return list(interpretations)
    whole = max(
        (each for each in interpretations if each.kind != "parts"), key=lambda each: each.score
    )
    parts = [
        each
        for each in interpretations
        if each.kind == "parts" and links_better(each, whole, classes)
    ]
    best = max((each.score for each in parts), default=0.0)
    chosen = next((each for each in parts if each.score >= best - _MARGIN), whole)
    others = [each for each in interpretations if each is not chosen]
    return [chosen if chosen is whole else _as_known(chosen, whole), *others]


def _as_known(parts: Interpretation, whole: Interpretation) -> Interpretation:
    """Raise the scores of parts to those of the whole mention if the text of the whole denotes all
    parts, so that a composite annotated with all of its ids is as certain as its text.

    parts (Interpretation): The mention as its parts.
    whole (Interpretation): The mention as a whole.
    RETURNS (Interpretation): The parts.
    """
    if not parts.concepts <= _leading(whole):
        return parts
    known = {each.concept_id: each for each in whole.parts[0]}
    return parts._replace(
        parts=tuple(
            [max(part[0], known[part[0].concept_id], key=lambda each: each.score), *part[1:]]
            for part in parts.parts
        )
    )


def links_better(parts: Interpretation, whole: Interpretation, classes: WordClasses) -> bool:
    """Check whether the parts of a mention answer. They must be different concepts. They answer if
    the best text for the whole denotes all of them, such as a composite that was annotated with all
    of its ids. Otherwise, each part must be more likely right than wrong, the worst of them must
    score clearly higher than the whole, and the best text for the whole must not name every part: a
    concept whose name coordinates them is more than its parts. Parts that are names always score
    clearly higher than a whole that is not, however near it is ("medial and lateral condyle"), and
    also answer if the text for the whole has other words, too: low sodium and potassium are no "low
    sodium to potassium ratio".

    parts (Interpretation): The mention as its parts.
    whole (Interpretation): The mention as a whole.
    classes (WordClasses): The classes of words of its language.
    RETURNS (bool): Whether the parts answer.
    """
    if len(parts.concepts) < len(parts.parts):
        return False
    if parts.concepts <= _leading(whole):
        return True
    are_names = whole.score < SAME_TEXT <= parts.score
    if not (are_names or parts.score > whole.score + _MARGIN):
        return False
    if not all(map(_is_likely, parts.parts)):
        return False
    by_part = [_words(text, classes) for text in parts.texts]
    named = _words(whole.parts[0][0].text, classes) if whole.parts[0] else set()
    says_more = not named <= set.union(*by_part)
    return (are_names and says_more) or not _names_all(named, by_part)


def _is_likely(part: Sequence[Candidate]) -> bool:
    best = part[0]
    if best.probability is None:
        return best.score >= _LEAST_SCORE
    return best.probability >= _LEAST_PROBABILITY


def _names_all(named: set[str], by_part: Sequence[set[str]]) -> bool:
    """Check whether the words of a text have one of each part that not all parts share.
    "Non-Hodgkin lymphoma" has none of those in "Hodgkin and non-Hodgkin lymphoma".
    """
    shared = set.intersection(*by_part)
    own = list(filter(None, [words - shared for words in by_part]))
    return bool(own) and all(words & named for words in own)


def _words(text: str, classes: WordClasses) -> set[str]:
    """List the content words of a text.

    RETURNS (Set[str]): The words that can name something.
    """
    words = set(_WORD.findall(text.lower()))
    return words - classes.negating_prefixes - classes.function_words


def is_settled(interpretation: Interpretation) -> bool:
    """Check whether a mention is the name of a single concept, so that its parts cannot link
    better.

    RETURNS (bool): Whether it is.
    """
    return interpretation.score >= SAME_TEXT and len(_leading(interpretation)) == 1


def _leading(interpretation: Interpretation) -> set[str]:
    """Find the concepts with the best score for a whole mention.

    RETURNS (Set[str]): Their ids: several if one text denotes them all.
    """
    (candidates,) = interpretation.parts
    return {each.concept_id for each in candidates if each.score == candidates[0].score}


def written_id(candidates: Sequence[Candidate], nil_threshold: float | None) -> str:
    """Choose the id to write for a mention.

    candidates (Sequence[Candidate]): Part by part, best first.
    nil_threshold (Optional[float]): If the best score is below it, the mention is NIL; None for no
        threshold.
    RETURNS (str): The id of the best candidate; for a composite, the ids of its parts joined by
        `|`, without parts that are NIL; "NIL" if none is left.
    """
    if candidates and not candidates[-1].part:
        leading = candidates[:1]  # the usual case: no parts
    else:
        leading = [next(part) for _, part in groupby(candidates, key=lambda each: each.part)]
    linked = [
        each.concept_id for each in leading if nil_threshold is None or each.score >= nil_threshold
    ]
    return _ID_SEPARATOR.join(dict.fromkeys(linked)) or NIL
