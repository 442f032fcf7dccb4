"""The rows of an index: which one a text has, by a hash of what the encoder reads of it, and the
concepts that each denotes.
"""

from collections.abc import Iterable
from dataclasses import dataclass, fields
from functools import cached_property, partial
from hashlib import blake2b
from operator import methodcaller
from pathlib import Path

import numpy as np

from ..files.arrays import find_sorted, list_ranges, open_array, require_offsets, save_arrays
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

    @cached_property
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
        return list_ranges(self.start[rows], self.start[rows + 1])[1]

    def ranks(self, members: np.ndarray) -> np.ndarray:
        """Rank members by the kind of name.

        RETURNS (Ints1d): int8: 0 for a concept's preferred name, 1 for another name, 2 for an
            inexact synonym.
        """
        return 1 - self.preferred[members].astype("int8") + self.inexact[members]

    def write(self, folder: Path) -> None:
        arrays = {field.name: getattr(self, field.name) for field in fields(self)}
        save_arrays(folder, "members", arrays)

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


class KeyTable:
    """Sorted 64-bit hashes of encoder inputs, opened memory-mapped. The probability that any two of
    ten million inputs share a hash is about 3 in a million.
    """

    def __init__(self, hashes: np.ndarray, rows: np.ndarray) -> None:
        """Wrap the arrays.

        hashes (np.ndarray): uint64 (n,), sorted.
        rows (np.ndarray): int64 (n,), the row of each.
        """
        self._hashes = hashes
        self._rows = rows

    @classmethod
    def from_hashes(cls, hashes: np.ndarray) -> "KeyTable":
        """Sort the hashes of rows.

        hashes (np.ndarray): uint64 (n,), one per row.
        """
        rows = np.argsort(hashes, kind="stable")
        return cls(hashes[rows], rows)

    def row(self, key: bytes) -> int | None:
        """Find the row of an encoder input.

        RETURNS (Optional[int]): The row; None if the index does not have it.
        """
        row = int(self.rows_of(hash_keys([key]))[0])
        return None if row < 0 else row

    def rows_of(self, values: np.ndarray) -> np.ndarray:
        """Find the rows of n encoder inputs.

        values (np.ndarray): uint64 (n,): their hashes, from `hash_keys`.
        RETURNS (Ints1d): int64 (n,); -1 for unknown inputs.
        """
        places = find_sorted(self._hashes, values)
        found = places >= 0
        rows = np.full(len(values), -1, dtype="int64")
        rows[found] = self._rows[places[found]]
        return rows

    def hashes(self) -> np.ndarray:
        """List the hash of each row's encoder input.

        RETURNS (np.ndarray): uint64 (rows,).
        """
        hashes = np.empty(len(self._hashes), dtype="uint64")
        hashes[self._rows] = self._hashes
        return hashes

    def write(self, folder: Path) -> None:
        save_arrays(folder, "keys", {"hashes": self._hashes, "rows": self._rows})

    @classmethod
    def open(cls, folder: Path, *, rows: int) -> "KeyTable":
        """Open the files written by `write`, memory-mapped.

        folder (Path): The folder.
        rows (int): The number of rows.
        RETURNS (KeyTable): The table.
        RAISES (ConnormError): CN402 if the files do not belong to these rows.
        """
        return cls(
            open_array(folder / "keys.hashes.npy", "uint64", (rows,)),
            open_array(folder / "keys.rows.npy", "int64", (rows,), bounds=(0, rows)),
        )


def hash_keys(keys: Iterable[bytes]) -> np.ndarray:
    """Hash encoder inputs.

    RETURNS (np.ndarray): uint64 (n,).
    """
    digests = map(methodcaller("digest"), map(partial(blake2b, digest_size=8), keys))
    return np.frombuffer(b"".join(digests), dtype=">u8").astype("uint64")
