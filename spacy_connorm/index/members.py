"""Which concepts each vector row denotes, as flat arrays that are opened memory-mapped.

A member says: this text denotes this concept, according to O, D or both. The members of a row
stand together; rows are ordered O only, O and D, D only, so that each target is one range.
"""

from collections.abc import Iterable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import NamedTuple

import numpy as np

from .vectors import map_array

O, D = 1, 2  # noqa: E741  (the papers' names)
TARGETS = {"O": O, "D": D, "OD": O | D}


class Denotation(NamedTuple):
    """One statement that a text denotes a concept.

    text (str): As written.
    concept (int): The concept's number in the store.
    target (int): O or D.
    preferred (bool): Whether the text is the concept's preferred name.
    """

    text: str
    concept: int
    target: int
    preferred: bool


@dataclass(frozen=True)
class Members:
    """The members of all rows.

    start (Ints1d): int64 (rows + 1,): the members of row r are start[r] to start[r + 1].
    concept (Ints1d): int32 (members,): concept numbers.
    target (Ints1d): uint8 (members,): O, D or both.
    count (Ints1d): int32 (members,): how often D gives this text this concept; 0 for O.
    preferred (Ints1d): bool (members,): the text is the concept's preferred name.
    """

    start: np.ndarray
    concept: np.ndarray
    target: np.ndarray
    count: np.ndarray
    preferred: np.ndarray

    def rows_of(self, target: int) -> tuple[int, int]:
        """RETURNS (Tuple[int, int]): First and last-plus-one row with a member of the target."""
        matching = np.flatnonzero(self.target & target)
        if not len(matching):
            return 0, 0
        row_of = np.searchsorted(self.start, matching[[0, -1]], side="right") - 1
        return int(row_of[0]), int(row_of[1]) + 1

    def row_numbers(self) -> np.ndarray:
        """RETURNS (Ints1d): int64 (members,): the row of each member."""
        return np.repeat(np.arange(len(self.start) - 1), np.diff(self.start))

    def of(self, row: int, concept: int) -> np.ndarray:
        """RETURNS (Ints1d): int64: the members of a row that denote a concept."""
        first, last = self.start[row], self.start[row + 1]
        return first + np.flatnonzero(self.concept[first:last] == concept)

    def of_rows(self, rows: np.ndarray) -> np.ndarray:
        """RETURNS (Ints1d): int64: the members of some rows, row after row."""
        start = self.start[rows]
        sizes = self.start[rows + 1] - start
        ends = np.cumsum(sizes)
        return np.repeat(start - ends + sizes, sizes) + np.arange(ends[-1] if len(ends) else 0)

    def write(self, folder: Path) -> None:
        for field in fields(self):
            np.save(folder / f"members.{field.name}.npy", getattr(self, field.name))

    @classmethod
    def open(cls, folder: Path) -> "Members":
        return cls(*(map_array(folder / f"members.{field.name}.npy") for field in fields(cls)))


class Table(NamedTuple):
    """What `gather` makes of denotations.

    members (Members): The members.
    texts (List[str]): One text a member: how the concept's text is written.
    inputs (List[str]): One text a row: what is given to the encoder.
    keys (List[bytes]): One encoder input a row.
    """

    members: Members
    texts: list[str]
    inputs: list[str]
    keys: list[bytes]


def gather(denotations: Iterable[tuple[bytes, Denotation]]) -> Table:
    """Give each distinct encoder input one row, and each row its members.

    denotations (Iterable[Tuple[bytes, Denotation]]): Encoder inputs and what they denote.
        Repetitions in D are counted.
    RETURNS (Table): Rows and members, in the order that `Members` needs.
    """
    rows: dict[bytes, dict[int, _Member]] = {}
    for key, (text, concept, target, preferred) in denotations:
        member = rows.setdefault(key, {}).setdefault(concept, _Member(concept, text))
        if preferred and not member.preferred:
            member.text, member.preferred = text, True
        member.target |= target
        member.count += target == D
    return _table(sorted(rows.items(), key=_range_of))


@dataclass(slots=True)
class _Member:
    concept: int
    text: str
    target: int = 0
    count: int = 0
    preferred: bool = False


def _range_of(row: tuple[bytes, dict[int, _Member]]) -> int:
    targets = 0
    for member in row[1].values():
        targets |= member.target
    return {O: 0, O | D: 1, D: 2}[targets]


def _table(rows: list[tuple[bytes, dict[int, _Member]]]) -> Table:
    flat = [member for _, members in rows for member in members.values()]
    sizes = np.asarray([0, *(len(members) for _, members in rows)], dtype="int64")
    members = Members(
        start=np.cumsum(sizes),
        concept=np.asarray([member.concept for member in flat], dtype="int32"),
        target=np.asarray([member.target for member in flat], dtype="uint8"),
        count=np.asarray([member.count for member in flat], dtype="int32"),
        preferred=np.asarray([member.preferred for member in flat], dtype="bool"),
    )
    texts = [member.text for member in flat]
    inputs = [texts[first] for first in members.start[:-1]]
    return Table(members, texts, inputs, [key for key, _ in rows])
