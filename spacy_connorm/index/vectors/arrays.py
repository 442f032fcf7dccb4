"""NumPy arrays in files, written in blocks, and CSR matrices in three of them."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...files.arrays import open_array, require_offsets

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

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


def write_csr(matrix: "csr_matrix", folder: Path, stem: str) -> None:
    """Write the three arrays of a CSR matrix to `folder`, in files whose names start with `stem`.

    matrix (csr_matrix): The matrix.
    folder (Path): The folder.
    stem (str): How the file names start.
    """
    for part in CSR_PARTS:
        np.save(folder / f"{stem}.{part}.npy", getattr(matrix, part))


def open_csr(
    folder: Path, stem: str, *, rows: int, width: int, writable: bool = False
) -> "csr_matrix":
    """Open what `write_csr` wrote, memory-mapped. Indices are read, since SciPy and others trust
    them; a search that compares with every row reads them too.

    folder (Path): The folder.
    stem (str): How the file names start.
    rows (int): The number of rows.
    width (int): The number of columns.
    writable (bool): As in `open_array`.
    RETURNS (csr_matrix): float32 (rows, width).
    RAISES (ConnormError): CN402 for anything else.
    """
    data_file, indices_file, pointers_file = (folder / f"{stem}.{part}.npy" for part in CSR_PARTS)
    pointers = open_array(pointers_file, ("int32", "int64"), (rows + 1,), writable=writable)
    data = open_array(data_file, "float32", (None,), writable=writable)
    require_offsets(pointers_file, pointers, len(data))
    kind = str(pointers.dtype)
    indices = open_array(indices_file, kind, (len(data),), bounds=(0, width), writable=writable)
    return make_csr((data, indices, pointers), width)


def make_csr(parts: Any, width: int) -> "csr_matrix":
    """RETURNS (csr_matrix): (n, width), from three arrays, without copying or checking them."""
    from scipy.sparse import csr_matrix

    data, indices, pointers = parts
    matrix = csr_matrix((len(pointers) - 1, width), dtype="float32")
    matrix.data, matrix.indices, matrix.indptr = data, indices, pointers
    return matrix
