"""Scores as flat rows, and rows as JSON, TSV and tables."""

import json
from collections.abc import Sequence
from itertools import takewhile
from typing import Any

from .metrics import ALL, Evaluation, NilScore, Ranks, hits, mean, reciprocals
from .significance import bootstrap, paired_bootstrap

Row = dict[str, Any]

_GROUPS = {
    "all": "all",
    "in_ontology": "gold id in the ontology",
    "seen": "text seen in D",
    "unseen": "text unseen in D",
}
# The keys of the mean reciprocal rank, by protocol.
_MRR = {"lenient": "mrr", "strict": "strict_mrr"}
_GAP = "   "


def score_row(evaluation: Evaluation) -> Row:
    """Flatten the scores of a run into one row, shares in percent. Keys of groups begin with the
    group's name, e.g. `unseen_lenient@1`; those of all mentions with a gold id have no prefix.

    evaluation (Evaluation): The scores.
    RETURNS (Dict[str, Any]): `mentions`, and for each protocol Acc@1 with its 95 % interval, Acc@5
        and MRR; `mrr` is the lenient one. None if there is nothing to score.
    """
    row: Row = {}
    for group, ranks in evaluation.ranks.items():
        prefix = "" if group == ALL else f"{group}_"
        row.update({f"{prefix}{key}": value for key, value in _scores(ranks).items()})
    return row | nil_scores(evaluation.nil)


def nil_scores(nil: NilScore) -> Row:
    """RETURNS (Dict[str, Any]): "nil_mentions", and "nil_precision", "nil_recall" and "nil_f1" in
    percent.
    """
    shares = {f"nil_{key}": percent(getattr(nil, key)) for key in ("precision", "recall", "f1")}
    return {"nil_mentions": nil.mentions, **shares}


def _scores(ranks: Ranks) -> Row:
    row: Row = {"mentions": len(ranks.lenient)}
    for protocol, places in ranks._asdict().items():
        first = hits(places, 1)
        low, high = bootstrap(first) if len(first) else (None, None)
        row[f"{protocol}@1"] = percent(mean(first))
        row[f"{protocol}@1_low"], row[f"{protocol}@1_high"] = percent(low), percent(high)
        row[f"{protocol}@5"] = percent(mean(hits(places, 5)))
        row[_MRR[protocol]] = percent(mean(reciprocals(places)))
    return row


def percent(share: float | None) -> float | None:
    """RETURNS (Optional[float]): A share in percent, to two decimals."""
    return None if share is None else round(100 * share, 2)


def group_rows(row: Row) -> list[Row]:
    """Unfold a row of `score_row` for people: one row per group of mentions, the two protocols side
    by side.

    row (Dict[str, Any]): The scores; keys before `mentions` are repeated in every row.
    RETURNS (List[Dict[str, Any]]): The rows.
    """
    head = _head(row)
    rows = []
    for group, name in _GROUPS.items():
        prefix = "" if group == ALL else f"{group}_"
        if f"{prefix}mentions" in row:
            mentions = {"mentions": name, "number": row[f"{prefix}mentions"]}
            rows.append({**head, **mentions, **protocol_scores(row, prefix=prefix)})
    return rows


def protocol_scores(row: Row, *, prefix: str = "") -> Row:
    """Pick the scores of one group of mentions for people, the two protocols side by side.

    row (Dict[str, Any]): A row of `score_row`.
    prefix (str): The prefix of the group's keys.
    RETURNS (Dict[str, Any]): For each protocol Acc@1, its 95 % interval, Acc@5 and MRR.
    """
    shown: Row = {}
    for protocol, mrr in _MRR.items():
        low, high = row[f"{prefix}{protocol}@1_low"], row[f"{prefix}{protocol}@1_high"]
        shown[f"{protocol}@1"] = row[f"{prefix}{protocol}@1"]
        shown[f"{protocol} 95 %"] = None if low is None else f"{low:.1f}-{high:.1f}"
        shown[f"{protocol}@5"] = row[f"{prefix}{protocol}@5"]
        shown[f"{protocol} MRR"] = row[f"{prefix}{mrr}"]
    return shown


def _head(row: Row) -> Row:
    return {key: row[key] for key in takewhile(lambda key: key != "mentions", row)}


def nil_row(row: Row) -> Row:
    """RETURNS (Dict[str, Any]): The NIL scores of a row of `score_row`, after its keys before
    `mentions`.
    """
    scores = {key: row[f"nil_{key}"] for key in ("precision", "recall", "f1")}
    return {**_head(row), "mentions without gold id": row["nil_mentions"], **scores}


def comparison_row(one: Evaluation, other: Evaluation) -> Row:
    """Flatten the difference between two runs over the same mentions into one row, in percent.

    one (Evaluation): The scores of a run.
    other (Evaluation): The scores that it is compared with.
    RETURNS (Dict[str, Any]): For each protocol the difference in Acc@1, its 95 % interval and p.
    """
    row: Row = {}
    for protocol in Ranks._fields:
        places = (getattr(run.ranks[ALL], protocol) for run in (one, other))
        difference, (low, high), p = paired_bootstrap(*(hits(each, 1) for each in places))
        row[f"{protocol}@1_difference"] = percent(difference)
        row[f"{protocol}@1_difference_low"] = percent(low)
        row[f"{protocol}@1_difference_high"] = percent(high)
        row[f"{protocol}@1_p"] = round(p, 4)
    return row


def comparison_text(row: Row) -> Row:
    """RETURNS (Dict[str, Any]): A row of `comparison_row` for people, after its keys before
    `mentions` and "against", if any.
    """
    text = _head(row) | ({"against": row["against"]} if "against" in row else {})
    for protocol in Ranks._fields:
        key = f"{protocol}@1_difference"
        text[f"{protocol}@1"] = f"{row[key]:+.1f}"
        text[f"{protocol} 95 %"] = f"{row[f'{key}_low']:+.1f} to {row[f'{key}_high']:+.1f}"
        text[f"{protocol} p"] = f"{row[f'{protocol}@1_p']:.4f}"
    return text


def to_json(rows: Sequence[Row]) -> str:
    """RETURNS (str): The rows as a JSON list of flat objects."""
    return json.dumps(list(rows), ensure_ascii=False, indent=2) + "\n"


def to_tsv(rows: Sequence[Row]) -> str:
    """RETURNS (str): The rows as tab-separated values with a header; empty without rows."""
    if not rows:
        return ""
    lines = [list(rows[0]), *(list(row.values()) for row in rows)]
    return "".join(
        "\t".join("" if cell is None else " ".join(str(cell).split()) for cell in line) + "\n"
        for line in lines
    )


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
