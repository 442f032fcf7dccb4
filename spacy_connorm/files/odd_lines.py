"""Odd lines: what a reader can't use in a file whose other lines are fine. It skips and counts
them, warns of them once, and refuses the file only if they are too many.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from ..errors import ConnormError, Warnings, require_range, split_code, too_odd

MAX_ODD = 0.05
# In a file of another format, nearly all lines are odd, and it may be long.
_ENOUGH = 1_000
_MOST = 0.5

Line = TypeVar("Line")


@dataclass(slots=True)
class OddLines:
    """Counts lines, or what is read in place of them: rows, terms, annotations.

    max_share (float): The largest share of odd lines, from 0 to 1. With 0, the first one is an
        error.
    read (int): The number of lines read so far.
    skipped (int): The number of odd ones.
    first (Optional[ConnormError]): What is wrong with the first of them, and where it is.
    """

    max_share: float = MAX_ODD
    read: int = 0
    skipped: int = 0
    first: ConnormError | None = None

    def __post_init__(self) -> None:
        require_range(least=0, most=1, max_odd=self.max_share)

    def count(self, lines: Iterable[Line]) -> Iterator[Line]:
        """Count lines while they are read.

        lines (Iterable[Line]): The lines of one of several files.
        YIELDS (Line): The same lines.
        """
        for line in lines:
            self.read += 1
            yield line

    def watch(self, lines: Iterable[Line]) -> Iterator[Line]:
        """Count lines while they are read, and check at the end that few are odd.

        lines (Iterable[Line]): The lines of a file.
        YIELDS (Line): The same lines.
        RAISES (ConnormError): The error of `require_few`.
        """
        yield from self.count(lines)
        self.require_few()

    def skip(self, error: ConnormError) -> None:
        """Count a line that is skipped.

        error (ConnormError): What is wrong with it, and where it is.
        RAISES (ConnormError): This error if no line may be odd, or that of `require_few` if nearly
            all of many lines are.
        """
        self.skipped += 1
        self.first = self.first or error
        if not self.max_share:
            raise error
        if self.skipped >= _ENOUGH and self.skipped > max(_MOST, self.max_share) * self.read:
            self.require_few()

    @contextmanager
    def skip_errors(self) -> Iterator[None]:
        """Skip a line if it can't be read.

        RAISES (ConnormError): The errors of `skip`.
        """
        try:
            yield
        except ConnormError as error:
            self.skip(error)

    def require_few(self) -> None:
        """Refuse a file with too many odd lines.

        RAISES (ConnormError): The error of the first one, with the number and the mend.
        """
        if self.first and self.skipped > self.max_share * max(self.read, self.skipped):
            raise too_odd(self.first, self.skipped, self.read, self.max_share)

    def warn(self, path: str | Path) -> None:
        """Warn of the skipped lines, once for all.

        path (Union[str, Path]): The file.
        WARNS (ConnormWarning): CNW110.
        """
        if self.first:
            _, first = split_code(str(self.first))
            Warnings.CNW110.warn(path=path, skipped=self.skipped, read=self.read, first=first)
