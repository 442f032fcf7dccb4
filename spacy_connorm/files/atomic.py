"""Write files and folders completely or not at all, one writer at a time, never over an input.

A writer writes to a private part with an unpredictable name beside the target, then renames it. The
part of a killed writer is removed by the next successful writer, never by readers.
"""

import ctypes
import errno
import os
import re
import secrets
import shutil
import sys
import tempfile
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import ConnormError, Errors
from .text import open_text

if TYPE_CHECKING:
    from filelock import FileLock


_PART = "part-"
_OLD = "old-"
_TOKEN = "[0-9a-f]{16}"


@contextmanager
def atomic_file(path: str | Path) -> Iterator[Path]:
    """Write a file beside its target and rename it once it is complete, so that a failure leaves
    the old file or none. Devices and pipes are written to directly.

    path (Union[str, Path]): The file; its folder is created if missing.
    YIELDS (Path): The path to write to, with the same suffix.
    RAISES (ConnormError): CN105 for a folder, CN108 if the file can't be written, CN109 if
        another process is writing it.
    """
    path = Path(path)
    if path.is_dir():
        raise Errors.CN105(path=path)
    with write_errors(path):
        if path.exists() and not path.is_file():
            yield path
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        path = path.resolve()
        with only_writer(path):
            part = path.with_name(f".{path.stem}.{_PART}{_token()}{path.suffix}")
            try:
                os.close(os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
                yield part
                sync(part)
                part.chmod(_default_mode(path.parent, path.name) & 0o666)
                part.replace(path)
                sync(path.parent)
            finally:
                part.unlink(missing_ok=True)
            _remove_leftovers(path)


def write_text(path: str | Path, text: str) -> None:
    """Write a text file, completely or not at all.

    path (Union[str, Path]): The file, gzipped if its name ends in `.gz`.
    text (str): The content.
    RAISES (ConnormError): The errors of `atomic_file`.
    """
    with atomic_file(path) as aside, open_text(aside, "wt") as file:
        file.write(text)


@contextmanager
def atomic_folder(path: Path) -> Iterator[Path]:
    """Write a folder beside its target and rename it when the block succeeds. A failed or killed
    block leaves the old folder unchanged. Files are flushed to disk before the folder is renamed.

    path (Path): The folder to create or replace.
    YIELDS (Path): The folder to write to.
    RAISES (ConnormError): CN108 if the disk is full or refuses the files, CN109 if another
        process is writing the folder.
    """
    with write_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        path = path.resolve()
        with only_writer(path):
            token = _token()
            part, old = (path.with_name(f".{path.name}.{kind}{token}") for kind in (_PART, _OLD))
            try:
                part.mkdir(mode=0o700)
                with private(part):
                    yield part
                if not is_private(path):
                    _publish(part)
                put_in_place(part, path, old)
                if not is_private(path):
                    sync(path.parent)
            finally:
                shutil.rmtree(part, ignore_errors=True)
            _remove_leftovers(path)


@contextmanager
def only_writer(path: Path, *, seconds: float = 0.0) -> Iterator[None]:
    """Hold the lock of a target. Private folders have no other writers and need no lock.

    path (Path): The file or folder, resolved; its parent folder must exist.
    seconds (float): The time to wait for the lock.
    RAISES (ConnormError): CN109 if another process holds it.
    """
    if is_private(path):
        yield
        return
    from filelock import FileLock, Timeout

    lock = FileLock(path.with_name(f".{path.name}.lock"))
    with Errors.CN109.instead_of(Timeout, path=path):
        lock.acquire(timeout=seconds)
    try:
        yield
    finally:
        release(lock)


def _publish(folder: Path) -> None:
    """Give everything in a folder the user's default permissions, and flush it to disk."""
    mode = _default_mode(folder, folder.name)
    for parent, _, files in os.walk(folder, topdown=False):
        for name in files:
            file = Path(parent, name)
            file.chmod(mode & 0o666)
            sync(file)
        Path(parent).chmod(mode)
        sync(Path(parent))


def _default_mode(folder: Path, name: str) -> int:
    """Find the permissions of a new folder. Reading the umask would briefly change it for all
    threads.
    """
    probe = folder / f".{name}.{_PART}{_token()}"
    descriptor = os.open(probe, os.O_CREAT | os.O_EXCL, 0o777)
    try:
        return os.fstat(descriptor).st_mode & 0o777
    finally:
        os.close(descriptor)
        probe.unlink()


def sync(path: Path) -> None:
    """Flush a file or a folder to disk.

    path (Path): The file or folder.
    """
    if os.name == "nt" and path.is_dir():
        return  # Windows can't open folders
    descriptor = os.open(path, os.O_RDWR if os.name == "nt" else os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno != errno.EINVAL:  # a file system without a disk
            raise
    finally:
        os.close(descriptor)


def _remove_leftovers(path: Path) -> None:
    """Remove the parts of killed writers of the same target. The lock ensures that all are dead."""
    if is_private(path):
        return
    stem, suffix = re.escape(path.stem), re.escape(path.suffix)
    ours = re.compile(
        rf"\.{re.escape(path.name)}\.({_PART}|{_OLD}){_TOKEN}|\.{stem}\.{_PART}{_TOKEN}{suffix}"
    )
    for entry in os.scandir(path.parent):
        if not ours.fullmatch(entry.name):
            continue
        if entry.is_dir(follow_symlinks=False):
            shutil.rmtree(entry.path, ignore_errors=True)
        else:
            Path(entry.path).unlink(missing_ok=True)


def _token() -> str:
    return secrets.token_hex(8)


# The flags for swapping names on Linux and macOS.
_RENAME_EXCHANGE = 2
_RENAME_SWAP = 2
_AT_FDCWD = -100
# Errors on systems and file systems without such a call.
_UNSUPPORTED = {errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EPERM}


def put_in_place(new: Path, path: Path, old: Path) -> None:
    """Rename a folder. If the system can swap two names (Linux, macOS), `path` is always either the
    old or the new folder. Elsewhere, it is missing between two renames, and if a process is killed
    at that moment, the old folder is at `old`.

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
    RETURNS (bool): False if the system or the file system does not support this; then nothing has
        changed.
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


_FULL = {errno.ENOSPC, errno.EFBIG, errno.EDQUOT} if os.name == "posix" else {errno.ENOSPC}
# Libraries written in Rust (safetensors, tokenizers) report the system's error numbers.
_RUST = re.compile(r"\(os error (\d+)\)")
# Messages of torch, SQLite and faiss, which have no class or number for this error.
_OTHERS = ("inline_container.cc", "disk is full", "disk I/O error", "write error in")


@contextmanager
def write_errors(path: Path) -> Iterator[None]:
    """Raise a single kind of error for all errors of libraries when the disk is full or refuses a
    file.

    path (Path): The folder that is written to.
    RAISES (ConnormError): CN108.
    """
    try:
        yield
    except (ConnormError, BrokenPipeError):  # the reader has closed the pipe
        raise
    except Exception as error:
        reason = _find_reason(error)
        if reason is None:
            raise
        raise Errors.CN108(path=path, reason=reason) from error


def _find_reason(error: Exception) -> str | None:
    number = error.errno if isinstance(error, OSError) else None
    from_rust = _RUST.search(str(error))
    if from_rust and int(from_rust[1]) in {*_FULL, errno.EIO, errno.EROFS}:
        number = int(from_rust[1])
    if number in _FULL:
        return "the disk is full" if number == errno.ENOSPC else os.strerror(number)
    if isinstance(error, OSError):
        return error.strerror or str(error)
    if number is not None:
        return os.strerror(number)
    return "the disk is full or fails" if any(reason in str(error) for reason in _OTHERS) else None


_PREFIX = "spacy_connorm-"
_LOCK = ".lock"
_private: set[Path] = set()


@contextmanager
def private(folder: Path) -> Iterator[None]:
    """Mark a folder as private during the block: files in it are written without a lock, and
    flushed to disk only when the folder itself is renamed.

    folder (Path): The folder.
    """
    _private.add(folder)
    try:
        yield
    finally:
        _private.discard(folder)


def is_private(path: Path) -> bool:
    """Check whether a path is inside a folder that only this process writes to.

    path (Path): A file or folder.
    RETURNS (bool): True if it is.
    """
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


def require_apart(output: str | Path | None, *inputs: object) -> None:
    """Refuse an output that would replace an input: the same file or folder under any name, or a
    folder that contains the input.

    output (Optional[Union[str, Path]]): The file or folder to write, if any.
    *inputs (object): The inputs; anything except paths of existing files and folders is ignored.
    RAISES (ConnormError): CN121.
    """
    if output is None:
        return
    output = Path(output)
    if not output.exists() or _is_stream(output):
        return
    for given in inputs:
        if isinstance(given, (str, Path)) and Path(given).exists():
            path = Path(given).resolve()
            if any(parent.samefile(output) for parent in (path, *path.parents)):
                raise Errors.CN121(output=output, input=given)


def require_distinct_outputs(*outputs: str | Path | None) -> None:
    """Refuse two outputs with the same name.

    *outputs (Optional[Union[str, Path]]): The files and folders to write, if any.
    RAISES (ConnormError): CN124.
    """
    named: set[Path] = set()
    for output in outputs:
        path = None if output is None else Path(output).resolve()
        if path is None or _is_stream(path):
            continue
        if path in named:
            raise Errors.CN124(path=output)
        named.add(path)


def _is_stream(path: Path) -> bool:
    """Check whether a path is a device or a pipe, which are not replaced."""
    return path.exists() and not path.is_file() and not path.is_dir()
