"""Find the row of a text by a hash of what the encoder reads of it."""

from collections.abc import Iterable
from functools import partial
from hashlib import blake2b
from operator import methodcaller
from pathlib import Path

import numpy as np

from ..files.arrays import find_sorted, open_array, save_arrays


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
