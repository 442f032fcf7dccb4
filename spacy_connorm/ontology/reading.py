"""Read an ontology in any known format."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any

from ..concepts import Concept, ConceptStream, Ontology, Source
from ..errors import ConnormError, Errors, Warnings, quote_id, require_options, warn
from ..files.text import sha256
from ..text.cleaning import clean
from .checks import Finding, Inventory, warn_about
from .formats import find_format, find_reader
from .prefixed import with_curies
from .report import ReadReport
from .rrf import find_mrconso


def read_ontology(
    path: str | Path,
    *,
    format: str | None = None,
    licence: str = "",
    curies: bool = False,
    **options: Any,
) -> Ontology:
    """Read an ontology into memory.

    path (Union[str, Path]): The file, or the META folder of a UMLS release.
    format (Optional[str]): One of `FORMATS`; detected from the file if None.
    licence (str): The terms of use to keep in every index built from it; those stated in the file
        if empty.
    curies (bool): Whether to write ids with the prefix of their vocabulary, see `with_curies`.
    **options (Any): Options of the format, see its reader.
    RETURNS (Ontology): The ontology.
    RAISES (ConnormError): What `stream_ontology` raises.
    """
    report = ReadReport()
    ontology = Ontology(
        stream_ontology(path, format=format, report=report, curies=curies, **options)
    )
    inventory = Inventory()
    for _ in inventory.watch(ontology):
        pass
    warn_about(inventory.summary(ontology))
    file = _file(path)
    ontology.source = Source(file.name, sha256(file), licence or report.licence)
    return ontology


def open_ontology(
    path: str | Path,
    *,
    format: str | None = None,
    licence: str = "",
    curies: bool = False,
    **options: Any,
) -> ConceptStream:
    """Open an ontology of any size for an index, to be read concept by concept. Warnings about
    likely mistakes come at the end.

    path, format, licence, curies, **options: As in `read_ontology`.
    RETURNS (ConceptStream): The ontology, to be read once.
    RAISES (ConnormError): What `stream_ontology` raises, partly while the concepts are read.
    """
    file, report = _file(path), ReadReport()
    stream = stream_ontology(path, format=format, report=report, curies=curies, **options)
    # The terms of use come before the first concept.
    first = list(islice(stream, 1))
    again = partial(_sound, path, format, ReadReport(), curies, options)
    source = Source(file.name, sha256(file), licence or report.licence)
    return ConceptStream(_watched(chain(first, stream), again), source)


def _watched(
    concepts: Iterable[Concept], again: Callable[[], Iterator[Concept]]
) -> Iterator[Concept]:
    inventory = Inventory()
    yield from inventory.watch(concepts)
    # Whoever merges concepts with repeated ids warns about them.
    warn_about(replace(inventory.summary(again()), repeated_ids=Finding()))


def stream_ontology(
    path: str | Path,
    *,
    format: str | None = None,
    report: ReadReport | None = None,
    curies: bool = False,
    **options: Any,
) -> Iterator[Concept]:
    """Read an ontology concept by concept, with cleaned texts. Concepts without an id or a name are
    left out. At the end a warning (CNW102) reports invalid rows.

    path (Union[str, Path]): The file, or the META folder of a UMLS release.
    format (Optional[str]): One of `FORMATS`; detected from the file if None.
    report (Optional[ReadReport]): Filled with what was left out, and with the file's terms of use.
    curies (bool): Whether to write ids with the prefix of their vocabulary, see `with_curies`.
    **options (Any): Options of the format, see its reader.
    YIELDS (Concept): The concepts, in the file's order.
    RAISES (ConnormError): CN104 if there are none, CN113 for a setting that the format does not
        have, and what `find_format` and the reader raise.
    """
    report = report or ReadReport()
    empty = True
    for concept in _sound(path, format, report, curies, options):
        empty = False
        yield concept
    if empty:
        reasons = [f"{reason} ({kind.count:,})" for reason, kind in report.left_out.items()]
        left_out = f" Left out: {', '.join(reasons)}." if reasons else ""
        raise ConnormError(Errors.CN104.format(path=path) + left_out)
    for reason, kind in report.left_out.items():
        if kind.broken:
            message = Warnings.CNW102.format(
                path=path, count=kind.count, reason=reason, first=kind.first
            )
            warn(message)


def _sound(
    path: str | Path,
    format: str | None,
    report: ReadReport,
    curies: bool,
    options: dict[str, Any],
) -> Iterator[Concept]:
    """YIELDS (Concept): The concepts with an id and a name."""
    file = _file(path)
    format = find_format(file, format)
    reader = find_reader(format)
    require_options(format, reader, options)
    for raw in reader(file, report=report, **options):
        concept = raw.cleaned(clean)
        if concept.concept_id and concept.canonical_name:
            yield with_curies(concept) if curies else concept
        else:
            example = quote_id(concept.concept_id or concept.canonical_name)
            report.leave_out("a concept without id or name", example, broken=True)


class OntologyReader:
    """Reads an ontology when called. It is no dataclass, since spaCy's configs turn these into
    dictionaries.
    """

    def __init__(
        self, path: Path, *, format: str | None = None, licence: str = "", **options: Any
    ) -> None:
        """Read nothing yet.

        path (Path): The file, or the META folder of a UMLS release.
        format (Optional[str]): One of `FORMATS`; detected from the file if None.
        licence (str): The terms of use, see `read_ontology`.
        **options: Settings of the format's reader.
        """
        self.path = path
        self.settings = {"format": format, "licence": licence, **options}

    def __call__(self) -> Ontology:
        """RETURNS (Ontology): See `read_ontology`."""
        return read_ontology(self.path, **self.settings)

    def stream(self) -> ConceptStream:
        """RETURNS (ConceptStream): See `open_ontology`."""
        return open_ontology(self.path, **self.settings)


def create_ontology_reader(
    path: Path, format: str | None = None, licence: str = "", options: dict[str, Any] | None = None
) -> OntologyReader:
    """Registered as `spacy-connorm.Ontology.v1`. Nothing is read before the reader is called.

    path (Path): The file, or the META folder of a UMLS release.
    format (Optional[str]): One of `FORMATS`; detected from the file if None.
    licence (str): The terms of use, see `read_ontology`.
    options (Optional[Dict[str, Any]]): Settings of the format's reader.
    RETURNS (OntologyReader): Reads the ontology when called.
    """
    return OntologyReader(path, format=format, licence=licence, **(options or {}))


def _file(path: str | Path) -> Path:
    path = Path(path)
    return find_mrconso(path) if path.is_dir() else path
