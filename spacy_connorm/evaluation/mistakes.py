"""Wrong answers as rows for people, grouped by kind."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from .kinds import KINDS, MEANINGS, OTHER, ConceptFacts, kind_of
from .protocol import Gold, Prediction, by_part, lenient_rank, strict_rank
from .report import Row, to_table

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
