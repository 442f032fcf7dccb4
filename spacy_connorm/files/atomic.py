"""Write files and folders whole or not at all, one writer at a time.

A writer writes to a private part with an unpredictable name beside the target, then renames it. The
part of a killed writer is removed by the next successful writer, never by readers.
"""

import errno
import os
import re
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..errors import ConnormError, Errors
from .exchange import put_in_place
from .failures import write_errors
from .temporary import is_private, private, release

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
        raise ConnormError(Errors.CN105.format(path=path))
    try:
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
                _sync(part)
                part.chmod(_default_mode(path.parent, path.name) & 0o666)
                part.replace(path)
                _sync(path.parent)
            finally:
                part.unlink(missing_ok=True)
            _remove_leftovers(path)
    except BrokenPipeError:
        raise  # the reader has seen enough
    except OSError as error:
        raise ConnormError(
            Errors.CN108.format(path=path, reason=error.strerror or error)
        ) from error


@contextmanager
def atomic_folder(path: Path) -> Iterator[Path]:
    """Write a folder beside its target and rename it when the block succeeds. A failed or killed
    block leaves the old folder unchanged. Files are flushed to disk before the folder is renamed.

    path (Path): The folder to create or replace.
    YIELDS (Path): Where to write.
    RAISES (ConnormError): CN405 if the disk is full or refuses the files, CN109 if another
        process is writing the folder.
    """
    with write_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        path = path.resolve()
        with only_writer(path):
            token = _token()
            stem = _part_stem(path)
            part, old = (stem.with_name(f"{stem.name}.{kind}{token}") for kind in (_PART, _OLD))
            try:
                part.mkdir(mode=0o700)
                with private(part):
                    yield part
                if not is_private(path):
                    _publish(part)
                put_in_place(part, path, old)
                if not is_private(path):
                    _sync(path.parent)
            finally:
                shutil.rmtree(part, ignore_errors=True)
            _remove_leftovers(path)


def _part_stem(path: Path) -> Path:
    """RETURNS (Path): How the names of a folder's parts begin. They lie beside it, or, if it is in
    a saved pipeline, beside that: `spacy package` packs whatever is in a pipeline's folder.
    """
    folder = path.parent
    is_in_pipeline = all((folder / name).is_file() for name in ("meta.json", "config.cfg"))
    if not is_in_pipeline or is_private(path) or not _can_move(folder.parent, folder):
        return path.with_name(f".{path.name}")
    return folder.with_name(f".{folder.name}.{path.name}")


def _can_move(source: Path, target: Path) -> bool:
    is_same_disk = source.stat().st_dev == target.stat().st_dev
    return is_same_disk and os.access(source, os.W_OK | os.X_OK)


@contextmanager
def only_writer(path: Path) -> Iterator[None]:
    """Hold the lock of a target. Private folders have no other writers and need none.

    path (Path): The file or folder, resolved; the folder that it is in must exist.
    RAISES (ConnormError): CN109 if another process holds it.
    """
    if is_private(path):
        yield
        return
    from filelock import FileLock, Timeout

    lock = FileLock(path.with_name(f".{path.name}.lock"))
    try:
        lock.acquire(blocking=False)
    except Timeout:
        raise ConnormError(Errors.CN109.format(path=path)) from None
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
            _sync(file)
        Path(parent).chmod(mode)
        _sync(Path(parent))


def _default_mode(folder: Path, name: str) -> int:
    """RETURNS (int): The permissions of a new folder. Reading the umask would briefly change it for
    all threads.
    """
    probe = folder / f".{name}.{_PART}{_token()}"
    descriptor = os.open(probe, os.O_CREAT | os.O_EXCL, 0o777)
    try:
        return os.fstat(descriptor).st_mode & 0o777
    finally:
        os.close(descriptor)
        probe.unlink()


def _sync(path: Path) -> None:
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
        # Names of version 0.1.
        rf"|\.{re.escape(path.name)}\.(part-[0-9a-f]{{12}}|old)|\.{stem}\.part{suffix}"
    )
    place = _part_stem(path)
    beside = re.compile(rf"{re.escape(place.name)}\.({_PART}|{_OLD}){_TOKEN}")
    for folder, names in ((path.parent, ours), (place.parent, beside)):
        for entry in os.scandir(folder):
            if not names.fullmatch(entry.name):
                continue
            if entry.is_dir(follow_symlinks=False):
                shutil.rmtree(entry.path, ignore_errors=True)
            else:
                Path(entry.path).unlink(missing_ok=True)


def _token() -> str:
    return secrets.token_hex(8)
