"""From encoder inputs to vector rows, without storing the inputs."""

from collections.abc import Iterable, Sequence
from hashlib import blake2b
from pathlib import Path

import numpy as np

from ..files.arrays import ascends, find_sorted, open_array


class KeyTable:
    """Sorted 64-bit hashes of encoder inputs, opened memory-mapped. Two of ten million inputs
    share a hash with a probability of about 3 in a million."""

    def __init__(self, hashes: np.ndarray, rows: np.ndarray) -> None:
        """Wrap the arrays.

        hashes (np.ndarray): uint64 (n,), sorted.
        rows (np.ndarray): int64 (n,), the row of each.
        """
        self._hashes = hashes
        self._rows = rows

    @classmethod
    def from_hashes(cls, hashes: np.ndarray) -> "KeyTable":
        """hashes (np.ndarray): uint64 (n,), one per row."""
        rows = np.argsort(hashes, kind="stable")
        return cls(hashes[rows], rows)

    def row(self, key: bytes) -> int | None:
        """RETURNS (Optional[int]): The row of an encoder input; None if the index lacks it."""
        value = np.uint64(_hash(key))
        place = int(np.searchsorted(self._hashes, value))
        if place < len(self._hashes) and self._hashes[place] == value:
            return int(self._rows[place])
        return None

    def rows(self, keys: Sequence[bytes]) -> np.ndarray:
        """RETURNS (Ints1d): int64 (n,): the rows of n encoder inputs; -1 for unknown ones."""
        return self.rows_of(hash_keys(keys))

    def rows_of(self, values: np.ndarray) -> np.ndarray:
        """RETURNS (Ints1d): int64 (n,): as `rows`, by the hashes of inputs."""
        places = find_sorted(self._hashes, values)
        found = places >= 0
        rows = np.full(len(values), -1, dtype="int64")
        rows[found] = self._rows[places[found]]
        return rows

    def hashes(self) -> np.ndarray:
        """RETURNS (np.ndarray): uint64 (rows,): the hash of the encoder input of each row."""
        hashes = np.empty(len(self._hashes), dtype="uint64")
        hashes[self._rows] = self._hashes
        return hashes

    def has_each_row_once(self, rows: int) -> bool:
        """RETURNS (bool): Whether the hashes ascend, and so many rows have one hash each."""
        return ascends(self._hashes, strictly=True) and np.array_equal(
            np.sort(self._rows), np.arange(rows)
        )

    def write(self, folder: Path) -> None:
        np.save(folder / "keys.hashes.npy", self._hashes)
        np.save(folder / "keys.rows.npy", self._rows)

    @classmethod
    def open(cls, folder: Path, *, rows: int) -> "KeyTable":
        """Open what `write` wrote, memory-mapped.

        folder (Path): The folder.
        rows (int): The number of rows.
        RETURNS (KeyTable): The table.
        RAISES (ConnormError): CN402 if it does not belong to these rows.
        """
        return cls(
            open_array(folder / "keys.hashes.npy", "uint64", (rows,)),
            open_array(folder / "keys.rows.npy", "int64", (rows,), bounds=(0, rows)),
        )


def hash_keys(keys: Iterable[bytes]) -> np.ndarray:
    """RETURNS (np.ndarray): uint64 (n,): a hash of each encoder input."""
    return np.fromiter(map(_hash, keys), dtype="uint64")


def _hash(key: bytes) -> int:
    return int.from_bytes(blake2b(key, digest_size=8).digest(), "big")
