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


_ORDER = (*KINDS, OTHER)
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
    rank = lenient_rank(prediction.candidates, gold)
    answers = [part[0] for part in by_part(prediction.candidates)]
    return {
        "kind": kind_of(gold, prediction, facts),
        "mention": gold.text,
        "gold": " ".join(sorted(gold.concept_ids)),
        "gold_names": "; ".join(_names(gold, names)),
        "written": prediction.written,
        "name": _JOIN.join(each.name for each in answers),
        "score": round(min(each.score for each in answers), 4) if answers else None,
        "text": _JOIN.join(each.text for each in answers),
        "search": _JOIN.join(dict.fromkeys(each.search for each in answers)),
        "searched": _JOIN.join(each.searched for each in answers),
        "lenient": rank == 1,
        "rank": rank or None,
    }


def _names(gold: Gold, names: Mapping[str, str]) -> Iterator[str]:
    for concept_id in sorted(gold.concept_ids):
        yield names.get(concept_id, "not in the index")


def count_kinds(rows: Sequence[Row]) -> list[Row]:
    """Count mistakes by kind.

    rows (Sequence[Dict[str, Any]]): Rows of `list_mistakes`, of one or more runs, in their order;
        "pipeline", "run" and "protocol" tell the runs apart.
    RETURNS (List[Dict[str, Any]]): The run, "kind", "mentions", "percent" of the run's wrong
        answers, "lenient": how many of them are right by the lenient protocol.
    """
    counts = []
    for run, members in groupby(rows, key=_run_of):
        mistakes = list(members)
        total = sum(row["times"] for row in mistakes)
        for kind, same in groupby(mistakes, key=lambda row: row["kind"]):
            alike = list(same)
            times = sum(row["times"] for row in alike)
            counts.append(
                {
                    **dict(run),
                    "kind": kind,
                    "mentions": times,
                    "percent": 100 * times / total,
                    "lenient": sum(row["times"] for row in alike if row["lenient"]),
                }
            )
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
    for run, members in groupby(rows, key=_run_of):
        mistakes = list(members)
        counts = sorted(count_kinds(mistakes), key=lambda row: -row["mentions"])
        for count in counts[:kinds]:
            alike = [row for row in mistakes if row["kind"] == count["kind"]]
            head = {**dict(run), "kind": count["kind"], "of": count["mentions"]}
            shown += [{**head, **{key: row[key] for key in _EXAMPLE}} for row in alike[:examples]]
    return shown


def _run_of(row: Row) -> tuple[tuple[str, str], ...]:
    return tuple((key, row[key]) for key in _RUN if key in row)


def mistakes_to_markdown(rows: Sequence[Row]) -> str:
    """Format mistakes as Markdown: a chapter per run, a section per kind, with counts.

    rows (Sequence[Dict[str, Any]]): As for `count_kinds`.
    RETURNS (str): Markdown.
    """
    parts = ["# Wrong answers"]
    for run, members in groupby(rows, key=_run_of):
        mistakes = list(members)
        title = ", ".join(value for _, value in run)
        counts = [
            {key: row[key] for key in row if key not in _RUN} for row in count_kinds(mistakes)
        ]
        largest = [
            {key: row[key] for key in row if key not in _RUN} for row in largest_kinds(mistakes)
        ]
        parts += [f"## {title}" if title else "## All", to_table(counts, markdown=True)]
        parts += ["The largest kinds, with examples:", to_table(largest, markdown=True)]
        for kind, same in groupby(mistakes, key=lambda row: row["kind"]):
            alike = [{key: row[key] for key in row if key not in (*_RUN, "kind")} for row in same]
            times = sum(row["times"] for row in alike)
            parts += [
                f"### {kind}: {times:,}",
                f"{MEANINGS[kind]}:",
                to_table(alike, markdown=True),
            ]
    return "\n\n".join(parts) + "\n"
