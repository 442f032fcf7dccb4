"""The formats of annotated documents: their readers, their exporters, and what they can't hold."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

from ..errors import ConnormError, Errors, require_choice, require_ending
from ..files.package_data import read_toml
from .document import Document

_COMPRESSED = ".gz"


@dataclass(frozen=True, slots=True)
class Format:
    """A format of annotated documents.

    name (str): The format's name.
    reader (str): The module and the function that reads it; empty if it can't be read. The
        function's parameters are the options of the format.
    suffixes (Tuple[str, ...]): The extensions of files to read, before `.gz`.
    folder_of (str): The extension of the files in a folder to read; empty if it is not a folder.
    unlinked (Tuple[str, ...]): Mention types that are read only on request.
    exporter (str): The module and the class that writes it; empty if it can't be written. The
        fields of the class are the options of the format.
    endings (Tuple[str, ...]): The extensions of files to write; any if empty.
    implied (Optional[Tuple[str, ...]]): Extensions that imply the format; the same if None.
    lacks (Sequence[str]): What it has no place for, of what `contents` names.
    is_folder (bool): Whether a folder of files is written.
    is_text (bool): Whether `.gz` after the extension compresses the output.
    columns (Tuple[str, ...]): The columns of the table that is written.
    """

    name: str
    reader: str = ""
    suffixes: tuple[str, ...] = ()
    folder_of: str = ""
    unlinked: tuple[str, ...] = ()
    exporter: str = ""
    endings: tuple[str, ...] = ()
    implied: tuple[str, ...] | None = None
    lacks: Sequence[str] = ()
    is_folder: bool = False
    is_text: bool = True
    columns: tuple[str, ...] = ()

    @property
    def read(self) -> Callable[..., Iterator[Document]]:
        """Its reader, imported on demand.

        RETURNS (Callable[..., Iterator[Document]]): A function of a path, a report and options.
        """
        return resolve_name(f"{__package__}.{self.reader}")

    @property
    def make_exporter(self) -> Callable[..., Any]:
        """Its exporter's class, imported on demand.

        RETURNS (Callable[..., Exporter]): Creates an exporter with options.
        """
        return resolve_name(f"{__package__}.{self.exporter}")

    def implied_by(self, path: Path) -> str:
        """Find out whether the name of an output implies the format.

        path (Path): The output.
        RETURNS (str): The longest extension that implies it; empty if none does.
        """
        implied = self.endings if self.implied is None else self.implied
        name = self.uncompressed(path)
        return max((ending for ending in implied if name.endswith(ending)), key=len, default="")

    def uncompressed(self, path: Path) -> str:
        """Read the name of a file to write.

        path (Path): The file.
        RETURNS (str): Its name in lower case, without `.gz`.
        """
        name = path.name.lower()
        return name.removesuffix(_COMPRESSED) if self.is_text else name


_FORMATS = [Format(name, **row) for name, row in read_toml(__package__, "formats.toml").items()]
CORPUS_FORMATS = {form.name: form for form in _FORMATS if form.reader}
EXPORT_FORMATS = {form.name: form for form in _FORMATS if form.exporter}


def find_corpus_format(path: Path, name: str | None = None) -> Format:
    """Find the format of a corpus by its name, or by the file's extension.

    path (Path): The file, or the folder.
    name (Optional[str]): One of `CORPUS_FORMATS`.
    RETURNS (Format): The format.
    RAISES (ConnormError): CN105 for a folder of other files, CN111 if the file's name does not show
        the format, CN118 if the name is unknown.
    """
    if name is not None:
        require_choice("format", name, CORPUS_FORMATS)
        return CORPUS_FORMATS[name]
    if path.is_dir():
        for form in CORPUS_FORMATS.values():
            if form.folder_of and next(path.rglob(f"*{form.folder_of}"), None):
                return form
        raise Errors.CN105(path=path)
    file_name = path.name.lower().removesuffix(_COMPRESSED)
    for form in CORPUS_FORMATS.values():
        if file_name.endswith(form.suffixes):
            return form
    raise _unknown(path, CORPUS_FORMATS)


def find_export_format(path: Path, name: str | None = None) -> Format:
    """Find the format to write by its name, or by the file's.

    path (Path): The file, or the folder.
    name (Optional[str]): One of `EXPORT_FORMATS`.
    RETURNS (Format): The format.
    RAISES (ConnormError): CN111 if the file's name does not show the format, CN118 if the format is
        unknown, CN708 if the file does not have one of the format's extensions.
    """
    if name is None:
        likely = max(EXPORT_FORMATS.values(), key=lambda form: len(form.implied_by(path)))
        if not likely.implied_by(path):
            raise _unknown(path, EXPORT_FORMATS)
        return likely
    require_choice("format", name, EXPORT_FORMATS)
    form = EXPORT_FORMATS[name]
    if form.endings and not form.uncompressed(path).endswith(form.endings):
        require_ending(path, form.endings)
    return form


def _unknown(path: Path, known: Iterable[str]) -> ConnormError:
    return Errors.CN111(path=path, known=", ".join(known))
