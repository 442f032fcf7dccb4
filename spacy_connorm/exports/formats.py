"""The formats that annotated documents are written in."""

from dataclasses import dataclass, fields
from importlib import import_module
from pathlib import Path
from typing import Any, TypedDict

from ..errors import ConnormError, Errors
from .protocol import Exporter

_COMPRESSED = ".gz"


class ExportOptions(TypedDict, total=False):
    """Settings of the formats; one of another format is refused (CN772)."""


@dataclass(frozen=True, slots=True)
class ExportFormat:
    """A format.

    name (str): The format's name.
    suffixes (Tuple[str, ...]): How the names of its files end.
    exporter (str): The module in `exports`, a colon, and the class of its exporter.
    lacks (str): What it has no place for; empty if nothing.
    is_implied (bool): Whether a file's ending alone can name it.
    is_folder (bool): Whether it is a folder of files.
    is_text (bool): Whether `.gz` after the ending compresses it.
    """

    name: str
    suffixes: tuple[str, ...]
    exporter: str
    lacks: str = ""
    is_implied: bool = True
    is_folder: bool = False
    is_text: bool = True

    def make(self, options: ExportOptions) -> Exporter:
        """Make the exporter, which is imported on demand.

        options (ExportOptions): Its settings.
        RETURNS (Exporter): The exporter.
        RAISES (ConnormError): CN772 for a setting of another format, and what the exporter raises.
        """
        module, _, name = self.exporter.partition(":")
        exporter: Any = getattr(import_module(f".{module}", __package__), name)
        known = [each.name for each in fields(exporter)]
        unknown = [option for option in options if option not in known]
        if unknown:
            raise ConnormError(
                Errors.CN772.format(
                    format=self.name,
                    options=", ".join(unknown),
                    known=", ".join(known) or "none",
                )
            )
        return exporter(**options)

    def fits(self, path: Path) -> bool:
        """RETURNS (bool): Whether a path ends as the files of the format do."""
        name = path.name.lower()
        if self.is_text:
            name = name.removesuffix(_COMPRESSED)
        return name.endswith(self.suffixes) if self.suffixes else not path.suffix


FORMATS = {
    form.name: form
    for form in (
        ExportFormat("jsonl", (".jsonl",), "jsonl:JsonlExporter", "the long forms of mentions"),
        ExportFormat("spacy", (".spacy",), "docbin:DocBinExporter", is_text=False),
        ExportFormat(
            "csv",
            (".csv",),
            "csv:CsvExporter",
            "texts, other fields, and documents without mentions",
        ),
        ExportFormat(
            "pubtator",
            (".pubtator", ".pubtator.txt"),
            "pubtator:PubTatorExporter",
            "names, scores, candidates, long forms, other fields, line breaks, gaps in mentions",
        ),
    )
}


def find_export_format(path: Path, name: str | None = None) -> ExportFormat:
    """Find the format to write by its name, or by the file's.

    path (Path): The file, or the folder.
    name (Optional[str]): One of `FORMATS`.
    RETURNS (ExportFormat): The format.
    RAISES (ConnormError): CN708 if the file's name does not end as the format's do, CN770 if it
        tells no format, CN771 if the format is unknown.
    """
    known = ", ".join(FORMATS)
    if name is None:
        implied = [form for form in FORMATS.values() if form.is_implied and form.fits(path)]
        if not implied:
            raise ConnormError(Errors.CN770.format(path=path, known=known))
        return implied[-1]
    if name not in FORMATS:
        raise ConnormError(Errors.CN771.format(format=name, known=known))
    form = FORMATS[name]
    if not form.fits(path):
        endings = " or ".join(form.suffixes) or "no suffix, since it is a folder"
        raise ConnormError(Errors.CN708.format(action="write", path=path, known=endings))
    return form
