"""SNOMED CT in its release format 2 (RF2): descriptions joined with concepts, relationships,
preferred terms and definitions of the same snapshot.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from operator import itemgetter
from pathlib import Path

from ..concepts import Concept
from ..concepts.curies import PREFIXES, join_curie
from ..errors import refuse, unreadable
from ..files.odd_lines import OddLines
from ..files.tables import find_column
from ..files.text import read_lines
from .report import ReadReport

_US_ENGLISH = "900000000000509007"
_ACTIVE = "1"
_FULL_NAME, _SYNONYM = "900000000000003001", "900000000000013009"
_PREFERRED = "900000000000548007"
# Preferred terms are 0 or 1, synonyms 2.
_LAST = 3
_IS_A = "116680003"
# "Fracture of femur (disorder)"
_TAGGED = re.compile(r"(.*\S)\s*\(([^()]+)\)")
# The profile needs a type of every concept.
_UNTAGGED = "untagged"
# Where a folder may have the descriptions: it is the release, or in it.
_FOLDERS = (".", "Terminology", "Snapshot/Terminology", "*/Snapshot/Terminology")
# The UK's are called "UKCLFull", "UKCLSnapshot" and the like.
_OTHER_RELEASES = re.compile("(Full|Delta)[-_]")
_LANGUAGE = re.compile("Snapshot-([a-z]{2})")


def read_snomed(
    path: str | Path, *, dialect: str | None = None, report: ReadReport | None = None
) -> Iterator[Concept]:
    """Read the snapshot of a SNOMED CT edition: active concepts with their active terms. Semantic
    types are the semantic tags ("disorder"). The files of concepts, relationships, preferred terms
    and definitions are optional.

    path (Union[str, Path]): The folder of a release, or a file of descriptions in it.
    dialect (Optional[str]): The reference set of the language whose preferred terms are preferred
        names; by default US English. A concept without one there has that of another dialect.
    report (Optional[ReadReport]): Filled with what was left out.
    YIELDS (Concept): The concepts, in the order of the descriptions.
    RAISES (ConnormError): CN006 for a full release, a folder with descriptions in several languages
        but no English, and a dialect that the release lacks; CN100 for a missing file, CN114 for a
        missing column, CN115 for too many rows that are too short.
    """
    report = report or ReadReport()
    path = Path(path).absolute()
    descriptions = (find_snomed(path) if path.is_dir() else None) or path
    if _OTHER_RELEASES.search(descriptions.name):
        refuse("path", str(descriptions), "in a snapshot, which has only the newest state")
    files = _Release(descriptions, report)
    retired = files.retired_concepts()
    preferred = files.preferred_terms(dialect)
    parents = files.parents()
    definitions = files.definitions()
    for concept_id, rows in _by_concept(descriptions, report.odd).items():
        if concept_id in retired:
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
    files = sorted(
        file
        for place in _FOLDERS
        for file in folder.glob(f"{place}/*sct2_Description_*Snapshot*")
        if not file.name.startswith(".")
    )
    english = [file for file in files if _language(file) == "en"]
    if not files:
        return None
    for some in (files, english):
        if len(some) == 1:
            return some[0]
    refuse("path", str(folder), f"one of the files {', '.join(file.name for file in files)}")


def _language(file: Path) -> str:
    named = _LANGUAGE.search(file.name)
    return named[1] if named else ""


class _Release:
    """The other files of a snapshot."""

    def __init__(self, descriptions: Path, report: ReadReport) -> None:
        """Store the parts.

        descriptions (Path): The file of descriptions.
        report (ReadReport): Filled with the files that are missing.
        """
        self._terminology = descriptions.parent
        self._language = _language(descriptions)
        self._report = report

    def retired_concepts(self) -> frozenset[str]:
        """List the inactive concepts.

        RETURNS (FrozenSet[str]): Their ids. An extension has terms of others' concepts, too.
        """
        files = self._files(self._terminology, "sct2_Concept_", is_needed=True)
        rows = _rows(files, self._report.odd, "id", is_active=False)
        return frozenset(concept_id for (concept_id,) in rows)

    def preferred_terms(self, dialect: str | None) -> dict[str, int]:
        """List the preferred terms.

        RETURNS (Dict[str, int]): 0 for those of the dialect, 1 for others, by the id of their
            description.
        """
        folder = self._terminology.parent / "Refset" / "Language"
        files = self._files(folder, "Language", is_needed=True)
        columns = ("refsetId", "referencedComponentId", "acceptabilityId")
        dialects, terms = set[str](), dict[str, int]()
        for refset, description, acceptability in _rows(files, self._report.odd, *columns):
            if acceptability == _PREFERRED:
                dialects.add(refset)
                is_other = int(refset != (dialect or _US_ENGLISH))
                terms[description] = min(is_other, terms.get(description, 1))
        if dialect and dialect not in dialects:
            refuse("dialect", dialect, f"a dialect of the release: {', '.join(sorted(dialects))}")
        return terms

    def parents(self) -> dict[str, list[str]]:
        """Collect the parents of all concepts.

        RETURNS (Dict[str, List[str]]): Ids by id.
        """
        parents = defaultdict[str, list[str]](list)
        files = self._files(self._terminology, "sct2_Relationship_")
        columns = ("sourceId", "destinationId", "typeId")
        for child, parent, kind in _rows(files, self._report.odd, *columns):
            if kind == _IS_A and parent not in parents[child]:
                parents[child].append(parent)
        return parents

    def definitions(self) -> dict[str, str]:
        """Collect the definitions of concepts in the language of the descriptions; few have any.

        RETURNS (Dict[str, str]): Definitions by id.
        """
        files = self._files(self._terminology, "sct2_TextDefinition_")
        files = [file for file in files if _language(file) == self._language]
        return dict(_rows(files, self._report.odd, "conceptId", "term"))

    def _files(self, folder: Path, kind: str, *, is_needed: bool = False) -> list[Path]:
        matching = sorted(folder.glob(f"*{kind}*Snapshot*"))
        files = [file for file in matching if not file.name.startswith(".")]
        if not files:
            reason = f"the file {kind.strip('_')} of the release, which is missing,"
            self._report.leave_out(reason, str(folder), broken=is_needed)
        return files


def _by_concept(descriptions: Path, odd: OddLines) -> dict[str, list[tuple[str, bool, str]]]:
    """Collect the active descriptions of each concept.

    RETURNS (Dict[str, List[Tuple[str, bool, str]]]): The id of each, whether it is the full name,
        and its term, by concept.
    """
    descriptions_of = defaultdict[str, list[tuple[str, bool, str]]](list)
    columns = ("id", "conceptId", "typeId", "term")
    for term_id, concept_id, kind, term in _rows([descriptions], odd, *columns):
        if kind in (_FULL_NAME, _SYNONYM):
            descriptions_of[concept_id].append((term_id, kind == _FULL_NAME, term))
    return descriptions_of


def _names(
    rows: Iterable[tuple[str, bool, str]], preferred: Mapping[str, int]
) -> tuple[tuple[str, ...], str]:
    """Sort the terms of a concept.

    rows (Iterable[Tuple[str, bool, str]]): See `_by_concept`.
    preferred (Mapping[str, int]): See `_Release.preferred_terms`.
    RETURNS (Tuple[Tuple[str, ...], str]): Its names, the preferred one first, the full one without
        its tag last; and this tag.
    """
    ranked, tag = list[tuple[int, str]](), _UNTAGGED
    for term_id, is_full, term in rows:
        tagged = _TAGGED.fullmatch(term) if is_full else None
        if tagged:
            term, tag = tagged.groups()
        ranked.append((_LAST if is_full else preferred.get(term_id, _LAST - 1), term))
    names = (term for _, term in sorted(ranked, key=itemgetter(0)))
    return tuple(dict.fromkeys(names)), tag


def _rows(
    files: Iterable[Path], odd: OddLines, *columns: str, is_active: bool = True
) -> Iterator[list[str]]:
    """Read columns of files by their names in the first line. RF2 has no quotation marks.

    is_active (bool): Whether to read the rows that are active, or the others.
    YIELDS (List[str]): The cells of a row in these columns.
    """
    for file in files:
        places: list[int] = []
        for number, line in odd.watch(read_lines(file)):
            cells = line.split("\t")
            if not places:
                places = [find_column(file, column, cells) for column in (*columns, "active")]
            elif len(cells) <= max(places):
                reason = f"{len(cells)} columns, at least {max(places) + 1} expected"
                odd.skip(unreadable(file, number, "RF2", reason))
            elif (cells[places[-1]] == _ACTIVE) == is_active:
                yield [cells[place] for place in places[:-1]]
