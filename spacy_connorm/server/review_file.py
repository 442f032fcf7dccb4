"""A file of mappings that people review: read once, written whole with each decision."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path
from typing import Any

from ..documents.sssom import (
    COLUMNS,
    MappingSet,
    TermMapping,
    cells_of,
    read_sssom,
    render_metadata,
    render_row,
    write_lines,
)
from ..errors import ConnormError, Errors

_SECONDS_TO_WAIT = 10.0


class ReviewFile:
    """Holds SSSOM and its rendered lines: a decision changes one line, and writing the file costs
    little even for very many. Threads must take turns; processes do so by a lock.
    """

    def __init__(self, path: str | Path) -> None:
        """Read a file.

        path (Union[str, Path]): What `connorm map` wrote, or SSSOM of others.
        RAISES (ConnormError): As `read_sssom`; CN708 for a file that is no `.tsv`.
        """
        from filelock import FileLock

        self.path = Path(path)
        if self.path.suffix != ".tsv":
            raise ConnormError(Errors.CN708.format(action="review", path=self.path, known=".tsv"))
        self.revision = 0
        self._found = MappingSet({}, [])
        self._columns: list[str] = []
        self._head = ""
        self._lines: list[str] = []
        self._stamp: tuple[int, int, int] | None = None
        # Not the lock of whoever writes a file.
        name = self.path.with_name(f".{self.path.name}.review.lock")
        self._lock = FileLock(name, thread_local=False)
        self.refresh()

    @property
    def mappings(self) -> list[TermMapping]:
        """RETURNS (List[TermMapping]): The rows."""
        return self._found.mappings

    def refresh(self) -> None:
        """Read the file again if anybody else has written it.

        RAISES (ConnormError): As `read_sssom`.
        """
        stamp = _stamp_of(self.path)
        if stamp is None or stamp != self._stamp:
            self._take(read_sssom(self.path))
            self._stamp = stamp

    def version(self, row: int) -> str:
        """RETURNS (str): A checksum of a row."""
        return blake2b(self._lines[row].encode(), digest_size=8).hexdigest()

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other processes from deciding; then what they have written is read.

        RAISES (ConnormError): CN109 if one of them does not finish, and as `refresh`.
        """
        from filelock import Timeout

        try:
            self._lock.acquire(timeout=_SECONDS_TO_WAIT)
        except Timeout:
            raise ConnormError(Errors.CN109.format(path=self.path)) from None
        try:
            self.refresh()
            yield
        finally:
            self._lock.release()

    def require(self, row: int, version: str) -> TermMapping:
        """Find a row that is as a person has seen it.

        row (int): Its place, from 0.
        version (str): From `version`, when the person saw it.
        RETURNS (TermMapping): The row.
        RAISES (ConnormError): CN786 if there is none, CN787 if somebody has changed it since.
        """
        if not 0 <= row < len(self.mappings):
            raise ConnormError(Errors.CN786)
        if self.version(row) != version:
            raise ConnormError(Errors.CN787)
        return self.mappings[row]

    def change(
        self, row: int, mapping: TermMapping, addresses: Callable[[list[str]], dict[str, str]]
    ) -> None:
        """Replace a row. It is on the disk when this returns. Call it `locked`.

        row (int): Its place.
        mapping (TermMapping): What it shall be.
        addresses (Callable): Gives the addresses of the prefixes of CURIEs.
        RAISES (ConnormError): CN108 or CN109 if the file can't be written. Nothing is changed then.
        """
        known = self._found.metadata.get("curie_map") or {}
        own = addresses([mapping.subject_id, mapping.object_id, mapping.author_id])
        metadata = {**self._found.metadata, "curie_map": {**own, **known}}
        head = self._head if own.keys() <= known.keys() else render_metadata(metadata)
        lines = list(self._lines)
        lines[row] = self._line(mapping)
        write_lines(self.path, [head, render_row(self._columns), *lines])
        self._stamp = _stamp_of(self.path)
        self._head, self._lines = head, lines
        self._found.metadata = metadata
        self._found.mappings[row] = mapping
        self.revision += 1

    def _take(self, found: MappingSet) -> None:
        names: dict[str, Any] = {name: None for each in found.mappings for name in each.others}
        self._columns = [*COLUMNS, *names]
        self._head = render_metadata(found.metadata)
        self._found = found
        self._lines = [self._line(each) for each in found.mappings]
        self.revision += 1

    def _line(self, mapping: TermMapping) -> str:
        return render_row(cells_of(mapping, self._columns))


def _stamp_of(path: Path) -> tuple[int, int, int] | None:
    try:
        stat = path.stat()
    except OSError:
        return None
    return stat.st_ino, stat.st_mtime_ns, stat.st_size
