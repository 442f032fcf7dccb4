"""Read an ontology in any format, and convert it to the JSONL that everything else reads."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import replace
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

from ..concepts import Concept, ConceptStream, Ontology, Source, read_concepts, write_concepts
from ..concepts.concept import ALL_SCOPES, EXACT, SCOPES, require_id_and_name
from ..concepts.curies import PREFIXES, join_curie, split_curie
from ..concepts.ontology import read_licence, write_licensed
from ..errors import Errors, Warnings, require_ending, require_options
from ..files.atomic import require_apart
from ..files.odd_lines import MAX_ODD, OddLines
from ..files.progress import progress_bar
from ..files.text import sha256
from ..text.cleaning import clean
from .formats import find_format, find_reader
from .report import Finding, Inventory, ReadReport, Summary, warn_about
from .rrf import find_mrconso
from .snomed import find_snomed
from .synonyms import require_scopes, split_short_forms
from .translations import Translations, read_translations


def read_ontology(path: str | Path, *, licence: str = "", **options: Any) -> Ontology:
    """Read an ontology into memory.

    path (Union[str, Path]): The file, or the folder of a release of UMLS, RxNorm or SNOMED CT.
    licence (str): The terms of use to keep in every index built from it; if empty, those stated in
        the file.
    **options (Any): `format`, `curies`, `max_odd` and the options of the format, as in
        `stream_ontology`.
    RETURNS (Ontology): The ontology.
    RAISES (ConnormError): The errors of `stream_ontology`.
    """
    stream = open_ontology(path, licence=licence, **options)
    return Ontology(stream, source=stream.source)


def open_ontology(
    path: str | Path, *, licence: str = "", report: ReadReport | None = None, **options: Any
) -> ConceptStream:
    """Open an ontology of any size for an index, to be read concept by concept. Warnings about
    likely mistakes are issued at the end.

    path, licence, **options: As in `read_ontology`.
    report (Optional[ReadReport]): Filled while the concepts are read.
    RETURNS (ConceptStream): The ontology, to be read once.
    RAISES (ConnormError): The errors of `stream_ontology`, partly while the concepts are read.
    """
    file, report = _file(path), report or ReadReport()
    concepts = stream_ontology(path, report=report, **options)
    # The terms of use come before the first concept.
    first = list(islice(concepts, 1))
    again = partial(stream_ontology, path, **options)
    tables = (Path(table).name for table in options.get("translations", ()))
    names = ", ".join((file.name, *tables))
    source = Source(names, sha256(file), licence or report.licence, report.release)
    return ConceptStream(_watched(chain(first, concepts), again), source)


def _watched(
    concepts: Iterable[Concept], again: Callable[[], Iterator[Concept]]
) -> Iterator[Concept]:
    inventory = Inventory()
    yield from inventory.watch(concepts)
    # The code that merges concepts with repeated ids warns about them.
    warn_about(replace(inventory.summary(again()), repeated_ids=Finding()))


def stream_ontology(
    path: str | Path,
    *,
    format: str | None = None,
    report: ReadReport | None = None,
    curies: bool = False,
    max_odd: float = MAX_ODD,
    **options: Any,
) -> Iterator[Concept]:
    """Read an ontology concept by concept, with cleaned texts. Lines that can't be read and
    concepts without an id or a name are skipped; at the end, a warning (CNW110) reports them. With
    translations, it is read into memory.

    path (Union[str, Path]): The file, or the folder of a release of UMLS, RxNorm or SNOMED CT.
    format (Optional[str]): One of `FORMATS`; detected from the file if None.
    report (Optional[ReadReport]): Filled with what was left out, and with the file's terms of use.
    curies (bool): Whether to write ids with the prefix of their vocabulary, see `with_curies`.
    max_odd (float): The largest share of lines that may be skipped since they can't be read.
    **options (Any): Those of `Translations`, and those of the format; see its reader.
    YIELDS (Concept): The concepts, in the file's order.
    RAISES (ConnormError): CN104 if there are no concepts, CN113 for an option that the format does
        not have, the error of the first line that can't be read if there are too many, and the
        errors of `find_format`, the reader, `Translations` and `read_translations`.
    """
    report = report or ReadReport()
    report.odd = OddLines(max_odd)
    file = _file(path)
    format = find_format(file, format)
    reader = find_reader(format)
    settings, options = Translations.split(options)
    require_options(format, reader, options)
    translator = read_translations(settings, report) if settings.translations else None
    concepts: Iterable[Concept] = reader(file, report=report, **options)
    if translator is not None:
        concepts = translator.translate(concepts, report)
    concepts = _sound(concepts, report, curies=curies)
    first = next(concepts, None)
    if first:
        yield first
        yield from concepts
    report.odd.require_few()
    if not first:
        reasons = [f"{reason} ({kind.count:,})" for reason, kind in report.left_out.items()]
        left_out = f" (left out: {', '.join(reasons)})" if reasons else ""
        raise Errors.CN104(path=path, what=f"concepts{left_out}")
    for reason, kind in report.left_out.items():
        if kind.broken:
            Warnings.CNW102.warn(path=path, count=kind.count, reason=reason, first=kind.first)
    report.odd.warn(path)


def _sound(concepts: Iterable[Concept], report: ReadReport, *, curies: bool) -> Iterator[Concept]:
    """Clean concepts, and skip those that can't be concepts."""
    for raw in concepts:
        concept = split_short_forms(raw).cleaned(clean)
        with report.odd.skip_errors():
            require_id_and_name(concept, concept)
            yield with_curies(concept) if curies else concept


def with_curies(concept: Concept) -> Concept:
    """Add prefixes to the id of a concept, its alternate ids and its parents. The original ids
    become alternate ids, so that corpora and synonyms can still use them.

    concept (Concept): The concept. The vocabulary of its id is known from a cross-reference, or
        from the id's form (MeSH, UMLS).
    RETURNS (Concept): The concept; unchanged if the vocabulary of its id is unknown. Other ids that
        look like its own, or whose form shows no vocabulary, get the same prefix.
    """
    curie = PREFIXES.own_curie(concept.concept_id, concept.xrefs)
    if not curie:
        return concept
    vocabulary, local_id = split_curie(curie)

    def prefixed(concept_id: str) -> str:
        # Ids of other vocabularies may have the form of MeSH ids: NCIT:C102870.
        is_alike = _outline(concept_id) == _outline(local_id)
        curie_of = PREFIXES.curie if is_alike else PREFIXES.own_curie
        return curie_of(concept_id) or join_curie(vocabulary, concept_id)

    alt_ids = (*map(prefixed, concept.alt_ids), concept.concept_id, *concept.alt_ids)
    return replace(
        concept,
        concept_id=curie,
        parents=tuple(map(prefixed, concept.parents)),
        alt_ids=tuple(alt_id for alt_id in dict.fromkeys(alt_ids) if alt_id != curie),
    )


def _outline(local_id: str) -> str:
    return re.sub(r"\d+", "0", local_id)


def read_jsonl(
    path: str | Path, *, scopes: Collection[str] = ALL_SCOPES, report: ReadReport | None = None
) -> Iterator[Concept]:
    """Read scispaCy's knowledge base: one JSON object per line, or a JSON array.

    path (Union[str, Path]): A `.jsonl` or `.json` file, perhaps with `.gz`.
    scopes (Collection[str]): The synonyms to read, by their scope.
    report (Optional[ReadReport]): Filled with the licence stored beside the file.
    YIELDS (Concept): The concepts, in the file's order.
    RAISES (ConnormError): CN115 for lines that are not concepts, CN118 for an unknown scope, and
        the errors of `read_lines`.
    """
    require_scopes(scopes)
    if report is not None:
        report.licence = read_licence(path)
    concepts = read_concepts(path, odd=None if report is None else report.odd)
    if set(scopes) >= set(ALL_SCOPES):
        return concepts
    return (_with_scopes(concept, scopes) for concept in concepts)


def _with_scopes(concept: Concept, scopes: Collection[str]) -> Concept:
    scoped = {scope: getattr(concept, scope) * (scope.upper() in scopes) for scope in SCOPES}
    kept = {name for names in scoped.values() for name in names}
    if EXACT in scopes:
        kept.update(concept.exact_names)
    aliases = tuple(alias for alias in concept.aliases if alias in kept)
    return replace(concept, aliases=aliases, **scoped)


class OntologyReader:
    """Reads an ontology when called, not before, `spacy-connorm.Ontology.v1`. It is not a
    dataclass, since spaCy's configs convert dataclasses to dictionaries.
    """

    def __init__(
        self,
        path: Path,
        format: str | None = None,
        licence: str = "",
        options: dict[str, Any] | None = None,
    ) -> None:
        """Store the settings.

        path (Path): The file, or the folder of a release of UMLS, RxNorm or SNOMED CT.
        format (Optional[str]): One of `FORMATS`; detected from the file if None.
        licence (str): The terms of use, see `read_ontology`.
        options (Optional[Dict[str, Any]]): As in `stream_ontology`.
        """
        self.path = path
        self.settings: dict[str, Any] = {"format": format, "licence": licence, **(options or {})}
        self.report = ReadReport()

    def __call__(self) -> Ontology:
        """Read the ontology.

        RETURNS (Ontology): See `read_ontology`.
        """
        return read_ontology(self.path, **self.settings)

    def stream(self) -> ConceptStream:
        """Open the ontology for reading concept by concept.

        RETURNS (ConceptStream): See `open_ontology`.
        """
        self.report = ReadReport()
        return open_ontology(self.path, report=self.report, **self.settings)


def _file(path: str | Path) -> Path:
    path = Path(path)
    return (find_snomed(path) or find_mrconso(path)) if path.is_dir() else path


class Conversion(NamedTuple):
    """The result of converting an ontology.

    summary (Summary): Counts of the ontology.
    report (ReadReport): What was left out, and the terms of use stated in the file.
    licence (str): The terms of use, kept beside the new file; may be empty.
    """

    summary: Summary
    report: ReadReport
    licence: str


def convert_ontology(
    input_path: str | Path,
    output_path: str | Path,
    *,
    format: str | None = None,
    licence: str = "",
    curies: bool = False,
    max_odd: float = MAX_ODD,
    **options: Any,
) -> Conversion:
    """Convert an ontology to knowledge-base JSONL: `connorm ontology`. Concepts are
    read and written one by one, so an ontology of any size fits in memory.

    input_path (Union[str, Path]): The ontology, which may be gzipped, or the folder of a release of
        UMLS, RxNorm or SNOMED CT.
    output_path (Union[str, Path]): A .jsonl or .jsonl.gz file.
    format (Optional[str]): One of `FORMATS`; detected from the file if None.
    licence (str): The terms of use, kept beside the new file. If empty, those stated in the file.
    curies (bool): Write ids with the prefix of their vocabulary: MESH:D003920.
    max_odd (float): The largest share of lines that may be skipped since they can't be read, 0 to
        1. With 0, the first one is an error.
    **options (Any): Those of `Translations`, and those of the format; see its reader.
    RETURNS (Conversion): Counts, doubtful findings, and what was left out.
    RAISES (ConnormError): CN708 for another extension, CN105 or CN108 if the file cannot be
        written, CN121 if it would replace the input, and the errors of `stream_ontology`.
    """
    output_path = jsonl_path(output_path)
    tables = Translations.split(options)[0].translations
    require_apart(output_path, input_path, *tables, *options.values())
    report, inventory = ReadReport(), Inventory()
    concepts = stream_ontology(
        input_path, format=format, report=report, curies=curies, max_odd=max_odd, **options
    )
    with progress_bar(concepts, unit="concepts") as bar:
        watched = inventory.watch(bar)
        write_licensed(
            write_concepts, watched, output_path, licence=lambda: licence or report.licence
        )
    summary = inventory.summary(read_concepts(output_path))
    warn_about(summary)
    return Conversion(summary, report, licence or report.licence)


def jsonl_path(path: str | Path) -> Path:
    """Check the name of an ontology to write.

    path (Union[str, Path]): The file.
    RETURNS (Path): The path.
    RAISES (ConnormError): CN708 for an extension other than `.jsonl` and `.jsonl.gz`.
    """
    path = Path(path)
    require_ending(path, [".jsonl", ".jsonl.gz"])
    return path
