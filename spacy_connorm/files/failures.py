"""One error for files that can't be written, whichever library notices."""

import errno
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..errors import ConnormError, Errors

_FULL = {errno.ENOSPC, errno.EFBIG, errno.EDQUOT} if os.name == "posix" else {errno.ENOSPC}
# Libraries written in Rust pass on numbers of the system: safetensors, tokenizers.
_RUST = re.compile(r"\(os error (\d+)\)")
# Of torch, SQLite and faiss, which have no class or number for it.
_OTHERS = ("inline_container.cc", "disk is full", "disk I/O error", "write error in")


@contextmanager
def write_errors(path: Path) -> Iterator[None]:
    """Raise one error for whatever libraries raise when the disk is full or refuses a file.

    path (Path): The folder that is written.
    RAISES (ConnormError): CN405.
    """
    try:
        yield
    except (ConnormError, BrokenPipeError):
        raise
    except Exception as error:
        reason = _find_reason(error)
        if reason is None:
            raise
        raise ConnormError(Errors.CN405.format(path=path, reason=reason)) from error


def _find_reason(error: Exception) -> str | None:
    number = error.errno if isinstance(error, OSError) else None
    from_rust = _RUST.search(str(error))
    if from_rust and int(from_rust[1]) in {*_FULL, errno.EIO, errno.EROFS}:
        number = int(from_rust[1])
    if number in _FULL:
        return "the disk is full" if number == errno.ENOSPC else os.strerror(number)
    if isinstance(error, OSError):
        return str(error)
    if number is not None:
        return os.strerror(number)
    return "the disk is full or fails" if any(each in str(error) for each in _OTHERS) else None
