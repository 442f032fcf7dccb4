"""Kinds of wrong answers: what a person would have to mend.

Each kind is decided by one function of the gold standard, the answer and what is known of the
concepts. The first kind of `KINDS` that fits is a mention's: first what no answer could mend, then
how the mention was read, then how the answer stands to the gold standard, then what D lacks.
"""

import re
from collections.abc import Callable, Collection, Iterator
from typing import NamedTuple

from ..concepts import NIL
from ..text.cleaning import clean
from .protocol import Gold, Prediction, lenient_rank

OTHER = "other"
_LONGEST_ABBREVIATION = 10
_WORD = re.compile(r"(?<![\w\-./])[\w\-./]*\w")


class World(NamedTuple):
    """What is known of the concepts, under the ids that they have in the index.

    parents (Callable[[str], Collection[str]]): The ids of a concept's parents; none for an id that
        the index lacks.
    in_data (Callable[[str], bool]): Whether D has a text of a concept.
    """

    parents: Callable[[str], Collection[str]]
    in_data: Callable[[str], bool]


def is_not_in_ontology(gold: Gold, prediction: Prediction, world: World) -> bool:
    """RETURNS (bool): Whether the ontology has none of the gold ids, nor as alternate ids."""
    return not gold.in_ontology


def is_composite(gold: Gold, prediction: Prediction, world: World) -> bool:
    """RETURNS (bool): Whether the gold standard names several concepts, and the mention was looked
    up whole, so that no one id is all of it.
    """
    return len(gold.concept_ids) > 1 and not _is_split(prediction)


def is_wrong_part(gold: Gold, prediction: Prediction, world: World) -> bool:
    """RETURNS (bool): Whether the gold standard names several concepts, and the mention was split,
    but a part is missing, one too many or linked wrongly.
    """
    return len(gold.concept_ids) > 1 and _is_split(prediction)


def is_wrong_split(gold: Gold, prediction: Prediction, world: World) -> bool:
    """RETURNS (bool): Whether the gold standard names one concept, and the mention was split."""
    return len(gold.concept_ids) == 1 and _is_split(prediction)


def _is_split(prediction: Prediction) -> bool:
    return any(candidate.part for candidate in prediction.candidates)


def is_long_form(gold: Gold, prediction: Prediction, world: World) -> bool:
    """RETURNS (bool): Whether another text than the mention was looked up: what its document says
    that an abbreviation stands for. The definition misleads, or was read wrongly, or the long form
    is hard as well.
    """
    first = prediction.candidates[:1]
    return any(each.searched and clean(each.searched) != clean(gold.text) for each in first)


def is_abbreviation(gold: Gold, prediction: Prediction, world: World) -> bool:
    """RETURNS (bool): Whether a word of the mention looks like an abbreviation, as in "DM1" and
    "primary HPT": two to ten characters, of which two or more are capitals, and no more letters
    are small than capital. A mention of several words without any small letter is a heading.
    """
    words = _WORD.findall(gold.text)
    if len(words) > 1 and gold.text.upper() == gold.text:
        return False
    return any(_is_short_form(word) for word in words)


def _is_short_form(word: str) -> bool:
    capitals = sum(character.isupper() for character in word)
    small = sum(character.islower() for character in word)
    return len(word) <= _LONGEST_ABBREVIATION and capitals >= max(2, small)


def is_nil(gold: Gold, prediction: Prediction, world: World) -> bool:
    """RETURNS (bool): Whether nothing was written: no candidate, or all under the NIL threshold."""
    return prediction.written == NIL


def is_ambiguous(gold: Gold, prediction: Prediction, world: World) -> bool:
    """RETURNS (bool): Whether the gold concept shares the first place with the one that was
    written: the best text belongs to both.
    """
    return lenient_rank(prediction.candidates, gold) == 1


def is_ancestor(gold: Gold, prediction: Prediction, world: World) -> bool:
    """RETURNS (bool): Whether what was written is above the gold concept: too general."""
    above = (ancestors(each, world) for each in gold.concept_ids)
    return any(not prediction.written_ids.isdisjoint(each) for each in above)


def is_descendant(gold: Gold, prediction: Prediction, world: World) -> bool:
    """RETURNS (bool): Whether what was written is below the gold concept: too specific."""
    above = (ancestors(each, world) for each in prediction.written_ids)
    return any(not gold.concept_ids.isdisjoint(each) for each in above)


def is_unseen_concept(gold: Gold, prediction: Prediction, world: World) -> bool:
    """RETURNS (bool): Whether D has no text of any gold concept: only the ontology's names could
    lead there. (An unseen mention is another thing: its text is not in D.)
    """
    return not any(world.in_data(each) for each in gold.concept_ids)


Test = Callable[[Gold, Prediction, World], bool]
KINDS: dict[str, Test] = {
    "not in the ontology": is_not_in_ontology,
    "composite": is_composite,
    "wrong part": is_wrong_part,
    "wrong split": is_wrong_split,
    "long form": is_long_form,
    "abbreviation": is_abbreviation,
    "nil": is_nil,
    "ambiguous": is_ambiguous,
    "ancestor": is_ancestor,
    "descendant": is_descendant,
    "unseen concept": is_unseen_concept,
}
MEANINGS = {
    "not in the ontology": "the ontology has none of the gold ids",
    "composite": "the gold standard names several concepts, the mention was looked up whole",
    "wrong part": "the gold standard names several concepts, a part of the mention is wrong",
    "wrong split": "the gold standard names one concept, the mention was split",
    "long form": "the long form of an abbreviation was looked up, and led elsewhere",
    "abbreviation": "a word of the mention looks like an abbreviation, and was looked up as it is",
    "nil": "nothing was written: no candidate, or all under the NIL threshold",
    "ambiguous": "the gold concept shares the first place with the one that was written",
    "ancestor": "what was written is above the gold concept: too general",
    "descendant": "what was written is below the gold concept: too specific",
    "unseen concept": "D has no text of the gold concept",
    OTHER: "none of the kinds above",
}


def kind_of(gold: Gold, prediction: Prediction, world: World) -> str:
    """Tell what kind of mistake a wrong answer is.

    gold (Gold): What is right, at least one concept.
    prediction (Prediction): What the pipeline says; wrong by the strict protocol.
    world (World): What is known of the concepts.
    RETURNS (str): The first of `KINDS` that fits, or "other".
    """
    fitting = (kind for kind, fits in KINDS.items() if fits(gold, prediction, world))
    return next(fitting, OTHER)


def ancestors(concept_id: str, world: World) -> set[str]:
    """RETURNS (Set[str]): The ids of all concepts above one; circles of parents do no harm, and a
    concept in one is not above itself.
    """
    return set(_above(concept_id, world)) - {concept_id}


def _above(concept_id: str, world: World) -> Iterator[str]:
    reached, waiting = {concept_id}, [concept_id]
    while waiting:
        for parent in world.parents(waiting.pop()):
            if parent not in reached:
                reached.add(parent)
                waiting.append(parent)
                yield parent
