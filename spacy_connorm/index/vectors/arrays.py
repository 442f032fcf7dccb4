"""NumPy arrays in files: opened memory-mapped, written whole or block by block."""

from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

CSR_PARTS = ("data", "indices", "indptr")
# A header of this size has room for any number of rows, and rows begin at a multiple of 64.
_HEADER_BYTES = 128
_MAGIC = b"\x93NUMPY\x01\x00"


class ArrayWriter:
    """Appends blocks of rows to a `.npy` file, without a limit and without holding them. The number
    of rows is written into the header at the end; plain writes, since a full disk kills a process
    that writes through a memory map."""

    def __init__(self, path: Path) -> None:
        """path (Path): The file to make."""
        self._file = path.open("wb")
        self._rows = 0
        self._like: np.ndarray | None = None

    def append(self, block: np.ndarray) -> None:
        """Write some rows.

        block (np.ndarray): (b, ...) rows, of the same type and width in every block.
        """
        if self._like is None:
            self._like = block[:0]
            self._file.write(bytes(_HEADER_BYTES))
        self._rows += len(block)
        np.ascontiguousarray(block).tofile(self._file)

    def close(self) -> None:
        """Write the header, and close the file."""
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
    RETURNS (np.ndarray): A plain array over the mapped pages; `np.memmap` itself is slow to index.
    """
    return np.asarray(np.load(path, mmap_mode="r", allow_pickle=False))


def write_csr(matrix: sparse.csr_matrix, folder: Path, stem: str) -> None:
    """Write the three arrays of a CSR matrix under `folder`, in files that begin with `stem`."""
    for part in CSR_PARTS:
        np.save(folder / f"{stem}.{part}.npy", getattr(matrix, part))


def make_csr(parts: Any, width: int) -> sparse.csr_matrix:
    """RETURNS (csr_matrix): (n, width), of three arrays that are neither copied nor looked at: that
    would read the files that they are mapped from.
    """
    data, indices, pointers = parts
    matrix = sparse.csr_matrix((len(pointers) - 1, width), dtype="float32")
    matrix.data, matrix.indices, matrix.indptr = data, indices, pointers
    return matrix
