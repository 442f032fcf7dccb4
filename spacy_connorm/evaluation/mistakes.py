"""Wrong answers as rows for people, grouped by what would have to be fixed."""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

from ..concepts import NIL
from ..text.cleaning import clean
from .protocol import Gold, Prediction, by_part, lenient_rank, strict_rank
from .report import Row, to_table

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
    """Tell whether the ontology has none of the gold ids, not even as alternate ids."""
    return not gold.in_ontology


def is_composite(gold: Gold, prediction: Prediction, facts: ConceptFacts) -> bool:
    """Tell whether the gold standard has several concepts, but the mention was searched
    as a whole, so no single id can be right.
    """
    return len(gold.concept_ids) > 1 and not _is_split(prediction)


def is_wrong_part(gold: Gold, prediction: Prediction, facts: ConceptFacts) -> bool:
    """Tell whether the gold standard has several concepts and the mention was split, but
    a part is missing, superfluous or wrong.
    """
    return len(gold.concept_ids) > 1 and _is_split(prediction)


def is_wrong_split(gold: Gold, prediction: Prediction, facts: ConceptFacts) -> bool:
    """Tell whether the gold standard has one concept, but the mention was split."""
    return len(gold.concept_ids) == 1 and _is_split(prediction)


def _is_split(prediction: Prediction) -> bool:
    return any(candidate.part for candidate in prediction.candidates)


def is_long_form(gold: Gold, prediction: Prediction, facts: ConceptFacts) -> bool:
    """Tell whether the long form of an abbreviation was searched instead of the mention.
    The document's definition was wrong or misread, or the long form is hard to link too.
    """
    first = prediction.candidates[:1]
    return any(each.searched and clean(each.searched) != clean(gold.text) for each in first)


def is_abbreviation(gold: Gold, prediction: Prediction, facts: ConceptFacts) -> bool:
    """Tell whether a word of the mention looks like an abbreviation, as in "DM1" and
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
    """Tell whether NIL was written: no candidate, or all below the NIL threshold."""
    return prediction.written == NIL


def is_ambiguous(gold: Gold, prediction: Prediction, facts: ConceptFacts) -> bool:
    """Tell whether the gold concept ties with the written one: the best text belongs to
    both.
    """
    return lenient_rank(prediction.candidates, gold) == 1


def is_ancestor(gold: Gold, prediction: Prediction, facts: ConceptFacts) -> bool:
    """Tell whether the written concept is an ancestor of a gold one: too general."""
    above = (ancestors(each, facts) for each in gold.concept_ids)
    return any(not prediction.written_ids.isdisjoint(each) for each in above)


def is_descendant(gold: Gold, prediction: Prediction, facts: ConceptFacts) -> bool:
    """Tell whether the written concept is a descendant of a gold one: too specific."""
    above = (ancestors(each, facts) for each in prediction.written_ids)
    return any(not gold.concept_ids.isdisjoint(each) for each in above)


def is_unseen_concept(gold: Gold, prediction: Prediction, facts: ConceptFacts) -> bool:
    """Tell whether D has no text of any gold concept, so only names of the ontology can
    match. (An unseen mention is something else: its text is not in D.)
    """
    return not any(facts.in_data(each) for each in gold.concept_ids)


class Kind(NamedTuple):
    """A kind of wrong answer.

    meaning (str): What it means, for people.
    fits (Callable[[Gold, Prediction, ConceptFacts], bool]): Whether a wrong answer is of that kind.
    """

    meaning: str
    fits: Callable[[Gold, Prediction, ConceptFacts], bool]


KINDS = {
    "not in the ontology": Kind("the ontology has none of the gold ids", is_not_in_ontology),
    "composite": Kind(
        "the gold standard has several concepts, the mention was searched as a whole", is_composite
    ),
    "wrong part": Kind(
        "the gold standard has several concepts, a part of the mention is wrong", is_wrong_part
    ),
    "wrong split": Kind("the gold standard has one concept, the mention was split", is_wrong_split),
    "long form": Kind(
        "the long form of an abbreviation was searched instead of the mention", is_long_form
    ),
    "abbreviation": Kind(
        "a word of the mention looks like an abbreviation, and was not expanded", is_abbreviation
    ),
    "nil": Kind("NIL was written: no candidate, or all below the NIL threshold", is_nil),
    "ambiguous": Kind("the gold concept ties with the one that was written", is_ambiguous),
    "ancestor": Kind(
        "the written concept is an ancestor of the gold concept: too general", is_ancestor
    ),
    "descendant": Kind(
        "the written concept is a descendant of the gold concept: too specific", is_descendant
    ),
    "unseen concept": Kind("D has no text of the gold concept", is_unseen_concept),
    OTHER: Kind("none of the kinds above", lambda *_: True),
}


def kind_of(gold: Gold, prediction: Prediction, facts: ConceptFacts) -> str:
    """Find the kind of a wrong answer.

    gold (Gold): The gold standard, at least one concept.
    prediction (Prediction): The pipeline's answer, wrong by the strict protocol.
    facts (ConceptFacts): Facts about the concepts.
    RETURNS (str): The first of `KINDS` that fits; "other" fits all.
    """
    return next(name for name, kind in KINDS.items() if kind.fits(gold, prediction, facts))


def ancestors(concept_id: str, facts: ConceptFacts) -> set[str]:
    """Walk up from a concept. Cycles of parents are harmless.

    concept_id (str): The concept.
    facts (ConceptFacts): Knows the parents.
    RETURNS (Set[str]): The ids of all ancestors, never the concept's own.
    """
    reached, waiting = {concept_id}, [concept_id]
    while waiting:
        parents = set(facts.parents(waiting.pop())) - reached
        reached |= parents
        waiting += parents
    return reached - {concept_id}


_ORDER = tuple(KINDS)
# The Markdown has one section for each combination of these.
_RUN = ("pipeline", "run", "protocol")
_JOIN = " | "
_EXAMPLE = ("times", "mention", "gold_names", "name", "searched")


def list_mistakes(
    gold: Sequence[Gold],
    predictions: Sequence[Prediction],
    names: Mapping[str, str],
    facts: ConceptFacts,
) -> list[Row]:
    """List the mentions with gold ids that are wrong by the strict protocol, by kind, the most
    frequent first. A mention that occurs several times with the same answer is one row.

    gold (Sequence[Gold]): The gold standard of n mentions.
    predictions (Sequence[Prediction]): The pipeline's answers to them.
    names (Mapping[str, str]): Preferred names by concept id; other ids are shown as not in the
        index.
    facts (ConceptFacts): Facts about the concepts, to find the kinds.
    RETURNS (List[Dict[str, Any]]): "kind", see `kinds`; "times", "mention", "gold", "gold_names";
        "written", "name", "score", "text", "search" and "searched" of the answer; "lenient":
        whether it is right by the lenient protocol; "rank": the rank of the first right candidate
        by that protocol, None if there is none. Values of a composite's parts are joined by `|`;
        the score is the lowest of them.
    """
    described = (
        tuple(_describe(each, prediction, names, facts).items())
        for each, prediction in zip(gold, predictions, strict=True)
        if each.concept_ids and strict_rank(prediction, each) != 1
    )
    rows = []
    for row, times in Counter(described).most_common():
        (_, kind), *others = row
        rows.append({"kind": kind, "times": times, **dict(others)})
    return sorted(rows, key=lambda row: _ORDER.index(row["kind"]))


def _describe(
    gold: Gold, prediction: Prediction, names: Mapping[str, str], facts: ConceptFacts
) -> Row:
    rank, gold_ids = lenient_rank(prediction.candidates, gold), sorted(gold.concept_ids)
    answers = [part[0] for part in by_part(prediction.candidates)]
    return {
        "kind": kind_of(gold, prediction, facts),
        "mention": gold.text,
        "gold": " ".join(gold_ids),
        "gold_names": "; ".join(names.get(each, "not in the index") for each in gold_ids),
        "written": prediction.written,
        "name": _JOIN.join(each.name for each in answers),
        "score": round(min(each.score for each in answers), 4) if answers else None,
        "text": _JOIN.join(each.text for each in answers),
        "search": _JOIN.join(dict.fromkeys(each.search for each in answers)),
        "searched": _JOIN.join(each.searched for each in answers),
        "lenient": rank == 1,
        "rank": rank or None,
    }


def count_kinds(rows: Sequence[Row]) -> list[Row]:
    """Count mistakes by kind.

    rows (Sequence[Dict[str, Any]]): Rows of `list_mistakes`, of one or more runs, in their order;
        "pipeline", "run" and "protocol" tell the runs apart.
    RETURNS (List[Dict[str, Any]]): The run, "kind", "mentions", "percent" of the run's wrong
        answers, "lenient": how many of them are right by the lenient protocol.
    """
    counts = []
    for run, mistakes in _by_run(rows):
        total = sum(row["times"] for row in mistakes)
        for kind, alike in _by_kind(mistakes):
            times = sum(row["times"] for row in alike)
            lenient = sum(row["times"] for row in alike if row["lenient"])
            shares = {"mentions": times, "percent": 100 * times / total, "lenient": lenient}
            counts.append({**run, "kind": kind, **shares})
    return counts


def largest_kinds(rows: Sequence[Row], *, kinds: int = 3, examples: int = 3) -> list[Row]:
    """Show the largest kinds, with their most frequent mistakes.

    rows (Sequence[Dict[str, Any]]): As for `count_kinds`.
    kinds (int): At most how many kinds per run.
    examples (int): At most how many mistakes per kind.
    RETURNS (List[Dict[str, Any]]): The run, "kind", "of": the number of mentions of that kind, and
        "times", "mention", "gold_names", "name" and "searched" of a mistake.
    """
    shown = []
    for run, mistakes in _by_run(rows):
        alike = dict(_by_kind(mistakes))
        counts = sorted(count_kinds(mistakes), key=lambda row: -row["mentions"])
        for count in counts[:kinds]:
            head = {**run, "kind": count["kind"], "of": count["mentions"]}
            some = alike[count["kind"]][:examples]
            shown += [{**head, **{key: row[key] for key in _EXAMPLE}} for row in some]
    return shown


def _by_run(rows: Sequence[Row]) -> Iterator[tuple[dict[str, str], list[Row]]]:
    for run, alike in groupby(rows, key=lambda row: {key: row[key] for key in _RUN if key in row}):
        yield run, list(alike)


def _by_kind(rows: Sequence[Row]) -> Iterator[tuple[str, list[Row]]]:
    for kind, alike in groupby(rows, key=lambda row: row["kind"]):
        yield kind, list(alike)


def mistakes_to_markdown(rows: Sequence[Row]) -> str:
    """Format mistakes as Markdown: a chapter per run, a section per kind, with counts.

    rows (Sequence[Dict[str, Any]]): As for `count_kinds`.
    RETURNS (str): Markdown.
    """
    parts = ["# Wrong answers"]
    for run, mistakes in _by_run(rows):
        parts += [f"## {', '.join(run.values()) or 'All'}", _table(count_kinds(mistakes))]
        parts += ["The largest kinds, with examples:", _table(largest_kinds(mistakes))]
        for kind, alike in _by_kind(mistakes):
            times = sum(row["times"] for row in alike)
            parts += [f"### {kind}: {times:,}", f"{KINDS[kind].meaning}:", _table(alike, "kind")]
    return "\n\n".join(parts) + "\n"


def _table(rows: Sequence[Row], *hidden: str) -> str:
    hidden = (*_RUN, *hidden)
    shown = [{key: row[key] for key in row if key not in hidden} for row in rows]
    return to_table(shown, markdown=True)
