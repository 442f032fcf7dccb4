"""What answers for a mention: which interpretation, the whole or its parts if they link better, and
which concept id, or NIL.
"""

import re
from collections.abc import Collection, Sequence
from itertools import groupby
from operator import attrgetter

from ..concepts import NIL, Candidate
from ..index.concept_index import ConceptIndex
from ..lang import WordClasses
from .calibration import SAME_TEXT
from .texts import Interpretation

# How much higher parts must score than the whole. An additional word in a text makes a smaller
# difference. Chosen on the dev parts of NCBI and BC5CDR (0, 0.02, 0.05, 0.1).
_MARGIN = 0.05
# The minimum score of each part; if a part scores lower, the mention is not split. Chosen as above,
# and on coordinated names left out of MEDIC, DO and UBERON (none, 0.6 to 0.95).
_LEAST_SCORE = 0.7
_WORD = re.compile(r"\w+")
# Unlike the article, as in "hepatitis A and B".
_LETTER = "A"
# As PubTator writes a composite.
_ID_SEPARATOR = "|"


def best_first(
    interpretations: Sequence[Interpretation],
    classes: WordClasses,
    nil_threshold: float | None = None,
) -> list[Interpretation]:
    """Move the interpretation that answers to the front: the whole mention with the best score, or
    its parts if they link better. One that would be NIL does not answer before one that would not:
    a name in other words may score high and be hardly probable. If there are several ways to split
    the mention, a later one must link clearly better than the first.

    interpretations (Sequence[Interpretation]): At least one for the whole mention; ties go to the
        first.
    classes (WordClasses): The classes of words of the mention's language.
    nil_threshold (Optional[float]): As for `written_id`.
    RETURNS (List[Interpretation]): The same; the others keep their order.
    """
    if len(interpretations) == 1:
        return list(interpretations)
    wholes = [way for way in interpretations if way.kind != "parts"]
    linked = [way for way in wholes if written_id(way.candidates, nil_threshold) != NIL]
    # A cosine does not know what a short form stands for.
    is_doubted = any(way.certainty < 1 for way in wholes)
    order = _probability if is_doubted else attrgetter("score")
    whole = max(linked or wholes, key=order)
    parts = [
        way for way in interpretations if way.kind == "parts" and links_better(way, whole, classes)
    ]
    best = max((way.score for way in parts), default=0.0)
    chosen = next((way for way in parts if way.score >= best - _MARGIN), whole)
    others = [way for way in interpretations if way is not chosen]
    return [chosen if chosen is whole else _as_known(chosen, whole), *others]


def _probability(whole: Interpretation) -> float:
    """RETURNS (float): That of the first candidate; the score in an index without probabilities."""
    probability = whole.parts[0][0].probability if whole.parts[0] else None
    return whole.score if probability is None else probability


def _as_known(parts: Interpretation, whole: Interpretation) -> Interpretation:
    """Raise the scores of parts to those of the whole mention if the text of the whole denotes all
    parts, so that a composite annotated with all of its ids is as certain as its text.

    parts (Interpretation): The mention as its parts.
    whole (Interpretation): The mention as a whole.
    RETURNS (Interpretation): The parts.
    """
    if not parts.concepts <= whole.leading:
        return parts
    known = {candidate.concept_id: candidate for candidate in whole.parts[0]}
    return parts._replace(
        parts=tuple(
            [max(part[0], known[part[0].concept_id], key=attrgetter("score")), *part[1:]]
            for part in parts.parts
        )
    )


def links_better(parts: Interpretation, whole: Interpretation, classes: WordClasses) -> bool:
    """Check whether the parts of a mention answer. They must be different concepts. They answer if
    the best text for the whole denotes all of them, such as a composite that was annotated with all
    of its ids. Otherwise, no part may score low, the worst of them must score clearly higher than
    the whole, and the best text for the whole must not name every part, unless it is far from it
    and lacks what they share: a concept whose name coordinates them is more than its parts, but
    enlarged hands and feet are not "aphalangy of hands and feet". Parts that are names always score
    clearly higher than a whole that is not, however near it is: the whole answers only if its text
    has all that the parts say and nothing else. "Pain in right knee" is not "pain in left knee and
    right hip", nor are low sodium and potassium a "low sodium to potassium ratio".

    parts (Interpretation): The mention as its parts.
    whole (Interpretation): The mention as a whole.
    classes (WordClasses): The classes of words of its language.
    RETURNS (bool): Whether the parts answer.
    """
    if len(parts.concepts) < len(parts.parts):
        return False
    if parts.concepts <= whole.leading:
        return True
    are_names = whole.score < SAME_TEXT <= parts.score
    if not (are_names or parts.score > whole.score + _MARGIN):
        return False
    if parts.score < _LEAST_SCORE:
        return False
    by_part = [_words(text, classes) for text in parts.texts]
    named = _words(whole.parts[0][0].text, classes) if whole.parts[0] else set()
    if are_names:
        said, shared = set.union(*by_part), set.intersection(*by_part)
        return said == shared or not said - shared <= named <= said
    is_other = whole.score < _LEAST_SCORE and named.isdisjoint(set[str].intersection(*by_part))
    return is_other or not _names_all(named, by_part)


def _names_all(named: set[str], by_part: Sequence[set[str]]) -> bool:
    """Check whether the words of a text have one of each part that not all parts share.
    "Non-Hodgkin lymphoma" has none of those in "Hodgkin and non-Hodgkin lymphoma".
    """
    shared = set.intersection(*by_part)
    distinct = list(filter(None, [words - shared for words in by_part]))
    return bool(distinct) and all(words & named for words in distinct)


def _words(text: str, classes: WordClasses) -> set[str]:
    """List the content words of a text.

    RETURNS (Set[str]): The words that can name something.
    """
    words = {word if word == _LETTER else word.lower() for word in _WORD.findall(text)}
    return words - classes.negating_prefixes - classes.function_words


def prefer(candidates: list[Candidate], ids: Collection[str], index: ConceptIndex) -> None:
    """Move concepts that a text names by their ids to the front of those with the best score.

    candidates (List[Candidate]): The candidates of a mention, best first, which are reordered;
        those of parts are not.
    ids (Collection[str]): Texts that look like ids.
    index (ConceptIndex): Knows the concepts.
    """
    number = index.store.number
    stated = {number(concept_id) for concept_id in ids} - {None}
    if stated and not candidates[-1].part:
        best = candidates[0].score
        candidates.sort(
            key=lambda one: (-one.score, one.score == best and number(one.concept_id) not in stated)
        )


def written_id(candidates: Sequence[Candidate], nil_threshold: float | None) -> str:
    """Choose the id to write for a mention.

    candidates (Sequence[Candidate]): Part by part, best first.
    nil_threshold (Optional[float]): If the best candidate is less probable than this, the mention
        is NIL; None for never. Candidates without a probability are not NIL.
    RETURNS (str): The id of the best candidate; for a composite, the ids of its parts joined by
        `|`, without parts that are NIL; "NIL" if none is left.
    """
    if candidates and not candidates[-1].part:
        leading = candidates[:1]  # the usual case: no parts
    else:
        leading = [next(part) for _, part in groupby(candidates, key=attrgetter("part"))]
    linked: dict[str, None] = {}
    for candidate in leading:
        probability = candidate.probability
        if nil_threshold is None or probability is None or probability >= nil_threshold:
            linked[candidate.concept_id] = None
    return _ID_SEPARATOR.join(linked) or NIL
