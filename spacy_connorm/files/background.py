"""Check large files completely while they are already in use."""

import os
import threading
import weakref
import zlib
from collections import deque
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from ..errors import ConnormError
from .checksums import DIFFERS, damaged, is_sampled

THREAD = "connorm"
_CHUNK = 1 << 22
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
