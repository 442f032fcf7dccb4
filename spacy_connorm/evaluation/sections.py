"""Score rows as titled tables, for the terminal and for Markdown."""

from collections.abc import Iterator, Mapping, Sequence
from textwrap import shorten
from typing import TYPE_CHECKING, NamedTuple

from .ranks import PROTOCOLS
from .report import Row, comparison_text, group_rows, nil_row, protocol_scores, to_table

if TYPE_CHECKING:
    from .neighbours import Neighbour

# How mentions are searched: as the pipeline reads them; preprocessed as BioSyn does, for comparison
# with papers; as they are written, without long forms and parts.
OPEN, BIOSYN, AS_WRITTEN = "open", "biosyn", "as written"
_CAUTIONS = {BIOSYN: ", which splits composites by the number of gold ids"}
_LABELS = ("corpus", "pipeline")
_GROUPS = {"in_ontology": "in ontology", "seen": "seen", "unseen": "unseen"}
_TEXT_WIDTH = 40


class Section(NamedTuple):
    """A table under a title.

    title (str): What it shows.
    rows (List[Dict[str, Any]]): At least one.
    """

    title: str
    rows: list[Row]


def run_sections(rows: Sequence[Row]) -> list[Section]:
    """Show a few runs in detail: groups of mentions, the two protocols side by side, NIL, and
    comparisons.

    rows (Sequence[Dict[str, Any]]): One per run: "corpus", "pipeline", "search", the keys of
        `score_row`, "protocol", which is the same in all, "against" and the keys of
        `comparison_row`.
    RETURNS (List[Section]): The tables.
    """
    shown = [_without_constants(row, rows) for row in rows]
    title = "Accuracy and mean reciprocal rank, percent"
    sections = [Section(title, [each for row in shown for each in group_rows(row)])]
    return _with_protocol(sections + _nil_section(shown) + _comparison_section(shown), rows)


def grid_sections(rows: Sequence[Row]) -> list[Section]:
    """Show many runs, one per line: Acc@1 by corpus with average ranks, as in Table 4 of Xu and
    Bethard 2021, by both protocols; then for each corpus the other scores, groups of mentions, NIL
    and significance.

    rows (Sequence[Dict[str, Any]]): As for `run_sections`, with the keys of `add_ranks`.
    RETURNS (List[Section]): The tables.
    """
    sections = [
        Section(f"{protocol.capitalize()} Acc@1 by corpus, percent", _by_corpus(rows, protocol))
        for protocol in PROTOCOLS
    ]
    for corpus in dict.fromkeys(row["corpus"] for row in rows):
        mine = [row for row in rows if row["corpus"] == corpus]
        shown = [_without_constants(row, mine) for row in mine]
        parts = [
            Section("Accuracy and mean reciprocal rank, percent", list(map(_scores, shown))),
            Section("Acc@1 of groups of mentions, percent", list(map(_groups, shown))),
            *_nil_section(shown),
            *_comparison_section(shown),
        ]
        sections += [Section(f"{corpus}: {title}", table) for title, table in parts]
    return _with_protocol(sections, rows)


def protocol_of(row: Row) -> str:
    """RETURNS (str): How the mentions of a row were searched. Rows without it are from before there
    were protocols: mentions were searched as they are written.
    """
    return row.get("protocol", AS_WRITTEN)


def _with_protocol(sections: Sequence[Section], rows: Sequence[Row]) -> list[Section]:
    name = protocol_of(rows[0])
    suffix = f" (protocol: {name}{_CAUTIONS.get(name, '')})"
    return [Section(f"{title}{suffix}", table) for title, table in sections]


def neighbour_section(mention: str, near: Mapping[str, Sequence["Neighbour"]]) -> Section:
    """Show the texts near a mention, the encoders side by side (Xu and Bethard 2021, Table 6).

    mention (str): The mention.
    near (Mapping[str, Sequence[Neighbour]]): The texts by the pipelines' labels.
    RETURNS (Section): One row per rank; "-" if the mention is empty to an encoder.
    """
    ranks = sorted({each.rank for found in near.values() for each in found})
    rows = []
    for rank in ranks or [1]:
        row: Row = {"rank": rank}
        for label, found in near.items():
            prefix = f"{label} " if len(near) > 1 else ""
            at_rank = next((each for each in found if each.rank == rank), None)
            row[f"{prefix}concept"] = at_rank and "|".join(at_rank.concept_ids)
            row[f"{prefix}text"] = at_rank and shorten(at_rank.text, _TEXT_WIDTH, placeholder="...")
            row[f"{prefix}score"] = at_rank and f"{at_rank.score:.3f}"
        rows.append(row)
    return Section(f"Texts near '{mention}'", rows)


def sections_to_markdown(sections: Sequence[Section]) -> str:
    """RETURNS (str): The sections as Markdown."""
    tables = (f"## {title}\n\n{to_table(rows, markdown=True)}\n" for title, rows in sections)
    return "\n".join(tables)


def _without_constants(row: Row, rows: Sequence[Row]) -> Row:
    varied = {key for key in _LABELS if len({each[key] for each in rows}) > 1}
    return {key: row[key] for key in row if key not in _LABELS or key in varied}


def _head(row: Row) -> Row:
    return {key: row[key] for key in ("pipeline", "search") if key in row}


def _by_corpus(rows: Sequence[Row], protocol: str) -> list[Row]:
    corpora = dict.fromkeys(row["corpus"] for row in rows)
    lines: dict[tuple[str, str], Row] = {}
    for row in rows:
        name = (row["pipeline"], row["search"])
        empty = {"pipeline": name[0], "search": name[1], **dict.fromkeys(corpora)}
        line = lines.setdefault(name, empty)
        line[row["corpus"]] = row[f"{protocol}@1"]
        line["average rank"] = row[f"{protocol}@1_average_rank"]
    return list(lines.values())


def _scores(row: Row) -> Row:
    return _head(row) | {"mentions": row["mentions"]} | protocol_scores(row)


def _groups(row: Row) -> Row:
    line = _head(row)
    for group, name in _GROUPS.items():
        if f"{group}_mentions" in row:
            line[name] = row[f"{group}_mentions"]
            for protocol in PROTOCOLS:
                line[f"{name} {protocol}"] = row[f"{group}_{protocol}@1"]
    return line


def _nil_section(rows: Sequence[Row]) -> list[Section]:
    if not any(row["nil_mentions"] or row["nil_precision"] is not None for row in rows):
        return []
    return [Section("Mentions of no concept (NIL), percent", list(map(nil_row, rows)))]


def _comparison_section(rows: Sequence[Row]) -> list[Section]:
    compared = list(_compared(rows))
    if not compared:
        return []
    against = {row["against"] for row in compared}
    if len(against) > 1:
        return [Section("Compared with another run, paired bootstrap", compared)]
    lines = [{key: row[key] for key in row if key != "against"} for row in compared]
    return [Section(f"Compared with {against.pop()}, paired bootstrap", lines)]


def _compared(rows: Sequence[Row]) -> Iterator[Row]:
    for row in rows:
        if row.get("against") is not None:
            yield comparison_text(row)
