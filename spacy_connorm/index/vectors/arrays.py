"""NumPy arrays in files: memory-mapped for reading, written whole or in blocks."""

from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

CSR_PARTS = ("data", "indices", "indptr")
# A header of this size fits any number of rows, and aligns the rows to 64 bytes.
_HEADER_BYTES = 128
_MAGIC = b"\x93NUMPY\x01\x00"


class ArrayWriter:
    """Appends any number of rows to a `.npy` file. The number of rows is written to the header at
    the end. It uses plain writes, since a full disk kills a process that writes to a memory map.
    """

    def __init__(self, path: Path) -> None:
        """Create the file.

        path (Path): The file.
        """
        self._file = path.open("wb")
        self._rows = 0
        self._like: np.ndarray | None = None

    def append(self, block: np.ndarray) -> None:
        """Write some rows.

        block (np.ndarray): (b, ...) rows, with the same dtype and width in every block.
        """
        if self._like is None:
            self._like = block[:0]
            self._file.write(bytes(_HEADER_BYTES))
        self._rows += len(block)
        np.ascontiguousarray(block).tofile(self._file)

    def close(self) -> None:
        """Write the header and close the file."""
        with self._file as file:
            if self._like is not None:
                file.seek(0)
                file.write(_header(self._like, self._rows))


def _header(like: np.ndarray, rows: int) -> bytes:
    description = {
        "descr": np.lib.format.dtype_to_descr(like.dtype),
        "fortran_order": False,
        "shape": (rows, *like.shape[1:]),
    }
    room = _HEADER_BYTES - len(_MAGIC) - 2
    text = repr(description).encode("latin1").ljust(room - 1) + b"\n"
    return _MAGIC + room.to_bytes(2, "little") + text


def map_array(path: Path) -> np.ndarray:
    """Open an array memory-mapped and read-only.

    path (Path): A `.npy` file.
    RETURNS (np.ndarray): A plain array over the mapped pages, since `np.memmap` is slow to index.
    """
    return np.asarray(np.load(path, mmap_mode="r", allow_pickle=False))


def write_csr(matrix: sparse.csr_matrix, folder: Path, stem: str) -> None:
    """Write the three arrays of a CSR matrix to `folder`, in files whose names start with `stem`.

    matrix (csr_matrix): The matrix.
    folder (Path): The folder.
    stem (str): How the file names start.
    """
    for part in CSR_PARTS:
        np.save(folder / f"{stem}.{part}.npy", getattr(matrix, part))


def make_csr(parts: Any, width: int) -> sparse.csr_matrix:
    """RETURNS (csr_matrix): (n, width), from three arrays, without copying or checking them: that
    would read the files that they are mapped from.
    """
    data, indices, pointers = parts
    matrix = sparse.csr_matrix((len(pointers) - 1, width), dtype="float32")
    matrix.data, matrix.indices, matrix.indptr = data, indices, pointers
    return matrix
