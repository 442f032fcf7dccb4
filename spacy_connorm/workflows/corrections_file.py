"""The file of corrections: JSON lines, only ever appended to, by any number of processes."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ..errors import ConnormError, Errors
from .corrections import CorrectionRecord, from_line, to_line

_SECONDS_TO_WAIT = 10.0


class CorrectionsFile:
    """Reads what was appended, and appends. Threads must take turns; processes do so by a lock."""

    def __init__(self, path: str | Path) -> None:
        """Open a file, or start a new one; its folder is created if missing.

        path (Union[str, Path]): The file.
        RAISES (ConnormError): CN105 for a folder, CN108 if it can't be read or written.
        """
        from filelock import FileLock

        self.path = Path(path)
        if self.path.is_dir():
            raise ConnormError(Errors.CN105.format(path=self.path))
        self._read_to = 0
        self._lines = 0
        with self._write_errors():
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.path = self.path.resolve()
            is_new = not self.path.exists()
            os.close(os.open(self.path, os.O_CREAT | os.O_RDWR, 0o600))
            if is_new:
                _sync_folder(self.path.parent)
        name = self.path.with_name(f".{self.path.name}.lock")
        self._lock = FileLock(name, thread_local=False)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other processes from appending.

        RAISES (ConnormError): CN109 if one of them does not finish.
        """
        from filelock import Timeout

        try:
            self._lock.acquire(timeout=_SECONDS_TO_WAIT)
        except Timeout:
            raise ConnormError(Errors.CN109.format(path=self.path)) from None
        try:
            yield
        finally:
            self._lock.release()

    def has_more(self) -> bool:
        """RETURNS (bool): Whether anybody has appended anything since the last `read`."""
        with self._write_errors():
            return self.path.stat().st_size != self._read_to

    def read(self) -> list[CorrectionRecord]:
        """Read what was appended since the last call. A last line that is not complete is left for
        later: somebody is writing it, or was killed before it was acknowledged.

        RETURNS (List[CorrectionRecord]): The records, in order.
        RAISES (ConnormError): CN108 if the file can't be read, CN752 for a line that is none, and
            for a file that became shorter.
        """
        with self._write_errors(), self.path.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            if size < self._read_to:
                reason = "it became shorter while it was in use"
                raise ConnormError(Errors.CN752.format(path=self.path, line=1, reason=reason))
            file.seek(self._read_to)
            content = file.read()
        *lines, last = content.split(b"\n")
        records = []
        for number, line in enumerate(lines, start=self._lines + 1):
            if line.strip():
                records.append(self._parse(line, number))
        self._read_to += len(content) - len(last)
        self._lines += len(lines)
        if last:
            with suppress(ConnormError):
                records.append(self._parse(last, self._lines + 1))
                self._read_to += len(last)
        return records

    def append(self, record: CorrectionRecord) -> None:
        """Append a record. It is on the disk when this returns. Call it `locked`, after `read`.

        record (CorrectionRecord): The record.
        RAISES (ConnormError): CN108 if the disk is full or refuses it. The file is as it was then.
        """
        line = to_line(record).encode("utf-8", "surrogatepass") + b"\n"
        with self._write_errors():
            descriptor = os.open(self.path, os.O_RDWR | os.O_APPEND | getattr(os, "O_BINARY", 0))
            try:
                # What a killed writer left of a line was never acknowledged.
                os.ftruncate(descriptor, self._read_to)
                try:
                    if not self._ends_a_line(descriptor):
                        line = b"\n" + line
                    _write_all(descriptor, line)
                    os.fsync(descriptor)
                except OSError:
                    os.ftruncate(descriptor, self._read_to)
                    raise
            finally:
                os.close(descriptor)
        self._read_to += len(line)
        self._lines += line.count(b"\n")

    def _ends_a_line(self, descriptor: int) -> bool:
        if not self._read_to:
            return True
        os.lseek(descriptor, self._read_to - 1, os.SEEK_SET)
        return os.read(descriptor, 1) == b"\n"

    def _parse(self, line: bytes, number: int) -> CorrectionRecord:
        try:
            return from_line(line.decode("utf-8", "surrogatepass"))
        except (ValueError, TypeError, LookupError, RecursionError):
            reason = "it is no record of a correction"
            message = Errors.CN752.format(path=self.path, line=number, reason=reason)
            raise ConnormError(message) from None

    @contextmanager
    def _write_errors(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            reason = error.strerror or error
            raise ConnormError(Errors.CN108.format(path=self.path, reason=reason)) from error


def _write_all(descriptor: int, content: bytes) -> None:
    while content:
        content = content[os.write(descriptor, content) :]


def _sync_folder(folder: Path) -> None:
    if os.name == "nt":
        return  # Windows can't open folders
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
