"""Folders that only this process writes to: temporary ones, and parts of unfinished writes."""

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
    """Mark a folder as private for now: files in it are written without a lock, and flushed to disk
    only when the folder itself is renamed.

    folder (Path): The folder.
    """
    _private.add(folder)
    try:
        yield
    finally:
        _private.discard(folder)


def is_private(path: Path) -> bool:
    """RETURNS (bool): Whether a path is inside a folder that only this process writes to."""
    return any(parent in _private for parent in path.parents)


class TemporaryFolder:
    """A folder that is deleted with its last user, but only in the process that created it: a
    forked worker must not delete its parent's. Folders of killed processes are removed by the next
    process that creates one.
    """

    def __init__(self) -> None:
        from filelock import FileLock

        _remove_abandoned()
        name = f"{_PREFIX}{secrets.token_hex(8)}"
        self.path = Path(tempfile.gettempdir()).resolve() / name
        # The lock tells others that the folder is in use, so it is taken before the folder exists.
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
    """Release a lock and remove its file.

    lock (FileLock): A lock that this process holds.
    """
    # The file is removed while the lock is held: filelock refuses a lock without a file. Windows
    # can't remove open files; there, filelock removes them.
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
