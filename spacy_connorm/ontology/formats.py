"""The known ontology formats, and how to recognize them.

They are the rows of `formats.toml`. The format `x` is read by the function `read_x`.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from inspect import signature
from io import StringIO
from itertools import islice
from pathlib import Path
from pkgutil import resolve_name
from typing import NamedTuple
from zipfile import is_zipfile

from ..concepts import Concept
from ..errors import Errors, require_choice
from ..files.package_data import read_toml
from ..files.text import find_ending
from ..files.xml import read_pieces

_HEAD_LINES = 50
# The option of readers.
_LANGUAGE = "language"


class OntologyFormat(NamedTuple):
    """How to recognize a file in a format.

    suffixes (Tuple[str, ...]): Extensions, before `.gz`; empty if the file may have any.
    signature (Optional[str]): A regular expression found in its first lines; None if they can be
        anything.
    module (str): The module beside this one that reads it; the one of its name if empty.
    """

    suffixes: tuple[str, ...] = ()
    signature: str | None = None
    module: str = ""


_TABLE = read_toml(__package__, "formats.toml")
FORMATS = {name: OntologyFormat(**row) for name, row in _TABLE["known"].items()}


def find_format(path: Path, name: str | None = None) -> str:
    """Find the format of a file, or check a given format against the file name.

    path (Path): The file.
    name (Optional[str]): The format, if known.
    RETURNS (str): The format.
    RAISES (ConnormError): CN104 for an empty file, CN118 for an unknown format, CN111 if neither
        file name nor first lines show the format, CN112 if the file name or the first lines belong
        to another format, CN123 if they belong to an unsupported format.
    """
    ending = find_ending(path)
    candidates = [key for key, known in FORMATS.items() if ending in known.suffixes]
    if name is not None:
        require_choice("format", name, FORMATS)
        if candidates and name not in candidates:
            raise Errors.CN112(path=path, named=", ".join(candidates), format=name)
        return name
    if is_zipfile(path):
        advice = "Unzip it and name what is in it, or save the spreadsheet as CSV."
        name = "a zip archive or a spreadsheet"
        raise Errors.CN123(path=path, name=name, advice=advice)
    head = _read_head(path)
    if not head.strip():
        raise Errors.CN104(path=path, what="concepts")
    if recognized := _recognize(head, candidates):
        return recognized
    if "tsv" not in candidates:  # a table may have a column `skos:prefLabel`
        refuse_foreign(path, head)
    recognized = _recognize(head, FORMATS)
    if recognized and candidates:
        raise Errors.CN112(path=path, named=", ".join(candidates), format=recognized)
    if not recognized and not candidates:
        raise Errors.CN111(path=path, known=", ".join(FORMATS))
    return recognized or candidates[-1]


def _read_head(path: str | Path) -> str:
    # A file of any size may have only one line.
    _, piece = next(read_pieces(path), (1, ""))
    return "".join(islice(StringIO(piece, newline=None), _HEAD_LINES))


def refuse_foreign(path: str | Path, head: str | None = None) -> None:
    """Refuse a file in an unsupported format.

    path (Union[str, Path]): The file.
    head (Optional[str]): Its first lines, if they are read already.
    RAISES (ConnormError): CN123.
    """
    head = _read_head(path) if head is None else head
    for foreign in _TABLE["foreign"]:
        if re.search(foreign["signature"], head, re.MULTILINE):
            advice = foreign["advice"].format(path=path)
            raise Errors.CN123(path=path, name=foreign["name"], advice=advice)


def _recognize(head: str, formats: Iterable[str]) -> str | None:
    """Find the first of some formats whose signature is in the first lines of a file."""
    for name in formats:
        signature = FORMATS[name].signature
        if signature is not None and re.search(signature, head, re.MULTILINE):
            return name
    return None


def find_reader(format: str) -> Callable[..., Iterator[Concept]]:
    """Find the reader of a format, which is imported on demand.

    format (str): One of `FORMATS`.
    RETURNS (Callable[..., Iterator[Concept]]): A function of a path, a report and options.
    """
    module = FORMATS[format].module or format
    return resolve_name(f"{__package__}.{module}:read_{format}")


def has_languages(path: str | Path, format: str | None = None) -> bool:
    """Check whether the language of the names in a file can be chosen.

    path (Union[str, Path]): The file or folder of an ontology.
    format (Optional[str]): Its format, if known.
    RETURNS (bool): True if its reader has an option for it.
    """
    if Path(path).is_dir():
        return False
    reader = find_reader(find_format(Path(path), format))
    return _LANGUAGE in signature(reader).parameters
