"""Replace an old folder by a new one, atomically if the system can."""

import ctypes
import errno
import os
import sys
from collections.abc import Callable
from pathlib import Path

# Linux's and macOS's flags for "swap both names".
_RENAME_EXCHANGE = 2
_RENAME_SWAP = 2
_AT_FDCWD = -100
# Errors of systems and file systems without such a call.
_UNSUPPORTED = {errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EPERM}


def put_in_place(new: Path, path: Path, old: Path) -> None:
    """Rename a folder. If the system can swap two names (Linux, macOS), `path` always is either the
    old or the new folder. Elsewhere it is missing between two renames, and a process killed just
    then leaves the old folder at `old`.

    new (Path): The new folder, beside `path`. Afterwards it may be the old one.
    path (Path): The folder to create or replace.
    old (Path): A free name beside `path` for the old folder, if names can't be swapped.
    RAISES (OSError): If the system refuses; then the old folder is still at `path`.
    """
    if not path.exists():
        new.rename(path)
    elif not swap(new, path):
        path.rename(old)
        try:
            new.rename(path)
        except OSError:
            old.rename(path)
            raise


def swap(one: Path, other: Path) -> bool:
    """Swap two names atomically.

    one (Path): An existing path.
    other (Path): Another one on the same file system.
    RETURNS (bool): False if the system or the file system can't; then nothing has changed.
    RAISES (OSError): If it fails for any other reason.
    """
    call = _system_call()
    if call is None:
        return False
    if call(os.fsencode(one), os.fsencode(other)) == 0:
        return True
    number = ctypes.get_errno()
    if number in _UNSUPPORTED:
        return False
    raise OSError(number, os.strerror(number), str(other))


def _system_call() -> Callable[[bytes, bytes], int] | None:
    try:
        library = ctypes.CDLL(None, use_errno=True)
        if sys.platform == "darwin":
            renamex = library.renamex_np
            return lambda one, other: renamex(one, other, _RENAME_SWAP)
        if sys.platform == "linux":
            renameat2 = library.renameat2
            return lambda one, other: renameat2(_AT_FDCWD, one, _AT_FDCWD, other, _RENAME_EXCHANGE)
    except (OSError, AttributeError, TypeError):
        pass  # a C library without the call
    return None
