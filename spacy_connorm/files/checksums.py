"""Checksums of files: of all bytes and, for large files, of sample blocks spread over the file, so
that gigabytes open as fast as megabytes. The rest of them is read in the background.
"""

import os
import threading
import weakref
import zlib
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, TypeAlias

from ..errors import ConnormError, Errors

_CHUNK = 1 << 22
# A core checks this much in a tenth of a second. Larger files are used after a sample was checked.
_LARGE = 1 << 28
# Files no larger than all blocks together have no sample.
_BLOCKS = 64
_BLOCK = 1 << 18
DIFFERS = "its checksum differs"

# Size in bytes, time of the last change in nanoseconds, and inode.
Stamp: TypeAlias = tuple[int, int, int]


def stamp(path: Path) -> Stamp:
    """RETURNS (Stamp): What changes if a file is rewritten or replaced."""
    status = path.stat()
    return status.st_size, status.st_mtime_ns, status.st_ino


def describe(path: Path) -> dict[str, Any]:
    """Compute the size and the checksums of a file.

    path (Path): The file.
    RETURNS (Dict[str, Any]): Its size in "bytes", the "crc32" of them and, if it is large, a
        "sample": the number of "blocks", the "bytes" per block, and the "crc32" of all blocks.
        JSON.
    """
    size = path.stat().st_size
    facts: dict[str, Any] = {"bytes": size, "crc32": _crc32(_chunks(path))}
    if size > _BLOCKS * _BLOCK:
        blocks = _blocks(path, size, count=_BLOCKS, length=_BLOCK)
        facts["sample"] = {"blocks": _BLOCKS, "bytes": _BLOCK, "crc32": _crc32(blocks)}
    return facts


def check_sample(path: Path, facts: dict[str, Any]) -> None:
    """Check every byte of a file up to 256 MiB, or the size and the sample of a larger one.

    path (Path): The file.
    facts (Dict[str, Any]): The result of `describe`.
    RAISES (ConnormError): CN402 if it is missing or different.
    """
    if not is_sampled(facts):
        check_whole(path, facts)
        return
    _check_size(path, facts)
    sample = facts["sample"]
    blocks = _blocks(path, facts["bytes"], count=sample["blocks"], length=sample["bytes"])
    _compare(path, _crc32(blocks), sample["crc32"])


def is_sampled(facts: dict[str, Any]) -> bool:
    """RETURNS (bool): Whether `check_sample` checks only a sample of the file."""
    return "sample" in facts and facts["bytes"] > _LARGE


def are_facts(value: Any) -> bool:
    """RETURNS (bool): Whether a value of a manifest could come from `describe`. A larger sample
    than the file would take for ever to read.
    """
    if not isinstance(value, dict) or not _are_counts(value, "bytes", "crc32"):
        return False
    sample = value.get("sample")
    if sample is None:
        return "sample" not in value
    return (
        isinstance(sample, dict)
        and _are_counts(sample, "blocks", "bytes", "crc32")
        and sample["blocks"] > 1
        and 0 < sample["blocks"] * sample["bytes"] <= value["bytes"]
    )


def _are_counts(facts: dict[str, Any], *names: str) -> bool:
    return all(type(facts.get(name)) is int and facts[name] >= 0 for name in names)


def check_whole(
    path: Path, facts: dict[str, Any], *, report: Callable[[int], Any] | None = None
) -> None:
    """Check every byte of a file.

    path (Path): The file.
    facts (Dict[str, Any]): The result of `describe`.
    report (Optional[Callable]): Called with the number of bytes read since its last call.
    RAISES (ConnormError): CN402 if it is missing or different.
    """
    _check_size(path, facts)
    _compare(path, _crc32(_chunks(path), report), facts["crc32"])


def require_plain_files(folder: Path) -> None:
    """RAISES (ConnormError): CN402 if a folder holds devices or pipes: whoever opens a pipe waits
    for ever.
    """
    for path in folder.rglob("*"):
        if not path.is_file() and not path.is_dir():
            raise damaged(path, "it is no file")


def damaged(path: Path, reason: object) -> ConnormError:
    """RETURNS (ConnormError): CN402 for a file or folder."""
    return ConnormError(Errors.CN402.format(path=path, reason=reason))


def replaced_since(path: Path) -> ConnormError:
    """RETURNS (ConnormError): CN402 for a file or folder that another one took the place of."""
    return damaged(path, "it was replaced after the pipeline was loaded; load it again")


def _check_size(path: Path, facts: dict[str, Any]) -> None:
    if not path.is_file():
        raise damaged(path, "it is missing")
    size = path.stat().st_size
    if size != facts["bytes"]:
        raise damaged(path, f"{size} bytes instead of {facts['bytes']}")


def _compare(path: Path, found: int, expected: int) -> None:
    if found != expected:
        raise damaged(path, DIFFERS)


def _crc32(parts: Iterator[bytes], report: Callable[[int], Any] | None = None) -> int:
    checksum = 0
    for part in parts:
        checksum = zlib.crc32(part, checksum)
        if report is not None:
            report(len(part))
    return checksum


def _chunks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            yield chunk


def _blocks(path: Path, size: int, *, count: int, length: int) -> Iterator[bytes]:
    """YIELDS (bytes): Evenly spaced blocks, from the start of the file to its end."""
    with path.open("rb", buffering=0) as file:
        for block in range(count):
            file.seek(block * (size - length) // (count - 1))
            yield file.read(length)


THREAD = "connorm"
# A thread that is told to stop ends after its current chunk, even on a slow disk.
_SECONDS_TO_STOP = 5


class _LargeFile(NamedTuple):
    path: Path
    file: BinaryIO
    size: int
    crc32: int


class BackgroundCheck:
    """Reads the files that `unseal` only sampled, once, in a thread. Damage that it finds is raised
    by `require_sound` from then on. The thread ends with this object or with the process; in a
    forked process it starts again.
    """

    def __init__(self, folder: Path, manifest: dict[str, Any]) -> None:
        """Open the files and start.

        folder (Path): An unsealed folder.
        manifest (Dict[str, Any]): What `unseal` returned.
        RAISES (OSError): If a file is gone.
        """
        # Opened now: another folder may replace this one while the old files are in use.
        self._work = _Work(
            _LargeFile(folder / name, (folder / name).open("rb"), facts["bytes"], facts["crc32"])
            for name, facts in manifest["files"].items()
            if is_sampled(facts)
        )
        self._process = 0
        if not self._work.is_done:
            weakref.finalize(self, _stop, self._work)
            self._start()

    def require_sound(self) -> None:
        """RAISES (ConnormError): CN402 if damage was found."""
        if self._work.is_done:
            return
        if self._work.damage is not None:
            raise ConnormError(*self._work.damage.args)
        # Threads do not survive a fork.
        if self._process != os.getpid():
            self._start()

    def _start(self) -> None:
        self._process = os.getpid()
        self._work.thread = threading.Thread(target=self._work.run, name=THREAD, daemon=True)
        self._work.thread.start()


class _Work:
    """What the thread knows. It does not know its `BackgroundCheck`, which would never be freed."""

    def __init__(self, files: Any) -> None:
        self.left: deque[_LargeFile] = deque(files)
        self.damage: ConnormError | None = None
        self.is_done = not self.left
        self.is_stopped = False
        self.thread: threading.Thread | None = None

    def run(self) -> None:
        self._check_all()
        if self.is_stopped:
            self.close()

    def close(self) -> None:
        for large in self.left:
            large.file.close()

    def _check_all(self) -> None:
        while self.left and not self.is_stopped:
            large = self.left[0]
            try:
                self._check(large)
            except OSError as error:
                self.damage = damaged(large.path, error)
            if self.damage is not None:
                return
            if not self.is_stopped:
                large.file.close()
                self.left.popleft()
        self.is_done = not self.left

    def _check(self, large: _LargeFile) -> None:
        checksum = 0
        for start in range(0, large.size, _CHUNK):
            if self.is_stopped:
                return
            checksum = zlib.crc32(_read(large.file, start), checksum)
        if checksum != large.crc32:
            self.damage = damaged(large.path, DIFFERS)


def _read(file: BinaryIO, start: int) -> bytes:
    # A forked process shares the position in the file.
    if hasattr(os, "pread"):
        return os.pread(file.fileno(), _CHUNK, start)
    file.seek(start)
    return file.read(_CHUNK)


def _stop(work: _Work) -> None:
    """Stop the thread, which closes the files if it is still reading one after some seconds."""
    work.is_stopped = True
    if work.thread is not None and work.thread is not threading.current_thread():
        work.thread.join(_SECONDS_TO_STOP)
        if work.thread.is_alive():
            return
    work.close()
