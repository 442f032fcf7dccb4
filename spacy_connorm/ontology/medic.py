"""MEDIC as in papers on disease normalization: CTD's diseases of July 2012, without hierarchy."""

from collections.abc import Iterator
from html import unescape
from pathlib import Path

from ..concepts import Concept
from ..concepts.curies import PREFIXES, join_curie
from ..files.text import read_lines
from .report import ReadReport


def read_medic(path: str | Path, *, report: ReadReport | None = None) -> Iterator[Concept]:
    """Read one concept per line, `id|alternate id...||name|synonym...`. MeSH ids have no prefix,
    as in the corpora; a bare number is an OMIM id and becomes `OMIM:number`. XML escapes (`&apos;`)
    are decoded.

    path (Union[str, Path]): The file.
    report (Optional[ReadReport]): Filled with what was left out.
    YIELDS (Concept): The concepts, in the file's order.
    RAISES (ConnormError): What `read_lines` raises.
    """
    report = report or ReadReport()
    for number, line in read_lines(path):
        ids, separator, names = line.partition("||")
        concept_id, *alt_ids = map(_full_id, ids.split("|"))
        canonical_name, *aliases = map(unescape, names.split("|"))
        if not separator or not concept_id:
            report.leave_out("a line without `id||name`", f"line {number}", broken=True)
            continue
        yield Concept(
            concept_id,
            canonical_name,
            tuple(aliases),
            alt_ids=tuple(alt_ids),
            xrefs=PREFIXES.curies(join_curie("MESH", each) for each in (concept_id, *alt_ids)),
        )


def _full_id(concept_id: str) -> str:
    concept_id = concept_id.strip()
    return f"OMIM:{concept_id}" if concept_id.isdigit() else concept_id
