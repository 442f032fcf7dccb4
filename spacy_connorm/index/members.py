"""The concepts that each row of an index denotes."""

from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np

from ..files.arrays import open_array, require_offsets, save_arrays
from .search import D, O

_MOST_TIMES = 2**31


@dataclass(frozen=True)
class Members:
    """The members of all rows.

    start (Ints1d): int64 (rows + 1,): the members of row r are start[r] to start[r + 1].
    concept (Ints1d): int32 (members,): concept numbers.
    target (Ints1d): uint8 (members,): O, D or both.
    count (Ints1d): int32 (members,): how often this text has this concept in D; 0 for O.
    preferred (Ints1d): bool (members,): whether the text is the concept's preferred name.
    inexact (Ints1d): bool (members,): whether it is only in O, as an inexact synonym.
    """

    start: np.ndarray
    concept: np.ndarray
    target: np.ndarray
    count: np.ndarray
    preferred: np.ndarray
    inexact: np.ndarray

    def rows_of(self, target: int) -> tuple[int, int]:
        """Find the rows of a target.

        RETURNS (Tuple[int, int]): The range of rows that have a member of the target.
        """
        matching = self.target & target > 0
        if not matching.any():
            return 0, 0
        ends = [matching.argmax(), len(matching) - 1 - matching[::-1].argmax()]
        first, last = np.searchsorted(self.start, ends, side="right") - 1
        return int(first), int(last) + 1

    def row_numbers(self) -> np.ndarray:
        """The row of each member.

        RETURNS (Ints1d): int64 (members,).
        """
        return np.repeat(np.arange(len(self.start) - 1), np.diff(self.start))

    def of(self, row: int, concept: int) -> np.ndarray:
        """Find the members of a row that denote a concept.

        RETURNS (Ints1d): int64 member numbers.
        """
        first, last = self.start[row], self.start[row + 1]
        return first + np.flatnonzero(self.concept[first:last] == concept)

    def of_rows(self, rows: np.ndarray) -> np.ndarray:
        """List the members of some rows.

        RETURNS (Ints1d): int64 member numbers, row by row.
        """
        start = self.start[rows]
        sizes = self.start[rows + 1] - start
        ends = np.cumsum(sizes)
        return np.repeat(start - ends + sizes, sizes) + np.arange(ends[-1] if len(ends) else 0)

    def ranks(self, members: np.ndarray) -> np.ndarray:
        """Rank members by the kind of name.

        RETURNS (Ints1d): int8: 0 for a concept's preferred name, 1 for another name, 2 for an
            inexact synonym.
        """
        return 1 - self.preferred[members].astype("int8") + self.inexact[members]

    def write(self, folder: Path) -> None:
        save_arrays(folder, "members", vars(self))

    @classmethod
    def open(cls, folder: Path, *, rows: int, concepts: int) -> "Members":
        """Open the files written by `write`, memory-mapped.

        folder (Path): The folder.
        rows (int): The number of rows.
        concepts (int): The number of concepts.
        RETURNS (Members): The members.
        RAISES (ConnormError): CN402 if the files are not for these rows and concepts.
        """
        file = {field.name: folder / f"members.{field.name}.npy" for field in fields(cls)}
        concept = open_array(file["concept"], "int32", (None,), bounds=(0, concepts))
        same = concept.shape
        start = open_array(file["start"], "int64", (rows + 1,))
        require_offsets(file["start"], start, len(concept))
        return cls(
            start=start,
            concept=concept,
            target=open_array(file["target"], "uint8", same, bounds=(O, (O | D) + 1)),
            count=open_array(file["count"], "int32", same, bounds=(0, _MOST_TIMES)),
            preferred=open_array(file["preferred"], "bool", same, bounds=(0, 2)),
            inexact=open_array(file["inexact"], "bool", same, bounds=(0, 2)),
        )
