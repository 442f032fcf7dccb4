"""Terms of use, stored beside the file of an ontology."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from ..files.atomic import atomic_file
from ..files.text import read_lines

Row = TypeVar("Row")


def write_licensed(
    write: Callable[[Iterable[Row], str | Path], Any],
    rows: Iterable[Row],
    path: str | Path,
    *,
    licence: Callable[[], str],
) -> None:
    """Write a file and the terms of use of what it holds. The terms are in place before the file
    is, so that a run that stops leaves no new names without them or under those of an older file.

    write (Callable): Writes rows to a file, which it puts in place once it has all of them.
    rows (Iterable): The rows.
    path (Union[str, Path]): The file.
    licence (Callable[[], str]): Tells the terms once all rows are read; they may be empty.
    RAISES (ConnormError): Those of `write`, and CN108 if the terms cannot be written.
    """
    write(_licensed(rows, path, licence), path)
    if not licence():
        write_licence("", path)


def _licensed(rows: Iterable[Row], path: str | Path, licence: Callable[[], str]) -> Iterator[Row]:
    yield from rows
    if terms := licence():
        write_licence(terms, path)


def write_licence(licence: str, path: str | Path) -> None:
    """Write the terms of use of an ontology to `<its file's name>.licence.txt` beside it, since
    scispaCy's format has no place for them. Without terms, an older file is deleted.

    licence (str): The terms; may be empty.
    path (Union[str, Path]): The ontology's file.
    RAISES (ConnormError): CN105, CN108 and CN109 as `atomic_file`.
    """
    beside = licence_path(path)
    if licence:
        with atomic_file(beside) as aside:
            aside.write_text(licence + "\n", encoding="utf8")
    else:
        beside.unlink(missing_ok=True)


def read_licence(path: str | Path) -> str:
    """RETURNS (str): The terms of use beside an ontology's file; empty if there are none.
    RAISES (ConnormError): CN106 and CN107 as `read_lines`.
    """
    beside = licence_path(path)
    return "\n".join(line for _, line in read_lines(beside)) if beside.is_file() else ""


def licence_path(path: str | Path) -> Path:
    """RETURNS (Path): The file with the terms of use of an ontology's file."""
    path = Path(path)
    return path.with_name(f"{path.name}.licence.txt")
