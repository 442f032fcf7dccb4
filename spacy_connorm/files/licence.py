"""Terms of use, stored beside the file of an ontology."""

from pathlib import Path

from .atomic import atomic_file
from .text import read_lines


def write_licence(licence: str, path: str | Path) -> None:
    """Write the terms of use of an ontology to `<its file's name>.licence.txt` beside it, since
    scispaCy's format has no place for them. Without terms, an older file is deleted.

    licence (str): The terms; may be empty.
    path (Union[str, Path]): The ontology's file.
    """
    beside = licence_path(path)
    if licence:
        with atomic_file(beside) as aside:
            aside.write_text(licence + "\n", encoding="utf8")
    else:
        beside.unlink(missing_ok=True)


def read_licence(path: str | Path) -> str:
    """RETURNS (str): The terms of use beside an ontology's file; empty if there are none."""
    beside = licence_path(path)
    return "\n".join(line for _, line in read_lines(beside)) if beside.is_file() else ""


def licence_path(path: str | Path) -> Path:
    """RETURNS (Path): The file with the terms of use of an ontology's file."""
    path = Path(path)
    return path.with_name(f"{path.name}.licence.txt")
