"""Folders that only this process writes: temporary ones, and parts of what is being written."""

import os
import secrets
import shutil
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from filelock import FileLock

_PREFIX = "spacy_connorm-"
_LOCK = ".lock"
_private: set[Path] = set()


@contextmanager
def private(folder: Path) -> Iterator[None]:
    """Say that nobody else writes in a folder for now: writing whole files in it needs no lock, and
    bringing them to the disk can wait until the folder itself is put in place."""
    _private.add(folder)
    try:
        yield
    finally:
        _private.discard(folder)


def is_private(path: Path) -> bool:
    """RETURNS (bool): Whether a path is inside a folder that only this process writes."""
    return any(parent in _private for parent in path.parents)


class TemporaryFolder:
    """A folder that goes when its last user does, but only in the process that made it: a
    forked worker must not take it from its parent. One that a killed process left is removed by
    the next process that makes one."""

    def __init__(self) -> None:
        from filelock import FileLock

        _remove_abandoned()
        name = f"{_PREFIX}{secrets.token_hex(8)}"
        self.path = Path(tempfile.gettempdir()).resolve() / name
        # Others tell by the lock whether the folder is in use: it is held before there is a folder.
        self._lock = FileLock(f"{self.path}{_LOCK}", thread_local=False)
        self._lock.acquire()
        self.path.mkdir(mode=0o700)
        _private.add(self.path)
        self._finalizer = weakref.finalize(self, _remove, self.path, self._lock, os.getpid())


def _remove(path: Path, lock: "FileLock", owner: int) -> None:
    if os.getpid() == owner:
        _private.discard(path)
        shutil.rmtree(path, ignore_errors=True)
        release(lock)


def release(lock: "FileLock") -> None:
    """Give a lock back and remove its file.

    lock (FileLock): A lock that is held.
    """
    # While it is held: filelock takes no lock whose file is gone. Windows keeps open files, and
    # filelock removes them there.
    if os.name != "nt":
        Path(lock.lock_file).unlink(missing_ok=True)
    lock.release()


def _remove_abandoned() -> None:
    from filelock import FileLock, Timeout

    for lock_file in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*{_LOCK}"):
        lock = FileLock(lock_file)
        try:
            lock.acquire(blocking=False)
        except (Timeout, OSError):
            continue  # in use, or another user's
        shutil.rmtree(lock_file.with_suffix(""), ignore_errors=True)
        release(lock)
