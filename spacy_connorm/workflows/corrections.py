"""What people say of mentions: corrections, and which of them count."""

import json
import re
import secrets
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, fields
from datetime import UTC, datetime
from typing import Any, TypeAlias

from ..documents.mentions import split_ids
from ..errors import refuse_text

_SEPARATORS = re.compile(r"[|+]")


def _new_id() -> str:
    return secrets.token_hex(8)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def require_ids(kb_id: str) -> None:
    """Refuse what neither names concepts alone nor says that there is none.

    kb_id (str): Ids, as a correction has them.
    RAISES (ConnormError): CN006 for spaces and separators alone, and for "NIL" besides ids.
    """
    said = [part for part in _SEPARATORS.split(kb_id) if part.strip()]
    are_ids = {bool(split_ids(part)) for part in said}
    if len(are_ids) != 1:
        refuse_text("kb_id", kb_id, 'a concept id, ids joined by `|`, or "NIL"')


@dataclass(frozen=True, slots=True)
class Correction:
    """What somebody says that a mention denotes.

    text (str): The text that it stands in.
    start (int): Its first character.
    end (int): The character after it.
    kb_id (str): The concept id, "NIL" for none, ids joined by `|` for a composite.
    label (str): The entity type.
    long_form (str): What it stands for, if its text defines it.
    marked (bool): Whether somebody set its boundaries: the pipeline had not found it so.
    replaces (Optional[Tuple[int, int]]): The boundaries that the pipeline had found instead.
    author (str): Who says so; may be empty.
    time (str): When, ISO 8601, UTC.
    id (str): Identifies the correction.
    """

    text: str
    start: int
    end: int
    kb_id: str
    label: str = ""
    long_form: str = ""
    marked: bool = False
    replaces: tuple[int, int] | None = None
    author: str = ""
    time: str = field(default_factory=_now)
    id: str = field(default_factory=_new_id)

    @property
    def mention(self) -> str:
        """RETURNS (str): The mention."""
        return self.text[self.start : self.end]

    @property
    def searched(self) -> str:
        """RETURNS (str): The text that it is about: the mention, or what its text defines it as."""
        return self.long_form or self.mention

    @property
    def synonyms(self) -> list[tuple[str, str]]:
        """RETURNS (List[Tuple[str, str]]): What it adds to D: the text that it is about, with each
        of its concept ids. Empty for "NIL".
        """
        return [(self.searched, concept_id) for concept_id in split_ids(self.kb_id)]


@dataclass(frozen=True, slots=True)
class Undo:
    """Takes a correction back.

    undoes (str): The id of the correction.
    author (str): Who takes it back; may be empty.
    time (str): When, ISO 8601, UTC.
    id (str): Identifies this record.
    """

    undoes: str
    author: str = ""
    time: str = field(default_factory=_now)
    id: str = field(default_factory=_new_id)


CorrectionRecord: TypeAlias = Correction | Undo


def to_line(record: CorrectionRecord) -> str:
    """RETURNS (str): One line of JSON, without its end."""
    return json.dumps(asdict(record), ensure_ascii=False)


def from_line(line: str) -> CorrectionRecord:
    """Read what `to_line` wrote; unknown fields are ignored.

    line (str): One line of JSON.
    RETURNS (CorrectionRecord): A correction or an undo.
    RAISES (ValueError): For anything else.
    """
    read = json.loads(line)
    if not isinstance(read, dict):
        raise ValueError("not an object")
    kind: type[Correction] | type[Undo] = Undo if "undoes" in read else Correction
    values = {each.name: read[each.name] for each in fields(kind) if each.name in read}
    if kind is Undo:
        _require(values, str, "undoes", "author", "time", "id")
        return Undo(**values)
    return _correction(values)


def _correction(values: dict[str, Any]) -> Correction:
    _require(values, str, "text", "kb_id", "time", "id")
    _require(values, int, "start", "end")
    optional = {"label": "", "long_form": "", "author": "", "marked": False, **values}
    _require(optional, str, "label", "long_form", "author")
    _require(optional, bool, "marked")
    replaces = values.get("replaces")
    values["replaces"] = None if replaces is None else (int(replaces[0]), int(replaces[1]))
    correction = Correction(**values)
    if not 0 <= correction.start < correction.end <= len(correction.text):
        raise ValueError("no such characters")
    return correction


def _require(values: dict[str, Any], kind: type, *names: str) -> None:
    for name in names:
        if not isinstance(values.get(name), kind):
            raise ValueError(f"{name!r} is missing or of another type")


def effective(records: Iterable[CorrectionRecord]) -> list[Correction]:
    """Find the corrections that count: not undone, and no later one is about the same characters of
    the same text.

    records (Iterable[CorrectionRecord]): All records, in the order of the file.
    RETURNS (List[Correction]): In the order of the file.
    """
    records = list(records)
    undone = {each.undoes for each in records if isinstance(each, Undo)}
    last: dict[tuple[str, int, int], Correction] = {}
    for each in records:
        if isinstance(each, Correction) and each.id not in undone:
            place = (each.text, each.start, each.end)
            last.pop(place, None)
            last[place] = each
    return list(last.values())
