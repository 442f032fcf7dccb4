"""Wrong answers as rows for people to read, grouped by what would have to be fixed."""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

import numpy as np

from ..concepts import NIL
from ..concepts.concept import by_part
from ..index.search import D
from ..linker.lookup import ConceptLookup
from ..text.cleaning import clean
from ..text.short_forms import is_short_form
from .metrics import Gold, Prediction, lenient_rank, strict_rank
from .report import Row, count_alike

OTHER = "other"
_WORD = re.compile(r"(?<![\w\-./])[\w\-./]*\w")
# Mistakes are counted for each combination of these.
_RUN = ("pipeline", "run", "protocol")
_JOIN = " | "


class ConceptFacts(NamedTuple):
    """Facts about concepts, by their ids in the index.

    ancestors (Callable[[str], Collection[str]]): Returns the ids of the concepts above a concept,
        without its own; none if it is not in the index.
    in_data (Callable[[str], bool]): Returns whether D has a text of the concept.
    """

    ancestors: Callable[[str], Collection[str]]
    in_data: Callable[[str], bool]


def concept_facts(lookup: ConceptLookup) -> ConceptFacts:
    """Collect the facts about the concepts of an index that determine the kinds of mistakes.

    lookup (ConceptLookup): The lookup with the index.
    RETURNS (ConceptFacts): Ancestors and D.
    """
    store, in_data = lookup.index.store, _data_concepts(lookup)

    def ancestors(concept_id: str) -> set[str]:
        number = store.number(concept_id)
        # Parents may form cycles.
        above = set() if number is None else store.ancestors(number) - {number}
        return {concept_id for concept_id, _ in store.labels(above).values()}

    return ConceptFacts(ancestors, lambda concept_id: store.number(concept_id) in in_data)


def _data_concepts(lookup: ConceptLookup) -> set[int]:
    index, overlay = lookup.index, lookup.overlay
    mine = np.flatnonzero(index.members.target & D)
    rows, concepts = index.members.row_numbers[mine].tolist(), index.members.concept[mine].tolist()
    held = set(zip(rows, concepts, strict=True)) - overlay.removed
    added = {number for denoted in overlay.added for number in denoted}
    return {number for _, number in held} | added


def kind_of(gold: Gold, prediction: Prediction, facts: ConceptFacts) -> str:
    """Find the kind of a wrong answer.

    gold (Gold): The gold standard, at least one concept.
    prediction (Prediction): The pipeline's answer, wrong by the strict protocol.
    facts (ConceptFacts): Facts about the concepts.
    RETURNS (str): The first of the kinds that applies; "other" always does.
    """
    return next(kind for kind, applies in KINDS.items() if applies(gold, prediction, facts))


def _is_long_form(gold: Gold, prediction: Prediction) -> bool:
    """Check whether the long form is the problem: the document's definition was wrong or misread,
    or the long form is also hard to link.
    """
    first = prediction.candidates[:1]
    return any(
        candidate.searched and clean(candidate.searched) != clean(gold.text) for candidate in first
    )


def has_abbreviation(mention: str) -> bool:
    """Check whether a word looks like an abbreviation, as in "DM1" and "primary HPT", see
    `is_short_form`. Several words that are all in capitals are a heading instead.

    mention (str): The mention.
    RETURNS (bool): True if one does.
    """
    words = _WORD.findall(mention)
    is_heading = len(words) > 1 and mention.upper() == mention
    return not is_heading and any(map(is_short_form, words))


def is_ancestor(gold: Gold, prediction: Prediction, facts: ConceptFacts) -> bool:
    """Check whether the written concept is an ancestor of a gold concept.

    gold (Gold): The gold standard.
    prediction (Prediction): The pipeline's answer.
    facts (ConceptFacts): Facts about the concepts.
    RETURNS (bool): True if it is, so that it is too general.
    """
    above = map(facts.ancestors, gold.concept_ids)
    return any(not prediction.written_ids.isdisjoint(ids) for ids in above)


def _is_descendant(gold: Gold, prediction: Prediction, facts: ConceptFacts) -> bool:
    above = map(facts.ancestors, prediction.written_ids)
    return any(not gold.concept_ids.isdisjoint(ids) for ids in above)


def _is_split(prediction: Prediction) -> bool:
    return any(candidate.part for candidate in prediction.candidates)


# The kinds of mistakes, in the order in which they are checked and listed.
KINDS: dict[str, Callable[[Gold, Prediction, ConceptFacts], bool]] = {
    "not in the ontology": lambda gold, answer, facts: not gold.in_ontology,
    "composite": lambda gold, answer, facts: len(gold.concept_ids) > 1 and not _is_split(answer),
    "wrong part": lambda gold, answer, facts: len(gold.concept_ids) > 1,
    "wrong split": lambda gold, answer, facts: _is_split(answer),
    "long form": lambda gold, answer, facts: _is_long_form(gold, answer),
    "abbreviation": lambda gold, answer, facts: has_abbreviation(gold.text),
    "nil": lambda gold, answer, facts: answer.written == NIL,
    "ambiguous": lambda gold, answer, facts: lenient_rank(answer.candidates, gold) == 1,
    "ancestor": is_ancestor,
    "descendant": _is_descendant,
    "unseen concept": lambda gold, answer, facts: not any(map(facts.in_data, gold.concept_ids)),
    OTHER: lambda gold, answer, facts: True,
}


def list_mistakes(
    gold: Sequence[Gold],
    predictions: Sequence[Prediction],
    names: Mapping[str, str],
    facts: ConceptFacts,
) -> list[Row]:
    """List the mentions with gold ids that are wrong by the strict protocol, by kind, the most
    frequent first. A mention that occurs several times with the same answer is a single row.

    gold (Sequence[Gold]): The gold standard of n mentions.
    predictions (Sequence[Prediction]): The pipeline's answers to them.
    names (Mapping[str, str]): Preferred names by concept id; other ids are shown as not in the
        index.
    facts (ConceptFacts): Facts about the concepts, to find the kinds.
    RETURNS (List[Dict[str, Any]]): "kind", see `kind_of`; "times", "mention", "gold", "gold_names";
        "written", "name", "score", "text", "search" and "searched" of the answer; "lenient":
        whether it is right by the lenient protocol; "rank": the rank of the first right candidate
        by that protocol, None if there is none. Values of a composite's parts are joined by `|`;
        the score is the lowest of them.
    """
    rows = (
        _describe(mention, prediction, names, facts)
        for mention, prediction in zip(gold, predictions, strict=True)
        if mention.concept_ids and strict_rank(prediction, mention) != 1
    )
    return count_alike(rows, list(KINDS))


def _describe(
    gold: Gold, prediction: Prediction, names: Mapping[str, str], facts: ConceptFacts
) -> Row:
    rank, gold_ids = lenient_rank(prediction.candidates, gold), sorted(gold.concept_ids)
    answers = [part[0] for part in by_part(prediction.candidates)]
    return {
        "kind": kind_of(gold, prediction, facts),
        "mention": gold.text,
        "gold": " ".join(gold_ids),
        "gold_names": "; ".join(names.get(gold_id, "not in the index") for gold_id in gold_ids),
        "written": prediction.written,
        "name": _JOIN.join(answer.name for answer in answers),
        "score": round(min(answer.score for answer in answers), 4) if answers else None,
        "text": _JOIN.join(answer.text for answer in answers),
        "search": _JOIN.join(dict.fromkeys(answer.search for answer in answers)),
        "searched": _JOIN.join(answer.searched for answer in answers),
        "lenient": rank == 1,
        "rank": rank or None,
    }


def count_kinds(rows: Sequence[Row]) -> list[Row]:
    """Count the wrong answers of each kind.

    rows (Sequence[Dict[str, Any]]): Results of `list_mistakes`; of several runs if these are named.
    RETURNS (List[Dict[str, Any]]): For each run and kind, the mentions, their share of all wrong
        answers in percent, and how many of them are right leniently.
    """
    counts = []
    for run, listed in groupby(rows, key=lambda row: {key: row[key] for key in _RUN if key in row}):
        mistakes = list(listed)
        total = sum(row["times"] for row in mistakes)
        for kind, alike in groupby(mistakes, key=itemgetter("kind")):
            times = [(row["times"], row["lenient"]) for row in alike]
            mentions = sum(count for count, _ in times)
            lenient = sum(count for count, is_lenient in times if is_lenient)
            shares = {"mentions": mentions, "percent": 100 * mentions / total, "lenient": lenient}
            counts.append({**run, "kind": kind, **shares})
    return counts
