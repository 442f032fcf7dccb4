"""SNOMED CT in its release format 2 (RF2): descriptions joined with concepts, relationships,
preferred terms and definitions of the same snapshot.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

from ..concepts import Concept
from ..concepts.curies import PREFIXES, join_curie
from ..errors import refuse, unreadable
from ..files.tables import find_column
from ..files.text import read_lines
from .report import ReadReport

US_ENGLISH = "900000000000509007"
_ACTIVE = "1"
_FULL_NAME, _SYNONYM = "900000000000003001", "900000000000013009"
_PREFERRED = "900000000000548007"
_IS_A = "116680003"
# "Fracture of femur (disorder)"
_TAGGED = re.compile(r"(.*\S)\s*\(([^()]+)\)")
# The profile needs a type of every concept.
_UNTAGGED = "untagged"
# Where a folder may have the descriptions: it is the release, or in it.
_FOLDERS = (".", "Terminology", "Snapshot/Terminology", "*/Snapshot/Terminology")
_OTHER_RELEASES = re.compile("_(Full|Delta)")


def read_snomed(
    path: str | Path, *, dialect: str = US_ENGLISH, report: ReadReport | None = None
) -> Iterator[Concept]:
    """Read the snapshot of a SNOMED CT edition: active concepts with their active terms. Semantic
    types are the semantic tags ("disorder"). The files of concepts, relationships, preferred terms
    and definitions are optional.

    path (Union[str, Path]): The folder of a release, or a file of descriptions in it.
    dialect (str): The reference set of the language whose preferred terms are preferred names; by
        default US English, or if the release lacks it, the largest one.
    report (Optional[ReadReport]): Filled with what was left out.
    YIELDS (Concept): The concepts, in the order of the descriptions.
    RAISES (ConnormError): CN006 for a full release, and a folder with descriptions in several
        languages but no English; CN100 for a missing file, CN114 for a missing column, CN115 for a
        row that is too short.
    """
    report = report or ReadReport()
    path = Path(path)
    descriptions = (find_snomed(path) if path.is_dir() else None) or path
    if _OTHER_RELEASES.search(descriptions.name):
        refuse("path", str(descriptions), "in a snapshot, which has no retired terms")
    files = _Release(descriptions, report)
    active = files.active_concepts()
    preferred = files.preferred_terms(dialect)
    parents = files.parents()
    definitions = files.definitions()
    for concept_id, rows in _by_concept(descriptions).items():
        if active is not None and concept_id not in active:
            report.leave_out("an inactive concept", concept_id)
            continue
        names, tag = _names(rows, preferred)
        yield Concept(
            concept_id,
            names[0],
            names[1:],
            types=(tag,),
            definition=definitions.get(concept_id, ""),
            parents=tuple(parents.get(concept_id, ())),
            xrefs=PREFIXES.curies([join_curie("SNOMEDCT", concept_id)]),
        )


def find_snomed(folder: Path) -> Path | None:
    """Find the descriptions of a release.

    folder (Path): The release, or a folder in it.
    RETURNS (Optional[Path]): The snapshot's descriptions, in English if there are several
        languages; None if there are none.
    RAISES (ConnormError): CN006 for several languages without English.
    """
    found = sorted(
        file for each in _FOLDERS for file in folder.glob(f"{each}/*sct2_Description_*Snapshot*")
    )
    english = [each for each in found if "-en" in each.name]
    if not found:
        return None
    for some in (found, english):
        if len(some) == 1:
            return some[0]
    refuse("path", str(folder), f"one of the files {', '.join(each.name for each in found)}")


class _Release:
    """The other files of a snapshot."""

    def __init__(self, descriptions: Path, report: ReadReport) -> None:
        """Store the parts.

        descriptions (Path): The file of descriptions.
        report (ReadReport): Filled with the files that are missing.
        """
        self._terminology = descriptions.parent
        self._report = report

    def active_concepts(self) -> frozenset[str] | None:
        """List the active concepts.

        RETURNS (Optional[FrozenSet[str]]): Their ids; None without a file of concepts.
        """
        files = self._files(self._terminology, "sct2_Concept_")
        if not files:
            return None
        rows = _rows(files, "id", "active")
        return frozenset(concept_id for concept_id, active in rows if active == _ACTIVE)

    def preferred_terms(self, dialect: str) -> frozenset[str]:
        """List the preferred terms of a dialect.

        RETURNS (FrozenSet[str]): The ids of their descriptions.
        """
        terms = defaultdict[str, set[str]](set)
        files = self._files(self._terminology.parent / "Refset" / "Language", "Language")
        columns = ("active", "refsetId", "referencedComponentId", "acceptabilityId")
        for active, refset, description, acceptability in _rows(files, *columns):
            if (active, acceptability) == (_ACTIVE, _PREFERRED):
                terms[refset].add(description)
        return frozenset(terms.get(dialect) or max(terms.values(), key=len, default=()))

    def parents(self) -> dict[str, list[str]]:
        """Collect the parents of all concepts.

        RETURNS (Dict[str, List[str]]): Ids by id.
        """
        parents = defaultdict[str, list[str]](list)
        files = self._files(self._terminology, "sct2_Relationship_")
        columns = ("active", "sourceId", "destinationId", "typeId")
        for active, child, parent, kind in _rows(files, *columns):
            if (active, kind) == (_ACTIVE, _IS_A) and parent not in parents[child]:
                parents[child].append(parent)
        return parents

    def definitions(self) -> dict[str, str]:
        """Collect the definitions of concepts, which few have.

        RETURNS (Dict[str, str]): Definitions by id.
        """
        files = self._files(self._terminology, "sct2_TextDefinition_")
        rows = _rows(files, "conceptId", "active", "term")
        return {concept_id: term for concept_id, active, term in rows if active == _ACTIVE}

    def _files(self, folder: Path, kind: str) -> list[Path]:
        files = sorted(folder.glob(f"*{kind}*Snapshot*"))
        if not files:
            self._report.leave_out(f"{kind.strip('_')}, which is missing", str(folder))
        return files


def _by_concept(descriptions: Path) -> dict[str, list[tuple[str, str, str]]]:
    """Collect the active descriptions of each concept.

    RETURNS (Dict[str, List[Tuple[str, str, str]]]): The id, type and term of each, by concept.
    """
    found = defaultdict[str, list[tuple[str, str, str]]](list)
    columns = ("id", "active", "conceptId", "typeId", "term")
    for each, active, concept_id, kind, term in _rows([descriptions], *columns):
        if active == _ACTIVE and kind in (_FULL_NAME, _SYNONYM):
            found[concept_id].append((each, kind, term))
    return found


def _names(
    rows: Iterable[tuple[str, str, str]], preferred: frozenset[str]
) -> tuple[tuple[str, ...], str]:
    """Sort the terms of a concept.

    rows (Iterable[Tuple[str, str, str]]): The id, type and term of its descriptions.
    preferred (FrozenSet[str]): The ids of preferred terms.
    RETURNS (Tuple[Tuple[str, ...], str]): Its names, the preferred one first, the full one without
        its tag last; and this tag.
    """
    first, synonyms, full, tag = list[str](), list[str](), list[str](), _UNTAGGED
    for each, kind, term in rows:
        tagged = _TAGGED.fullmatch(term) if kind == _FULL_NAME else None
        if tagged:
            term, tag = tagged.groups()
        own = full if kind == _FULL_NAME else first if each in preferred else synonyms
        own.append(term)
    return tuple(dict.fromkeys((*first, *synonyms, *full))), tag


def _rows(files: Iterable[Path], *columns: str) -> Iterator[list[str]]:
    """Read columns of files by their names in the first line. RF2 has no quotation marks.

    YIELDS (List[str]): The cells of a row in these columns.
    """
    for file in files:
        places: list[int] = []
        for number, line in read_lines(file):
            cells = line.split("\t")
            if not places:
                places = [find_column(file, each, cells) for each in columns]
            elif len(cells) <= max(places):
                reason = f"{len(cells)} columns, at least {max(places) + 1} expected"
                raise unreadable(file, number, "RF2", reason)
            else:
                yield [cells[place] for place in places]
