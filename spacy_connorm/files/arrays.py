"""Arrays and texts in files, memory-mapped for reading, and look-ups in sorted arrays."""

from array import array
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np

from .folders import damaged


def open_array(
    path: Path,
    dtype: str | Collection[str],
    shape: tuple[int | None, ...],
    *,
    bounds: tuple[int, int] | None = None,
    finite: bool = False,
) -> np.ndarray:
    """Open an array memory-mapped. All files with arrays are opened by this function, since nothing
    read from one may make NumPy, SciPy or another library read memory that is not its own.

    path (Path): A `.npy` file.
    dtype (Union[str, Collection[str]]): Its dtype, or several valid ones.
    shape (Tuple[Optional[int], ...]): Its shape; None for any length.
    bounds (Optional[Tuple[int, int]]): The minimum value and the first value that is too large. The
        whole file is read.
    finite (bool): Whether all values must be finite. The whole file is read.
    RETURNS (np.ndarray): A plain array over the mapped pages, since `np.memmap` is slow to index.
    RAISES (ConnormError): CN402 if the file contains anything else.
    """
    try:
        mapped = np.lib.format.open_memmap(path, mode="r")
    # NumPy evaluates the header, which can fail in many ways.
    except Exception as error:
        raise damaged(path, f"it holds no array ({type(error).__name__})") from error
    array = np.asarray(mapped)
    dtypes = [dtype] if isinstance(dtype, str) else list(dtype)
    if array.dtype not in map(np.dtype, dtypes) or not array.dtype.isnative:
        raise damaged(path, f"its dtype is {array.dtype}, not {' or '.join(dtypes)}")
    lengths = "x".join("any" if length is None else str(length) for length in shape)
    if len(shape) != array.ndim or not array.flags.c_contiguous:
        raise damaged(path, f"it is not an array of {lengths} values")
    if any(length not in (None, size) for length, size in zip(shape, array.shape, strict=True)):
        found = "x".join(map(str, array.shape))
        raise damaged(path, f"it has {found} values, not {lengths}")
    if bounds is not None:
        _require_bounds(path, array, *bounds)
    if finite and not np.isfinite(array).all():
        raise damaged(path, "not all of its values are finite")
    return array


def save_arrays(folder: Path, stem: str, arrays: Mapping[str, np.ndarray]) -> None:
    """Write each array to a file `STEM.NAME.npy`.

    folder (Path): The folder of the files.
    stem (str): The beginning of their names.
    arrays (Mapping[str, np.ndarray]): The arrays by name.
    """
    for name, values in arrays.items():
        np.save(folder / f"{stem}.{name}.npy", values)


def write_header(file: BinaryIO, dtype: np.dtype | str, shape: tuple[int, ...]) -> None:
    """Begin a `.npy` file whose values are written in parts.

    file (BinaryIO): The file, opened for writing.
    dtype (Union[np.dtype, str]): Its dtype.
    shape (Tuple[int, ...]): Its shape, in C order.
    """
    kind = np.lib.format.dtype_to_descr(np.dtype(dtype))
    header = {"descr": kind, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(file, header)


def _require_bounds(path: Path, array: np.ndarray, least: int, end: int) -> None:
    if not array.size:
        return
    # A bool read from a file can have any of 256 values.
    values = array.view("uint8") if array.dtype == "bool" else array
    smallest, largest = values.min(), values.max()
    if smallest < least or largest >= end:
        raise damaged(path, f"its values are {smallest} to {largest}, not {least} to {end - 1}")


def require_offsets(path: Path, offsets: np.ndarray, total: int) -> None:
    """Check the offsets of lists that are stored one after another.

    path (Path): The file with the offsets.
    offsets (Ints1d): (lists + 1,): list i goes from `offsets[i]` to `offsets[i + 1]`.
    total (int): The end of the last list.
    RAISES (ConnormError): CN402.
    """
    if not len(offsets) or offsets[0] != 0 or offsets[-1] != total:
        raise damaged(path, f"it does not divide {total} values")
    if (offsets[1:] < offsets[:-1]).any():
        raise damaged(path, "its values do not ascend")


@dataclass(frozen=True, eq=False)
class TextArray:
    """Texts in files, memory-mapped.

    utf8 (np.ndarray): uint8: the n texts as UTF-8, one after another.
    start (Ints1d): int64 (n + 1,): text i goes from start[i] to start[i + 1].
    path (Path): The file of `utf8`, for messages.
    """

    utf8: np.ndarray
    start: np.ndarray
    path: Path = Path()

    def __len__(self) -> int:
        return len(self.start) - 1

    @classmethod
    def of(cls, texts: Iterable[str]) -> "TextArray":
        """Put texts one after another, in memory.

        texts (Iterable[str]): Texts that can be encoded as UTF-8.
        RETURNS (TextArray): The texts.
        """
        encoded = [text.encode() for text in texts]
        utf8 = np.frombuffer(b"".join(encoded), dtype="uint8")
        return cls(utf8, np.cumsum([0, *map(len, encoded)]))

    @classmethod
    def open(cls, folder: Path, stem: str) -> "TextArray":
        """Open texts.

        folder (Path): The folder of their files.
        stem (str): The beginning of the file names.
        RETURNS (TextArray): The texts.
        RAISES (ConnormError): CN402 if the files do not fit together.
        """
        path, start_path = (folder / f"{stem}.{part}.npy" for part in ("utf8", "start"))
        utf8 = open_array(path, "uint8", (None,))
        start = open_array(start_path, "int64", (None,))
        require_offsets(start_path, start, len(utf8))
        return cls(utf8, start, path)

    def read(self, numbers: np.ndarray) -> list[str]:
        """Read texts.

        numbers (Ints1d): int64 (b,): their numbers.
        RETURNS (List[str]): b texts.
        RAISES (ConnormError): CN402 for texts that the files lack, or that are not UTF-8.
        """
        if len(numbers) and not 0 <= numbers.min() <= numbers.max() < len(self.start) - 1:
            raise damaged(self.path, "it lacks texts")
        content = self.utf8.data
        bounds = zip(self.start[numbers].tolist(), self.start[numbers + 1].tolist(), strict=True)
        try:
            return [str(content[start:end], "utf8") for start, end in bounds]
        except UnicodeDecodeError as error:
            raise damaged(self.path, error) from error


def save_texts(folder: Path, stem: str, texts: Iterable[bytes]) -> None:
    """Write the files that `TextArray.open` opens. The texts are not kept in memory.

    folder (Path): The folder.
    stem (str): The beginning of the file names.
    texts (Iterable[bytes]): The texts as UTF-8.
    """
    start = array("q", [0])
    with (folder / f"{stem}.utf8.npy").open("wb") as file:
        write_header(file, "uint8", (0,))
        for text in texts:
            file.write(text)
            start.append(start[-1] + len(text))
        # Headers have room for any length, so this one takes the place of the first.
        file.seek(0)
        write_header(file, "uint8", (start[-1],))
    save_arrays(folder, stem, {"start": np.frombuffer(start, dtype="int64")})


def list_ranges(first: np.ndarray, last: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """List the numbers of ranges one after another.

    first (Ints1d): int64 (n,): the first number of each range.
    last (Ints1d): int64 (n,): the number after its last.
    RETURNS (Tuple[Ints1d, Ints1d]): int64 (m,): the range of each number, ascending, and the
        numbers.
    """
    sizes = last - first
    owners = np.repeat(np.arange(len(sizes)), sizes)
    shifts = first - (np.cumsum(sizes) - sizes)
    return owners, np.arange(len(owners)) + shifts[owners]


def find_sorted(known: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Find the positions of values in a sorted array.

    known (np.ndarray): (n,), sorted.
    values (np.ndarray): Of any shape with at least one dimension, of the same dtype.
    RETURNS (np.ndarray): int64, in the shape of `values`: the first position of each value; -1 for
        values that are not in the array.
    """
    if not len(known):
        return np.full(values.shape, -1, dtype="int64")
    places = np.searchsorted(known, values)
    places[places == len(known)] = 0
    places[known[places] != values] = -1
    return places


def are_among(known: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Check which values are in a sorted array.

    known (np.ndarray): (n,), sorted.
    values (np.ndarray): Of any shape with at least one dimension, of the same dtype.
    RETURNS (np.ndarray): bool, of the shape of `values`.
    """
    return find_sorted(known, values) >= 0
