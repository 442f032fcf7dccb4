"""SSSOM: mappings of terms to concepts, as a table with a block of metadata.

https://mapping-commons.github.io/sssom/ defines its columns. Candidates below the first are not
mappings, so they have no rows of their own, which readers would take as claims. They are in an
additional column, which the metadata declare as an extension, as the standard requires.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import srsly

from ..errors import Errors, unreadable
from ..files.atomic import atomic_file
from ..files.tables import (
    RowWriter,
    TableRow,
    hold_as_text,
    read_quoted,
    require_distinct_columns,
    split_tabs,
)
from ..files.text import find_ending, open_text, read_whole_lines

NO_LICENCE = "https://w3id.org/sssom/license/unspecified"
NO_TERM = "sssom:NoTermFound"
MANUAL = "semapv:ManualMappingCuration"
ACCEPTED, REVIEW, UNMATCHED = "accepted", "review", "unmatched"
STATUSES = (ACCEPTED, REVIEW, UNMATCHED)
_PROPERTIES = "urn:connorm:sssom:"
_NUMBERS = ("confidence", "similarity_score")
_ITEM = re.compile(r"(?:[^|\\]|\\.)+")
_ESCAPED = re.compile(r"\\(.)")


class MappingCandidate(NamedTuple):
    """A concept that a term may mean.

    object_id (str): The concept, as a CURIE.
    confidence (float): 0 to 1.
    label (str): Its preferred name.
    """

    object_id: str
    confidence: float
    label: str


@dataclass(frozen=True, slots=True)
class TermMapping:
    """A row: the meaning of a term. The fields are the columns; those up to `match_string` are from
    SSSOM.

    subject_id (str): The term's code, as a CURIE.
    predicate_id (str): The relation of its meaning to the concept's, e.g. "skos:exactMatch".
    object_id (str): The concept, as a CURIE, or `NO_TERM`.
    mapping_justification (str): The reason, e.g. "semapv:LexicalMatching".
    subject_label (str): The term.
    object_label (str): The concept's preferred name.
    author_id, author_label (str): Who decided; empty if no person did.
    mapping_date (str): The date, as YYYY-MM-DD.
    confidence (Optional[float]): 0 to 1; None if unmatched.
    similarity_score (Optional[float]): The cosine, 0 to 1; None for other scores.
    match_string (str): The text that the term and the concept's name share, if they have the same
        words.
    status (str): `ACCEPTED`, `REVIEW` or `UNMATCHED`.
    count (int): How often the term occurs.
    context (str): The text around it.
    candidates (Tuple[MappingCandidate, ...]): What was found, best first.
    proposal (str): The content of the row before a person decided, see `decide_mapping`; otherwise
        empty.
    correction (str): The id of the correction made from the decision, if any.
    others (Mapping[str, str]): Other columns.
    """

    subject_id: str
    predicate_id: str
    object_id: str
    mapping_justification: str
    subject_label: str = ""
    object_label: str = ""
    author_id: str = ""
    author_label: str = ""
    mapping_date: str = ""
    confidence: float | None = None
    similarity_score: float | None = None
    match_string: str = ""
    status: str = REVIEW
    count: int = 1
    context: str = ""
    candidates: tuple[MappingCandidate, ...] = ()
    proposal: str = ""
    correction: str = ""
    others: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_decided(self) -> bool:
        """Whether a person has decided.

        RETURNS (bool): True for a manual justification.
        """
        return self.mapping_justification == MANUAL


COLUMNS = tuple(column.name for column in fields(TermMapping) if column.name != "others")
# Each row needs the first four; the columns from `status` on are our extensions.
_REQUIRED, _EXTENSIONS = COLUMNS[:4], COLUMNS[COLUMNS.index("status") :]


@dataclass(slots=True)
class MappingSet:
    """Mappings and their common metadata.

    metadata (Dict[str, Any]): The slots of SSSOM's mapping sets, by name.
    mappings (List[TermMapping]): The rows.
    """

    metadata: dict[str, Any]
    mappings: list[TermMapping]


def write_sssom(mapping_set: MappingSet, path: str | Path, *, raw: bool = False) -> None:
    """Write mappings, completely or not at all.

    mapping_set (MappingSet): The mappings.
    path (Union[str, Path]): A `.csv` file gets only the table, with commas; any other file is
        SSSOM/TSV.
    raw (bool): Whether a `.csv` file leaves cells unchanged that a spreadsheet would run as
        formulas. If not, they are prefixed with an apostrophe, see `hold_as_text`. SSSOM/TSV never
        changes them.
    RAISES (ConnormError): CN105, CN108 or CN109 if the file can't be written.
    """
    mappings, is_csv = mapping_set.mappings, find_ending(path) == ".csv"
    columns = [*COLUMNS, *dict.fromkeys(name for mapping in mappings for name in mapping.others)]
    rows = [columns, *(cells_of(mapping, columns) for mapping in mappings)]
    if is_csv and not raw:
        rows = [list(map(hold_as_text, row)) for row in rows]
    with atomic_file(path) as aside, open_text(aside, "wt", newline="") as file:
        if not is_csv:
            file.write(_render_metadata(mapping_set.metadata))
        writer = RowWriter(file, delimiter="," if is_csv else "\t")
        for row in rows:
            writer.write_row(row)


def _render_metadata(metadata: Mapping[str, Any]) -> str:
    """Render the metadata of mappings, with our extensions declared.

    metadata (Mapping[str, Any]): The slots of a mapping set.
    RETURNS (str): A block of lines that begin with `#`.
    """
    known = [
        extension
        for extension in metadata.get("extension_definitions", ())
        if extension.get("slot_name") not in _EXTENSIONS
    ]
    ours = [
        {
            "slot_name": name,
            "property": _PROPERTIES + name,
            "type_hint": "xsd:integer" if name == "count" else "xsd:string",
        }
        for name in _EXTENSIONS
    ]
    block = srsly.yaml_dumps({**metadata, "extension_definitions": [*known, *ours]})
    return "".join(f"# {line}\n" for line in block.splitlines())


def cells_of(mapping: TermMapping, columns: Iterable[str]) -> list[str]:
    """Convert a mapping to the cells of a row.

    mapping (TermMapping): The mapping.
    columns (Iterable[str]): The names of the columns.
    RETURNS (List[str]): One cell per column.
    """
    cells = {name: _to_cell(name, getattr(mapping, name)) for name in COLUMNS}
    cells.update(mapping.others)
    return [cells.get(name, "") for name in columns]


def read_sssom(path: str | Path) -> MappingSet:
    """Read mappings. Rows without a decision and a status are to be reviewed.

    path (Union[str, Path]): SSSOM/TSV, written by this package or others.
    RETURNS (MappingSet): The mappings.
    RAISES (ConnormError): CN115 for a file or a row that is not SSSOM, CN125 for columns of the
        same name, and the errors of `read_lines` and `read_quoted`.
    """
    head, table = _split(read_whole_lines(path))
    rows = (row for row in read_quoted(table, path, delimiter="\t") if any(row[1]))
    line, columns = next(rows, (len(head) + 1, []))
    if missing := [name for name in _REQUIRED if name not in columns]:
        raise unreadable(path, line, "SSSOM", f"it has no column {missing[0]}")
    require_distinct_columns(path, columns)
    metadata = _read_metadata(path, "\n".join(head))
    return MappingSet(metadata, [_read_row(path, row, columns) for row in rows])


def _split(lines: Iterator[tuple[int, str]]) -> tuple[list[str], Iterator[tuple[int, str]]]:
    """Separate the lines of the metadata, which no field extends beyond, from the others."""
    head: list[str] = []
    for number, line in lines:
        cells = split_tabs(line.rstrip("\r\n"))
        if cells[0].startswith("#"):
            head.append("\t".join(cells).lstrip("#"))
        elif any(cells):
            return head, chain([(number, line)], lines)
    return head, lines


def _read_metadata(path: str | Path, block: str) -> dict[str, Any]:
    facts: dict[str, Any] = {"format": "SSSOM", "reason": "its metadata are not YAML"}
    with Errors.CN115.instead_of(ValueError, path=path, line=1, **facts):
        metadata = srsly.yaml_loads(block) if block else {}
    if not isinstance(metadata, dict):
        raise unreadable(path, 1, "SSSOM", "its metadata are not a YAML mapping")
    return metadata


def _read_row(path: str | Path, row: TableRow, columns: list[str]) -> TermMapping:
    number, cells = row
    if len(cells) > len(columns):
        reason = f"it has {len(cells)} cells for {len(columns)} columns"
        raise unreadable(path, number, "SSSOM", reason)
    by_column = dict(zip(columns, cells, strict=False))
    if missing := [name for name in _REQUIRED if not by_column.get(name)]:
        raise unreadable(path, number, "SSSOM", f"it has no {missing[0]}")
    known = {name: cell for name, cell in by_column.items() if name in COLUMNS and cell}
    facts: dict[str, Any] = {"format": "SSSOM", "reason": "a number or a candidate is damaged"}
    with Errors.CN115.instead_of(ValueError, path=path, line=number, **facts):
        values = {name: _from_cell(name, cell) for name, cell in known.items()}
    if values["object_id"] == NO_TERM:
        values.setdefault("status", UNMATCHED)
    elif values["mapping_justification"] == MANUAL:
        values.setdefault("status", ACCEPTED)
    if values.get("status", REVIEW) not in STATUSES:
        raise unreadable(path, number, "SSSOM", f"its status is not in {', '.join(STATUSES)}")
    others = {name: cell for name, cell in by_column.items() if name not in COLUMNS}
    return TermMapping(**values, others=others)


def _to_cell(name: str, value: Any) -> str:
    if name == "candidates":
        return "|".join(
            f"{item.object_id} {item.confidence:.4f} {_escape(item.label)}" for item in value
        )
    if name in _NUMBERS:
        return "" if value is None else f"{value:.4f}"
    return str(value)


def _from_cell(name: str, cell: str) -> Any:
    if name == "candidates":
        return tuple(map(_read_candidate, _ITEM.findall(cell)))
    if name in _NUMBERS:
        number = float(cell)
        if not 0 <= number <= 1:
            raise ValueError(name)
        return number
    return int(cell) if name == "count" else cell


def _read_candidate(item: str) -> MappingCandidate:
    object_id, confidence, label = item.split(" ", 2)
    return MappingCandidate(object_id, float(confidence), _ESCAPED.sub(r"\1", label))


def _escape(label: str) -> str:
    return label.replace("\\", "\\\\").replace("|", "\\|")
