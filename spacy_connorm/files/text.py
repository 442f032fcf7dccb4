"""Read and open text files, plain or gzipped."""

import gzip
import hashlib
import zlib
from collections.abc import Iterator
from pathlib import Path

from ..errors import ConnormError, Errors


def open_text(path: Path, mode: str = "rt", *, newline: str | None = None):
    """Open a text file as UTF-8, a `.gz` file through gzip. Lone surrogates are kept, a byte order
    mark is skipped.

    path (Path): The file.
    mode (str): "rt" or "wt".
    newline (Optional[str]): As for `open`; "" keeps all line ends as they are.
    RETURNS (TextIO): The open file.
    """
    opener = gzip.open if path.suffix.lower() == ".gz" else open
    encoding = "utf-8-sig" if mode == "rt" else "utf-8"
    return opener(path, mode, encoding=encoding, errors="surrogatepass", newline=newline)


def read_lines(path: str | Path) -> Iterator[tuple[int, str]]:
    """Read a text file line by line.

    path (Union[str, Path]): The file; a `.gz` file is read through gzip.
    YIELDS (Tuple[int, str]): The line number, from 1, and the line without its end.
    RAISES (ConnormError): CN100 for a missing file, CN105 for a folder, CN106 for a file that is
        damaged, truncated or not gzipped, CN107 for a file that is not UTF-8 text.
    """
    path = Path(path)
    if path.is_dir():
        raise ConnormError(Errors.CN105.format(path=path))
    if not path.is_file():
        raise ConnormError(Errors.CN100.format(path=path))
    number = 0
    try:
        with open_text(path) as lines:
            for number, line in enumerate(lines, start=1):
                yield number, line.rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise ConnormError(Errors.CN107.format(path=path, line=number + 1)) from error
    except (OSError, EOFError, zlib.error) as error:
        message = Errors.CN106.format(path=path, line=number + 1, reason=error)
        raise ConnormError(message) from error


def read_text(path: str | Path) -> str:
    """Read a whole text file, line ends as they are.

    path (Union[str, Path]): The file.
    RETURNS (str): Its text, without a byte order mark.
    RAISES (ConnormError): CN107 for a file that is not UTF-8 text, CN106 if it can't be read.
    """
    path = Path(path)
    try:
        with open_text(path, newline="") as file:
            return file.read()
    except UnicodeDecodeError as error:
        raise ConnormError(Errors.CN107.format(path=path, line=1)) from error
    except (OSError, EOFError, zlib.error) as error:
        raise ConnormError(Errors.CN106.format(path=path, line=1, reason=error)) from error


def sha256(path: Path) -> str:
    """RETURNS (str): The SHA-256 of a file, as hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
