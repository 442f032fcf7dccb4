"""Kinds of wrong answers, by what would have to be fixed.

One function per kind checks the gold standard, the answer and the concepts. A mention has the first
kind of `KINDS` that fits: first those that no answer could fix, then how the mention was read, then
how the answer relates to the gold standard, then what D lacks.
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


class ConceptFacts(NamedTuple):
    """Facts about concepts, by their ids in the index.

    parents (Callable[[str], Collection[str]]): The ids of a concept's parents; none if the index
        lacks the concept.
    in_data (Callable[[str], bool]): Whether D has a text of the concept.
    """

    parents: Callable[[str], Collection[str]]
    in_data: Callable[[str], bool]


def is_not_in_ontology(gold: Gold, prediction: Prediction, facts: ConceptFacts) -> bool:
    """RETURNS (bool): Whether the ontology has none of the gold ids, not even as alternate ids."""
    return not gold.in_ontology


def is_composite(gold: Gold, prediction: Prediction, facts: ConceptFacts) -> bool:
    """RETURNS (bool): Whether the gold standard has several concepts, but the mention was searched
    as a whole, so no single id can be right.
    """
    return len(gold.concept_ids) > 1 and not _is_split(prediction)


def is_wrong_part(gold: Gold, prediction: Prediction, facts: ConceptFacts) -> bool:
    """RETURNS (bool): Whether the gold standard has several concepts and the mention was split, but
    a part is missing, superfluous or wrong.
    """
    return len(gold.concept_ids) > 1 and _is_split(prediction)


def is_wrong_split(gold: Gold, prediction: Prediction, facts: ConceptFacts) -> bool:
    """RETURNS (bool): Whether the gold standard has one concept, but the mention was split."""
    return len(gold.concept_ids) == 1 and _is_split(prediction)


def _is_split(prediction: Prediction) -> bool:
    return any(candidate.part for candidate in prediction.candidates)


def is_long_form(gold: Gold, prediction: Prediction, facts: ConceptFacts) -> bool:
    """RETURNS (bool): Whether the long form of an abbreviation was searched instead of the mention.
    The document's definition was wrong or misread, or the long form is hard to link too.
    """
    first = prediction.candidates[:1]
    return any(each.searched and clean(each.searched) != clean(gold.text) for each in first)


def is_abbreviation(gold: Gold, prediction: Prediction, facts: ConceptFacts) -> bool:
    """RETURNS (bool): Whether a word of the mention looks like an abbreviation, as in "DM1" and
    "primary HPT": at most ten characters, at least two capitals, and at least as many capitals as
    lower-case letters. Several words in capitals only are a heading instead.
    """
    words = _WORD.findall(gold.text)
    if len(words) > 1 and gold.text.upper() == gold.text:
        return False
    return any(_is_short_form(word) for word in words)


def _is_short_form(word: str) -> bool:
    capitals = sum(character.isupper() for character in word)
    small = sum(character.islower() for character in word)
    return len(word) <= _LONGEST_ABBREVIATION and capitals >= max(2, small)


def is_nil(gold: Gold, prediction: Prediction, facts: ConceptFacts) -> bool:
    """RETURNS (bool): Whether NIL was written: no candidate, or all below the NIL threshold."""
    return prediction.written == NIL


def is_ambiguous(gold: Gold, prediction: Prediction, facts: ConceptFacts) -> bool:
    """RETURNS (bool): Whether the gold concept ties with the written one: the best text belongs to
    both.
    """
    return lenient_rank(prediction.candidates, gold) == 1


def is_ancestor(gold: Gold, prediction: Prediction, facts: ConceptFacts) -> bool:
    """RETURNS (bool): Whether the written concept is an ancestor of a gold one: too general."""
    above = (ancestors(each, facts) for each in gold.concept_ids)
    return any(not prediction.written_ids.isdisjoint(each) for each in above)


def is_descendant(gold: Gold, prediction: Prediction, facts: ConceptFacts) -> bool:
    """RETURNS (bool): Whether the written concept is a descendant of a gold one: too specific."""
    above = (ancestors(each, facts) for each in prediction.written_ids)
    return any(not gold.concept_ids.isdisjoint(each) for each in above)


def is_unseen_concept(gold: Gold, prediction: Prediction, facts: ConceptFacts) -> bool:
    """RETURNS (bool): Whether D has no text of any gold concept, so only names of the ontology can
    match. (An unseen mention is something else: its text is not in D.)
    """
    return not any(facts.in_data(each) for each in gold.concept_ids)


Test = Callable[[Gold, Prediction, ConceptFacts], bool]
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
    "composite": "the gold standard has several concepts, the mention was searched as a whole",
    "wrong part": "the gold standard has several concepts, a part of the mention is wrong",
    "wrong split": "the gold standard has one concept, the mention was split",
    "long form": "the long form of an abbreviation was searched instead of the mention",
    "abbreviation": "a word of the mention looks like an abbreviation, and was not expanded",
    "nil": "NIL was written: no candidate, or all below the NIL threshold",
    "ambiguous": "the gold concept ties with the one that was written",
    "ancestor": "the written concept is an ancestor of the gold concept: too general",
    "descendant": "the written concept is a descendant of the gold concept: too specific",
    "unseen concept": "D has no text of the gold concept",
    OTHER: "none of the kinds above",
}


def kind_of(gold: Gold, prediction: Prediction, facts: ConceptFacts) -> str:
    """Find the kind of a wrong answer.

    gold (Gold): The gold standard, at least one concept.
    prediction (Prediction): The pipeline's answer, wrong by the strict protocol.
    facts (ConceptFacts): Facts about the concepts.
    RETURNS (str): The first of `KINDS` that fits, or "other".
    """
    fitting = (kind for kind, fits in KINDS.items() if fits(gold, prediction, facts))
    return next(fitting, OTHER)


def ancestors(concept_id: str, facts: ConceptFacts) -> set[str]:
    """RETURNS (Set[str]): The ids of all ancestors of a concept. Cycles of parents are harmless: a
    concept is never its own ancestor.
    """
    return set(_above(concept_id, facts)) - {concept_id}


def _above(concept_id: str, facts: ConceptFacts) -> Iterator[str]:
    reached, waiting = {concept_id}, [concept_id]
    while waiting:
        for parent in facts.parents(waiting.pop()):
            if parent not in reached:
                reached.add(parent)
                waiting.append(parent)
                yield parent
