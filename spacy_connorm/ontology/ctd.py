"""The Comparative Toxicogenomics Database: its diseases and chemicals, and MEDIC, its diseases of
July 2012 in the form used by papers on disease normalization, without hierarchy.
"""

from collections.abc import Iterator
from html import unescape
from pathlib import Path

from ..concepts import Concept
from ..concepts.curies import PREFIXES, join_curie
from ..errors import unreadable
from ..files.text import read_lines
from .report import ReadReport


def read_ctd(path: str | Path, *, report: ReadReport | None = None) -> Iterator[Concept]:
    """Read a vocabulary of CTD. Ids are written as in the corpora: `D003920`, `OMIM:222100`,
    `DOID:9351`. Slim mappings (broad disease categories) become semantic types.

    path (Union[str, Path]): The tab-separated file with its `#` header.
    report (Optional[ReadReport]): Filled with what was left out, and with the terms of use in the
        header.
    YIELDS (Concept): The concepts, in the file's order.
    RAISES (ConnormError): CN115 if the header does not name the columns, or for too many odd lines,
        and the errors of `read_lines`.
    """
    report = report or ReadReport()
    header: list[str] = []
    columns: list[str] = []
    for number, line in report.odd.watch(read_lines(path)):
        if line.startswith("#"):
            header.append(line.lstrip("# ").rstrip(" "))
            continue
        if not columns:
            columns = _columns(header)
            if not columns:
                raise unreadable(path, number, "ctd", "the header names no columns")
            report.licence = _terms_of_use(header)
        fields = line.split("\t")
        if len(fields) > len(columns) or len(fields) < 2:
            reason = f"{len(fields)} fields, but the table has {len(columns)} columns"
            report.odd.skip(unreadable(path, number, "CTD", reason))
            continue
        yield _concept(dict(zip(columns, fields, strict=False)))


def _columns(header: list[str]) -> list[str]:
    """Get the column names without the table's subject: DiseaseID and ChemicalID become ID.

    RETURNS (List[str]): The names; empty if the header does not give them.
    """
    columns = next((line.split("\t") for line in header if "\t" in line), [""])
    subject = columns[0].removesuffix("Name")
    columns = [column.removeprefix(subject) for column in columns]
    return columns if {"ID", "Name"} <= set(columns) else []


def _terms_of_use(header: list[str]) -> str:
    end = next(i for i, line in enumerate(header) if line.startswith("Fields") or "\t" in line)
    return "\n".join(header[:end]).strip()


def _concept(row: dict[str, str]) -> Concept:
    alt_ids = _split(row.get("AltDiseaseIDs", ""))
    return Concept(
        concept_id=_bare_id(row["ID"]),
        canonical_name=row["Name"],
        aliases=_synonyms(row),
        types=_split(row.get("SlimMappings", "")),
        definition=row.get("Definition", ""),
        parents=tuple(map(_bare_id, _split(row.get("ParentIDs", "")))),
        alt_ids=tuple(map(_bare_id, alt_ids)),
        xrefs=PREFIXES.curies((row["ID"], *alt_ids, join_curie("CAS", row.get("CasRN", "")))),
    )


def _synonyms(row: dict[str, str]) -> tuple[str, ...]:
    # Diseases have them in a single column; chemicals in several, such as MESHSynonyms.
    columns = (field for column, field in row.items() if column.endswith("Synonyms"))
    return tuple(dict.fromkeys(name for field in columns for name in _split(field)))


def _split(field: str) -> tuple[str, ...]:
    return tuple(field.split("|")) if field else ()


def _bare_id(concept_id: str) -> str:
    # Corpora write MeSH ids without a prefix, and DOIDs already have one.
    return concept_id.removeprefix("MESH:").removeprefix("DO:")


def read_medic(path: str | Path, *, report: ReadReport | None = None) -> Iterator[Concept]:
    """Read one concept per line, `id|alternate id...||name|synonym...`. MeSH ids have no prefix,
    as in the corpora; a bare number is an OMIM id and becomes `OMIM:number`. XML escapes (`&apos;`)
    are decoded.

    path (Union[str, Path]): The file.
    report (Optional[ReadReport]): Filled with what was left out.
    YIELDS (Concept): The concepts, in the file's order.
    RAISES (ConnormError): CN115 for too many odd lines, and the errors of `read_lines`.
    """
    report = report or ReadReport()
    for number, line in report.odd.watch(read_lines(path)):
        written, separator, names = line.partition("||")
        ids = [_full_id(concept_id) for concept_id in written.split("|")]
        canonical_name, *aliases = map(unescape, names.split("|"))
        if not separator or not ids[0]:
            report.odd.skip(unreadable(path, number, "MEDIC", "it is not `id||name`"))
            continue
        xrefs = PREFIXES.curies(join_curie("MESH", mesh_id) for mesh_id in ids)
        alt_ids = tuple(ids[1:])
        yield Concept(ids[0], canonical_name, tuple(aliases), alt_ids=alt_ids, xrefs=xrefs)


def _full_id(concept_id: str) -> str:
    concept_id = concept_id.strip()
    return f"OMIM:{concept_id}" if concept_id.isdigit() else concept_id
