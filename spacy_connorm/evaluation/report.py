"""Convert scores to flat rows, and rows to titled tables, JSON and TSV."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile
from typing import Any, NamedTuple

from .metrics import (
    ALL,
    IN_ONTOLOGY,
    SEEN,
    UNSEEN,
    Evaluation,
    NilScore,
    Ranks,
    bootstrap,
    hits,
    mean,
    paired_bootstrap,
    reciprocals,
)

Row = dict[str, Any]

# How mentions are searched: as in the pipeline, or preprocessed as in BioSyn, for comparison with
# its numbers.
OPEN, BIOSYN = "open", "biosyn"
_CAUTIONS = {BIOSYN: ", which splits composites by the number of gold ids"}
# The names of groups of mentions in tables.
_GROUPS = {
    ALL: "all",
    IN_ONTOLOGY: "gold id in the ontology",
    SEEN: "text seen in D",
    UNSEEN: "text unseen in D",
}
PROTOCOLS = Ranks._fields
# The keys of the mean reciprocal rank, by protocol.
_MRR = {"lenient": "mrr", "strict": "strict_mrr"}
_LABELS = ("corpus", "pipeline")
_ACCURACY = "Accuracy and mean reciprocal rank, percent"
_GAP = "   "


class Section(NamedTuple):
    """A table with a title.

    title (str): What the table shows.
    rows (List[Dict[str, Any]]): At least one.
    """

    title: str
    rows: list[Row]


def percent(share: float | None) -> float | None:
    """Convert a share to percent.

    share (Optional[float]): From 0 to 1.
    RETURNS (Optional[float]): The percentage, to two decimals.
    """
    return None if share is None else round(100 * share, 2)


def score_row(evaluation: Evaluation) -> Row:
    """Flatten the scores of a run into one row, shares in percent. Keys of groups begin with the
    group's name, e.g. `unseen_lenient@1`; those for all mentions with a gold id have no prefix.

    evaluation (Evaluation): The scores.
    RETURNS (Dict[str, Any]): `mentions`, and for each protocol Acc@1 with its 95 % interval, Acc@5
        and MRR; `mrr` is the lenient one. None if there is nothing to score.
    """
    row: Row = {}
    for group, ranks in evaluation.ranks.items():
        row |= {f"{_prefix(group)}{key}": value for key, value in _flatten(ranks).items()}
    return row | nil_scores(evaluation.nil)


def nil_scores(nil: NilScore) -> Row:
    """Flatten NIL scores.

    nil (NilScore): The scores.
    RETURNS (Dict[str, Any]): "nil_mentions", and "nil_precision", "nil_recall" and "nil_f1" in
        percent.
    """
    mentions, *shares = nil
    keys = ("nil_precision", "nil_recall", "nil_f1")
    return {"nil_mentions": mentions, **dict(zip(keys, map(percent, shares), strict=True))}


def _flatten(ranks: Ranks) -> Row:
    row: Row = {"mentions": len(ranks.lenient)}
    for protocol, places in ranks._asdict().items():
        first = hits(places, 1)
        low, high = bootstrap(first) if len(first) else (None, None)
        row[f"{protocol}@1"] = percent(mean(first))
        row[f"{protocol}@1_low"], row[f"{protocol}@1_high"] = percent(low), percent(high)
        row[f"{protocol}@5"] = percent(mean(hits(places, 5)))
        row[_MRR[protocol]] = percent(mean(reciprocals(places)))
    return row


def comparison_row(one: Evaluation, other: Evaluation) -> Row:
    """Flatten the difference between two runs over the same mentions into one row, in percent.

    one (Evaluation): The scores of a run.
    other (Evaluation): The scores to compare with.
    RETURNS (Dict[str, Any]): For each protocol, the difference in Acc@1, its 95 % interval and p.
    """
    row: Row = {}
    for protocol in PROTOCOLS:
        places = (getattr(run.ranks[ALL], protocol) for run in (one, other))
        difference, (low, high), p = paired_bootstrap(*(hits(ranks, 1) for ranks in places))
        key = f"{protocol}@1_difference"
        row |= {key: percent(difference), f"{key}_low": percent(low), f"{key}_high": percent(high)}
        row[f"{protocol}@1_p"] = round(p, 4)
    return row


def run_sections(rows: Sequence[Row]) -> list[Section]:
    """Show a few runs in detail: groups of mentions, the two protocols side by side, NIL, and
    comparisons.

    rows (Sequence[Dict[str, Any]]): One per run: "corpus", "pipeline", "search", the keys of
        `score_row`, "protocol", which is the same in all, "against" and the keys of
        `comparison_row`.
    RETURNS (List[Section]): The tables.
    """
    varied = {key for key in _LABELS if len({row[key] for row in rows}) > 1}
    shown = [{key: row[key] for key in row if key not in _LABELS or key in varied} for row in rows]
    accuracy = Section(_ACCURACY, [shown_row for row in shown for shown_row in _by_group(row)])
    protocol = rows[0]["protocol"]
    suffix = f" (protocol: {protocol}{_CAUTIONS.get(protocol, '')})"
    return [
        section._replace(title=f"{section.title}{suffix}")
        for section in (accuracy, *_nil_section(shown), *_comparison_section(shown))
    ]


def _prefix(group: str) -> str:
    return "" if group == ALL else f"{group}_"


def _head(row: Row) -> Row:
    """Get the keys that identify a run: those before `mentions`."""
    return {key: row[key] for key in takewhile(lambda key: key != "mentions", row)}


def _by_group(row: Row) -> Iterator[Row]:
    for group, name in _GROUPS.items():
        if f"{_prefix(group)}mentions" in row:
            mentions = {"mentions": name, "number": row[f"{_prefix(group)}mentions"]}
            yield {**_head(row), **mentions, **_show(row, _prefix(group))}


def _show(row: Row, prefix: str = "") -> Row:
    shown: Row = {}
    for protocol, mrr in _MRR.items():
        low, high = row[f"{prefix}{protocol}@1_low"], row[f"{prefix}{protocol}@1_high"]
        shown[f"{protocol}@1"] = row[f"{prefix}{protocol}@1"]
        shown[f"{protocol} 95 %"] = None if low is None else f"{low:.1f}-{high:.1f}"
        shown[f"{protocol}@5"] = row[f"{prefix}{protocol}@5"]
        shown[f"{protocol} MRR"] = row[f"{prefix}{mrr}"]
    return shown


def _nil_section(rows: Sequence[Row]) -> list[Section]:
    if not any(row["nil_mentions"] or row["nil_precision"] is not None for row in rows):
        return []
    keys = {"mentions without gold id": "mentions"} | {k: k for k in ("precision", "recall", "f1")}
    shown = [_head(row) | {title: row[f"nil_{key}"] for title, key in keys.items()} for row in rows]
    return [Section("Mentions without a concept (NIL), percent", shown)]


def _comparison_section(rows: Sequence[Row]) -> list[Section]:
    compared = [row for row in rows if row.get("against") is not None]
    against = {row["against"] for row in compared}
    if not compared:
        return []
    several = len(against) > 1
    lines = [
        _head(row) | ({"against": row["against"]} if several else {}) | _compare(row)
        for row in compared
    ]
    other = "another run" if several else against.pop()
    return [Section(f"Compared with {other}, paired bootstrap", lines)]


def _compare(row: Row) -> Row:
    text: Row = {}
    for protocol in PROTOCOLS:
        key = f"{protocol}@1_difference"
        text[f"{protocol}@1"] = f"{row[key]:+.1f}"
        text[f"{protocol} 95 %"] = f"{row[f'{key}_low']:+.1f} to {row[f'{key}_high']:+.1f}"
        text[f"{protocol} p"] = f"{row[f'{protocol}@1_p']:.4f}"
    return text


def count_alike(rows: Iterable[Row], kinds: Sequence[str]) -> list[Row]:
    """Count rows that are the same, such as the same mistake in several documents.

    rows (Iterable[Dict[str, Any]]): The rows.
    kinds (Sequence[str]): The possible values of "kind", in order.
    RETURNS (List[Dict[str, Any]]): Each row once, with "times" after "kind": by kind, the most
        frequent first.
    """
    counts = Counter(tuple(row.items()) for row in rows)
    counted = [(dict(cells), times) for cells, times in counts.most_common()]
    listed = [{"kind": row["kind"], "times": times, **row} for row, times in counted]
    return sorted(listed, key=lambda row: kinds.index(row["kind"]))


def to_json(rows: Sequence[Row]) -> str:
    """Write rows as JSON.

    rows (Sequence[Dict[str, Any]]): The rows.
    RETURNS (str): A list of flat objects.
    """
    return json.dumps(list(rows), ensure_ascii=False, indent=2) + "\n"


def to_tsv(rows: Sequence[Row]) -> str:
    """Write rows as tab-separated values with a header.

    rows (Sequence[Dict[str, Any]]): The rows.
    RETURNS (str): The table; empty without rows.
    """
    lines = [list(rows[0]), *(list(row.values()) for row in rows)] if rows else []
    return "".join(
        "\t".join("" if cell is None else " ".join(str(cell).split()) for cell in line) + "\n"
        for line in lines
    )


def sections_to_markdown(sections: Sequence[Section]) -> str:
    """Write sections as Markdown.

    sections (Sequence[Section]): The sections.
    RETURNS (str): Markdown.
    """
    tables = (f"## {title}\n\n{to_table(rows, markdown=True)}\n" for title, rows in sections)
    return "\n".join(tables)


def to_table(rows: Sequence[Row], *, markdown: bool = False) -> str:
    """Align rows in columns, numbers to the right.

    rows (Sequence[Dict[str, Any]]): At least one; the keys of the first are the header.
    markdown (bool): Whether to make a Markdown table.
    RETURNS (str): The table.
    """
    header = list(rows[0])
    cells = [[_cell(row.get(key)) for key in header] for row in rows]
    if markdown:
        cells = [[" ".join(cell.replace("|", r"\|").split()) for cell in line] for line in cells]
    widths = [max(map(len, column)) for column in zip(header, *cells, strict=True)]
    numeric = [
        all(row.get(key) is None or type(row[key]) in (int, float) for row in rows)
        for key in header
    ]

    def line(texts: Sequence[str]) -> str:
        padded = [
            text.rjust(width) if right else text.ljust(width)
            for text, width, right in zip(texts, widths, numeric, strict=True)
        ]
        return f"| {' | '.join(padded)} |" if markdown else _GAP.join(padded).rstrip()

    rules = [
        "-" * (width - 1) + (":" if right and markdown else "-")
        for width, right in zip(widths, numeric, strict=True)
    ]
    return "\n".join([line(header), line(rules), *map(line, cells)])


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.1f}"
    return f"{value:,}" if isinstance(value, int) else str(value)
