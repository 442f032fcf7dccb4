"""The formats that annotated documents are written in."""

from dataclasses import dataclass, fields
from importlib import import_module
from pathlib import Path
from typing import Any, TypedDict

from ...errors import ConnormError, Errors
from .protocol import Exporter

_COMPRESSED = ".gz"


class ExportOptions(TypedDict, total=False):
    """Settings of the formats; one of another format is refused (CN772).

    date (str): bioc-json, bioc-xml, omop: the day of the annotation, `YYYY-MM-DD`; today if empty.
    database (str): brat: the vocabulary of ids that do not tell it.
    omop_concept_ids (bool): omop: whether the ontology's ids are concept ids of OMOP.
    system (str): fhir-bundle, fhir-ndjson: the URI of the ids' code system.
    resource (str): fhir-bundle, fhir-ndjson: "Observation" or "Condition".
    subject_field (str): fhir-bundle, fhir-ndjson: the field of a text's JSON with the patient.
    """

    date: str
    database: str
    omop_concept_ids: bool
    system: str
    resource: str
    subject_field: str


@dataclass(frozen=True, slots=True)
class ExportFormat:
    """A format.

    name (str): The format's name.
    suffixes (Tuple[str, ...]): How the names of its files may end; a folder's may be any.
    implied (Tuple[str, ...]): Endings that tell the format.
    exporter (str): The module in `exports`, a colon, and the class of its exporter.
    lacks (str): What it has no place for; empty if nothing.
    is_folder (bool): Whether it is a folder of files.
    is_text (bool): Whether `.gz` after the ending compresses it.
    """

    name: str
    suffixes: tuple[str, ...]
    exporter: str
    lacks: str = ""
    implied: tuple[str, ...] = ()
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
        """RETURNS (bool): Whether a path may be one of the format."""
        return self.is_folder or self._name(path).endswith(self.suffixes)

    def implied_by(self, path: Path) -> str:
        """RETURNS (str): The longest ending of a path that tells the format; empty if none does."""
        name = self._name(path)
        return max((each for each in self.implied if name.endswith(each)), key=len, default="")

    def _name(self, path: Path) -> str:
        name = path.name.lower()
        return name.removesuffix(_COMPRESSED) if self.is_text else name


_NO_ANSWERS = "names, scores, candidates, long forms"

FORMATS = {
    form.name: form
    for form in (
        ExportFormat(
            name="jsonl",
            suffixes=(".jsonl",),
            exporter="jsonl:JsonlExporter",
            lacks="the long forms of mentions, and gaps in mentions",
            implied=(".jsonl",),
        ),
        ExportFormat(
            name="spacy",
            suffixes=(".spacy",),
            exporter="docbin:DocBinExporter",
            implied=(".spacy",),
            is_text=False,
        ),
        ExportFormat(
            name="csv",
            suffixes=(".csv",),
            exporter="csv:CsvExporter",
            lacks="texts, other fields, documents without mentions, and gaps in mentions",
            implied=(".csv",),
        ),
        ExportFormat(
            name="pubtator",
            suffixes=(".pubtator", ".txt"),
            exporter="pubtator:PubTatorExporter",
            lacks=f"{_NO_ANSWERS}, other fields, line breaks, and gaps in mentions",
            implied=(".pubtator", ".pubtator.txt"),
        ),
        ExportFormat(
            name="bioc-xml",
            suffixes=(".xml",),
            exporter="bioc:BioCXmlExporter",
            implied=(".xml",),
        ),
        ExportFormat(
            name="bioc-json",
            suffixes=(".json",),
            exporter="bioc:BioCJsonExporter",
            implied=(".bioc.json",),
        ),
        ExportFormat(
            name="brat",
            suffixes=(),
            exporter="brat:BratExporter",
            lacks="other fields",
            is_folder=True,
            is_text=False,
        ),
        ExportFormat(
            name="omop",
            suffixes=(".csv",),
            exporter="omop:OmopExporter",
            lacks="texts, other fields, texts without mentions, all candidates but the first, and "
            "gaps in mentions",
            implied=(".omop.csv",),
        ),
        ExportFormat(
            name="fhir-ndjson",
            suffixes=(".ndjson",),
            exporter="fhir:FhirNdjsonExporter",
            lacks="texts, texts without mentions, and other fields than the patient's",
            implied=(".fhir.ndjson",),
        ),
        ExportFormat(
            name="fhir-bundle",
            suffixes=(".json",),
            exporter="fhir:FhirBundleExporter",
            lacks="other fields than the patient's",
            implied=(".fhir.json",),
        ),
        ExportFormat(
            name="parquet",
            suffixes=(".parquet",),
            exporter="parquet:ParquetExporter",
            implied=(".parquet",),
            is_text=False,
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
        likely = max(FORMATS.values(), key=lambda form: len(form.implied_by(path)))
        if not likely.implied_by(path):
            raise ConnormError(Errors.CN770.format(path=path, known=known))
        return likely
    if name not in FORMATS:
        raise ConnormError(Errors.CN771.format(format=name, known=known))
    form = FORMATS[name]
    if not form.fits(path):
        endings = " or ".join(form.suffixes)
        raise ConnormError(Errors.CN708.format(action="write", path=path, known=endings))
    return form
