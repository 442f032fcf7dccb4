"""Read and open text files, plain or gzipped."""

import gzip
import hashlib
import re
import zlib
from collections.abc import Iterator
from io import BufferedReader, TextIOWrapper
from pathlib import Path
from typing import BinaryIO, TextIO

from ..errors import Errors

_GZIP = ".gz"
SURROGATES = "surrogatepass"
# What JSON and damaged files may hold, and spaCy and UTF-8 cannot.
LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def open_text(path: Path, mode: str = "rt", *, newline: str | None = None) -> TextIO:
    """Open a text file as UTF-8, a `.gz` file through gzip. Lone surrogates are kept, a byte order
    mark is skipped. The same text is written as the same bytes each time and on every system.

    path (Path): The file.
    mode (str): "rt" or "wt".
    newline (Optional[str]): How line ends are read, as for `open`; "" keeps them unchanged. When
        writing, they are never changed.
    RETURNS (TextIO): The open file.
    """
    if mode == "rt":
        return TextIOWrapper(open_bytes(path), "utf-8-sig", SURROGATES, newline)
    file: BinaryIO = path.open("wb")
    packed = _Packed(file) if path.suffix.lower() == _GZIP else file
    return TextIOWrapper(packed, "utf-8", SURROGATES, "\n")


def find_ending(path: str | Path) -> str:
    """Find the extension of a file's name, before `.gz`.

    path (Union[str, Path]): The file.
    RETURNS (str): The extension in lower case, such as ".csv"; empty if there is none.
    """
    path = Path(Path(path).name.lower())
    return Path(path.stem).suffix if path.suffix == _GZIP else path.suffix


def open_bytes(path: Path) -> gzip.GzipFile | BufferedReader:
    """Open a file to read its bytes, a `.gz` file through gzip.

    path (Path): The file.
    RETURNS (Union[GzipFile, BufferedReader]): The open file.
    """
    return gzip.GzipFile(path) if path.suffix.lower() == _GZIP else path.open("rb")


class _Packed(gzip.GzipFile):
    """A gzip file written without its name and the time in its header, since they would give the
    same text a different checksum each time.
    """

    def __init__(self, file: BinaryIO) -> None:
        super().__init__("", "wb", fileobj=file, mtime=0)
        self._file = file

    def close(self) -> None:
        try:
            super().close()
        finally:
            self._file.close()


def existing_file(path: str | Path) -> Path:
    """Check that a file exists.

    path (Union[str, Path]): The file.
    RETURNS (Path): The file.
    RAISES (ConnormError): CN100 for a missing file, CN105 for a folder.
    """
    path = Path(path)
    if path.is_dir():
        raise Errors.CN105(path=path)
    if not path.is_file():
        raise Errors.CN100(path=path)
    return path


def read_lines(path: str | Path) -> Iterator[tuple[int, str]]:
    """Read a text file line by line.

    path (Union[str, Path]): The file; a `.gz` file is read through gzip.
    YIELDS (Tuple[int, str]): The line number, from 1, and the line without its end.
    RAISES (ConnormError): The errors of `read_whole_lines`.
    """
    return ((number, line.rstrip("\r\n")) for number, line in read_whole_lines(path))


def read_whole_lines(path: str | Path) -> Iterator[tuple[int, str]]:
    """Read a text file line by line, with its own line ends.

    path (Union[str, Path]): The file; a `.gz` file is read through gzip.
    YIELDS (Tuple[int, str]): The line number, from 1, and the line.
    RAISES (ConnormError): CN100 for a missing file, CN105 for a folder, CN106 for a file that is
        damaged, truncated or not gzipped, CN107 for a file that is not UTF-8 text.
    """
    path, number = existing_file(path), 0
    try:
        with open_text(path, newline="") as lines:
            for number, line in enumerate(lines, start=1):
                yield number, line
    except UnicodeDecodeError as error:
        # Text is decoded in blocks, which begin within the next line.
        before = error.object[: error.start].count(b"\n")
        raise Errors.CN107(path=path, line=number + 1 + before) from error
    except (OSError, EOFError, zlib.error) as error:
        raise Errors.CN106(path=path, line=number + 1, reason=error) from error


def read_text(path: str | Path) -> str:
    """Read a whole text file, with its own line ends.

    path (Union[str, Path]): The file.
    RETURNS (str): Its text, without a byte order mark.
    RAISES (ConnormError): The errors of `read_whole_lines`.
    """
    return "".join(line for _, line in read_whole_lines(path))


def sha256(path: Path) -> str:
    """Compute the SHA-256 of a file.

    path (Path): The file.
    RETURNS (str): Hexadecimal digits.
    """
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
