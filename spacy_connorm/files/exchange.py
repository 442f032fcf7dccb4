"""Put a new folder in the place of an old one, in one step where the system can."""

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
# What systems and file systems without such a call answer.
_UNSUPPORTED = {errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EPERM}


def put_in_place(new: Path, path: Path, old: Path) -> None:
    """Rename a folder. At every moment `path` is the old folder or the new one, whole, if the
    system can swap two names (Linux, macOS); elsewhere it is missing between two renames, and a
    process killed just then leaves the old folder at `old`.

    new (Path): The folder to put in place, beside `path`. Afterwards it may hold the old one.
    path (Path): The folder to make or replace.
    old (Path): A free name beside `path`, where the old folder waits if names can't be swapped.
    RAISES (OSError): If the system refuses; the old folder is at `path` then.
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
    """Swap two names in one step.

    one (Path): An existing path.
    other (Path): Another one on the same file system.
    RETURNS (bool): False if the system or the file system can't; nothing has changed then.
    RAISES (OSError): For any other reason.
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
