"""NumPy arrays in files: memory-mapped for reading, written whole or in blocks."""

from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from ...files.checksums import damaged

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


def open_array(
    path: Path,
    dtype: str | Collection[str],
    shape: tuple[int | None, ...],
    *,
    bounds: tuple[int, int] | None = None,
    finite: bool = False,
    writable: bool = False,
) -> np.ndarray:
    """Open an array memory-mapped. All files with arrays are opened here: nothing that is read
    from one may make NumPy, SciPy or another library read memory that is not its own.

    path (Path): A `.npy` file.
    dtype (Union[str, Collection[str]]): Its dtype, or several that are valid.
    shape (Tuple[Optional[int], ...]): Its shape; None for any length.
    bounds (Optional[Tuple[int, int]]): The least value and the first that is too large. The whole
        file is read.
    finite (bool): Whether all values must be finite. The whole file is read.
    writable (bool): For libraries that take nothing else; writes stay in this process.
    RETURNS (np.ndarray): A plain array over the mapped pages, since `np.memmap` is slow to index.
    RAISES (ConnormError): CN402 if the file holds anything else.
    """
    try:
        mapped = np.lib.format.open_memmap(path, mode="c" if writable else "r")
    # NumPy evaluates the header, which can fail in many ways.
    except Exception as error:
        raise damaged(path, f"it holds no array ({type(error).__name__})") from error
    array = np.asarray(mapped)
    dtypes = [dtype] if isinstance(dtype, str) else list(dtype)
    if array.dtype not in map(np.dtype, dtypes) or not array.dtype.isnative:
        raise damaged(path, f"its dtype is {array.dtype}, not {' or '.join(dtypes)}")
    lengths = "x".join("any" if length is None else str(length) for length in shape)
    if len(shape) != array.ndim or not array.flags.c_contiguous:
        raise damaged(path, f"it is no array of {lengths} values")
    if any(length not in (None, found) for length, found in zip(shape, array.shape, strict=True)):
        found = "x".join(map(str, array.shape))
        raise damaged(path, f"it has {found} values, not {lengths}")
    if bounds is not None:
        _require_bounds(path, array, *bounds)
    if finite and not np.isfinite(array).all():
        raise damaged(path, "not all its values are finite")
    return array


def _require_bounds(path: Path, array: np.ndarray, least: int, end: int) -> None:
    if not array.size:
        return
    # A bool that was read from a file can have any of 256 values.
    values = array.view("uint8") if array.dtype == "bool" else array
    # Read as unsigned, negative values are too large: one pass instead of two.
    unsigned = values.view(values.dtype.str.replace("i", "u"))
    is_inside = unsigned.max() < end if least == 0 else least <= values.min() <= values.max() < end
    if not is_inside:
        found = f"{values.min()} to {values.max()}"
        raise damaged(path, f"its values are {found}, not {least} to {end - 1}")


def require_offsets(path: Path, offsets: np.ndarray, total: int) -> None:
    """Check the places where lists start that lie one after another.

    path (Path): The file that they are from.
    offsets (Ints1d): (lists + 1,): list i goes from `offsets[i]` to `offsets[i + 1]`.
    total (int): Where the last one must end.
    RAISES (ConnormError): CN402.
    """
    if not len(offsets) or offsets[0] != 0 or offsets[-1] != total:
        raise damaged(path, f"it does not divide {total} values")
    if not ascends(offsets):
        raise damaged(path, "its values do not ascend")


def ascends(numbers: np.ndarray, *, strictly: bool = False) -> bool:
    """RETURNS (bool): Whether each number is at least the one before, or larger."""
    return bool((numbers[1:] > numbers[:-1] if strictly else numbers[1:] >= numbers[:-1]).all())


def write_csr(matrix: sparse.csr_matrix, folder: Path, stem: str) -> None:
    """Write the three arrays of a CSR matrix to `folder`, in files whose names start with `stem`.

    matrix (csr_matrix): The matrix.
    folder (Path): The folder.
    stem (str): How the file names start.
    """
    for part in CSR_PARTS:
        np.save(folder / f"{stem}.{part}.npy", getattr(matrix, part))


def open_csr(
    folder: Path, stem: str, *, rows: int, width: int, writable: bool = False
) -> sparse.csr_matrix:
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


def make_csr(parts: Any, width: int) -> sparse.csr_matrix:
    """RETURNS (csr_matrix): (n, width), from three arrays, without copying or checking them."""
    data, indices, pointers = parts
    matrix = sparse.csr_matrix((len(pointers) - 1, width), dtype="float32")
    matrix.data, matrix.indices, matrix.indptr = data, indices, pointers
    return matrix
