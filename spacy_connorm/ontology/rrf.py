"""UMLS releases: MRCONSO joined with MRSTY, MRREL and MRDEF in one pass, in constant memory. RxNorm
has files with the same columns, in another order.
"""

import heapq
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple

from ..concepts import Concept
from ..concepts.curies import PREFIXES, join_curie
from ..errors import Errors, quote_id, unreadable
from ..files.odd_lines import OddLines
from ..files.text import read_lines
from .report import ReadReport

# RxNorm has its own ids.
_CUI = re.compile(r"C\d{7}")
_SORTED_ID = re.compile(r"[A-Z]{0,2}\d{1,9}")
_UMLS, _RXNORM = "MR", "RXN"
# The minimum number of columns of each file
_WIDTHS = {"CONSO": 17, "STY": 2, "REL": 15, "DEF": 7}
# Columns of MRCONSO
_LAT, _TS, _STT, _ISPREF, _AUI = 1, 2, 4, 6, 7
_SAB, _TTY, _CODE, _STR, _SUPPRESS = 11, 12, 13, 14, 16
# What RxNorm calls a concept beside its name: synonyms, tall man lettering, prescribable names.
_OTHER_NAMES = frozenset(["ET", "PSN", "SY", "TMSY"])
# Columns of MRREL: what CUI2 is to CUI1
_REL, _CUI2, _RELA, _REL_SAB, _REL_SUPPRESS = 3, 4, 7, 10, 14
# Columns of MRSTY and MRDEF
_TUI = 1
_DEF_AUI, _DEF_SAB, _DEF, _DEF_SUPPRESS = 1, 4, 5, 6
_Row = list[str]


def read_rrf(
    path: str | Path,
    *,
    languages: Collection[str] = ("ENG",),
    sources: Collection[str] = (),
    semantic_types: Collection[str] = (),
    hierarchy: bool = True,
    tradenames: bool = False,
    report: ReadReport | None = None,
) -> Iterator[Concept]:
    """Read a release of UMLS or RxNorm. Each file must be sorted by CUI, as released; MRSTY, MRREL
    and MRDEF are optional. Names are sorted in UMLS's own order (language, TS=P, STT=PF, ISPREF=Y);
    the first is the preferred name. In RxNorm, that is RxNorm's own name; of RXNREL, only trade
    names are read.

    path (Union[str, Path]): The META folder, or MRCONSO.RRF in it; RxNorm's rrf folder, or
        RXNCONSO.RRF in it.
    languages (Collection[str]): The languages of the names, best first; all if empty (''), English
        first.
    sources (Collection[str]): Keep only names, definitions and parents of these sources (SAB), such
        as MSH. All if empty.
    semantic_types (Collection[str]): Keep only concepts with one of these types (TUIs). All if
        empty.
    hierarchy (bool): Whether to read parents from MRREL (PAR or inverse_isa).
    tradenames (bool): Whether drugs get their trade names as synonyms (RELA tradename_of). The
        concepts of the trade names are kept. Reads MRREL and MRCONSO once more.
    report (Optional[ReadReport]): Filled with what was left out.
    YIELDS (Concept): The concepts, by CUI; semantic types are TUIs.
    RAISES (ConnormError): CN100 and CN104 for missing files, CN115 for too many rows that are too
        short, CN116 for a file that is not sorted by CUI.
    """
    report = report or ReadReport()
    mrconso = find_mrconso(Path(path))
    wanted = _Wanted(tuple(languages), frozenset(sources))
    files = {
        "CONSO": _sorted_rows(mrconso, "CONSO", report.odd),
        "STY": _rows_beside(mrconso, "STY", report),
    }
    if _kind(mrconso) == _UMLS:
        files["DEF"] = _rows_beside(mrconso, "DEF", report)
        if hierarchy:
            marks = ("|PAR|", "|inverse_isa|")
            files["REL"] = _rows_beside(mrconso, "REL", report, marks=marks)
    brand_names = _brand_names(mrconso, wanted, report.odd) if tradenames else {}
    for cui, rows_in in _by_cui(files):
        rows = rows_in["CONSO"]
        if not rows:
            continue
        types = tuple(row[_TUI] for row in rows_in["STY"])
        if semantic_types and not any(tui in semantic_types for tui in types):
            report.leave_out("a concept of another semantic type", cui)
            continue
        names = wanted.names(rows, report)
        if not names:
            report.leave_out("a concept with no names left", cui)
            continue
        left_out = {row[_AUI] for row in rows if wanted.refusal(row)}
        yield Concept(
            concept_id=cui,
            canonical_name=names[0],
            aliases=(*names[1:], *brand_names.get(cui, ())),
            types=types,
            definition=wanted.definition(rows_in["DEF"], left_out),
            parents=wanted.parents(cui, rows_in["REL"]),
            xrefs=wanted.xrefs(cui, rows),
        )
    report.odd.require_few()


def find_mrconso(path: Path) -> Path:
    """Find MRCONSO or RXNCONSO, the file with the names of a release of UMLS or RxNorm.

    path (Path): The file, its folder, or the folder above.
    RETURNS (Path): The file.
    RAISES (ConnormError): CN104 for a folder without it.
    """
    if not path.is_dir():
        return path
    places = ((path, _UMLS), (path / "META", _UMLS), (path, _RXNORM), (path / "rrf", _RXNORM))
    files = filter(None, (_find_rrf(folder, f"{kind}CONSO") for folder, kind in places))
    if file := next(files, None):
        return file
    what = (
        "MRCONSO.RRF (UMLS), RXNCONSO.RRF (RxNorm) or sct2_Description_Snapshot file (SNOMED CT); "
        "name the folder that has it"
    )
    raise Errors.CN104(path=path, what=what)


def _kind(mrconso: Path) -> str:
    return _RXNORM if mrconso.name.upper().startswith(_RXNORM) else _UMLS


class _Wanted(NamedTuple):
    """The rows to read, according to the user's settings; see `read_rrf`."""

    languages: tuple[str, ...]
    sources: frozenset[str]

    def refusal(self, row: _Row) -> str:
        """Explain why a row of MRCONSO is left out.

        RETURNS (str): The reason; empty if it is not left out.
        """
        if self.languages and row[_LAT] not in self.languages:
            return "a name in another language"
        if self.sources and row[_SAB] not in self.sources:
            return "a name from another source"
        if row[_SUPPRESS] != "N":
            return "a suppressed name"
        return ""

    def names(self, rows: list[_Row], report: ReadReport) -> list[str]:
        """List the names of a concept in rows of MRCONSO.

        RETURNS (List[str]): The names, preferred name first.
        """
        wanted = []
        for row in rows:
            if reason := self.refusal(row):
                report.leave_out(reason, f"'{row[_STR]}' of {row[0]}")
            else:
                wanted.append(row)
        return [row[_STR] for row in sorted(wanted, key=self._rank)]

    def _rank(self, row: _Row) -> tuple[int, bool, bool, bool]:
        languages = self.languages or ("ENG",)
        place = languages.index(row[_LAT]) if row[_LAT] in languages else len(languages)
        if not row[_TS]:
            is_own = row[_SAB] == "RXNORM"
            return place, not is_own, row[_TTY] in _OTHER_NAMES, False
        return place, row[_TS] != "P", row[_STT] != "PF", row[_ISPREF] != "Y"

    def xrefs(self, cui: str, rows: list[_Row]) -> tuple[str, ...]:
        """List the codes of a concept in other vocabularies.

        RETURNS (Tuple[str, ...]): The CUI, if it is from UMLS, and the codes of its names in all
            sources, including those whose names are not read.
        """
        wanted = self._replace(sources=frozenset())
        codes = (join_curie(row[_SAB], row[_CODE]) for row in rows if not wanted.refusal(row))
        curies = [join_curie("UMLS", cui)] if _CUI.fullmatch(cui) else []
        return PREFIXES.curies((*curies, *codes))

    def definition(self, rows: list[_Row], left_out: set[str]) -> str:
        """Choose the definition of a concept: the first one of an atom that is not left out, since
        definitions are in the language of their atom.

        RETURNS (str): The definition; empty if there is none.
        """
        for row in rows:
            if row[_DEF_AUI] not in left_out and self._is_wanted(row, _DEF_SAB, _DEF_SUPPRESS):
                return row[_DEF]
        return ""

    def parents(self, cui: str, rows: list[_Row]) -> tuple[str, ...]:
        """List the broader concepts, without the concept itself, whose atoms can be parents of each
        other.

        RETURNS (Tuple[str, ...]): Their ids, each once.
        """
        related = (row for row in rows if row[_REL] == "PAR" or row[_RELA] == "inverse_isa")
        concepts = (row[_CUI2] for row in related if self.is_wanted_relation(row))
        return tuple(dict.fromkeys(parent for parent in concepts if parent != cui))

    def is_wanted_relation(self, row: _Row) -> bool:
        return self._is_wanted(row, _REL_SAB, _REL_SUPPRESS)

    def _is_wanted(self, row: _Row, source: int, suppress: int) -> bool:
        if self.sources and row[source] not in self.sources:
            return False
        return row[suppress] in ("N", "")  # RXNREL may leave it empty


def _find_rrf(folder: Path, name: str) -> Path | None:
    """Find the file `name.RRF` or `name.RRF.gz` in a folder.

    RETURNS (Optional[Path]): The file, if any.
    """
    files = (folder / f"{name}.RRF", folder / f"{name}.RRF.gz")
    return next((file for file in files if file.is_file()), None)


def _by_cui(files: Mapping[str, Iterable[_Row]]) -> Iterator[tuple[str, dict[str, list[_Row]]]]:
    """Join files that are sorted by CUI.

    files (Mapping[str, Iterable[List[str]]]): The rows of each file.
    YIELDS (Tuple[str, Dict[str, List[List[str]]]]): A CUI and its rows in each file; none of files
        that were not given.
    """
    groups = heapq.merge(*(_groups(name, rows) for name, rows in files.items()))
    for (_, cui), in_files in groupby(groups, key=itemgetter(0)):
        yield cui, defaultdict(list, {name: rows for _, name, rows in in_files})


def _groups(name: str, rows: Iterable[_Row]) -> Iterator[tuple[tuple[int, str], str, list[_Row]]]:
    for cui, group in groupby(rows, key=itemgetter(0)):
        yield _place(cui), name, list(group)


def _sorted_rows(
    path: Path, name: str, odd: OddLines, marks: Collection[str] = ()
) -> Iterator[_Row]:
    """Read a file that is sorted by its first column, CUI. Rows in the wrong place are odd.

    path (Path): The file.
    name (str): One of `_WIDTHS`.
    odd (OddLines): Counts odd rows.
    marks (Collection[str]): Read only lines that contain one of these strings; all if empty.
    YIELDS (List[str]): Its rows.
    RAISES (ConnormError): CN115 for too many rows that are too short, CN116 if the file is not
        sorted, and the errors of `read_lines`.
    """
    before = ""
    for number, row in _read_rows(path, name, odd, marks):
        if row[0] != before and _place(row[0]) < _place(before):
            facts = {"found": quote_id(row[0]), "before": quote_id(before)}
            odd.skip(Errors.CN116(path=path, line=number, **facts))
            continue
        before = row[0]
        yield row


def _read_rows(
    path: Path, name: str, odd: OddLines, marks: Collection[str]
) -> Iterator[tuple[int, _Row]]:
    width = _WIDTHS[name]
    for number, line in odd.count(read_lines(path)):
        if marks and not any(mark in line for mark in marks):
            continue
        row = line.split("|")
        if len(row) < width:
            odd.skip(unreadable(path, number, "RRF", f"{len(row)} columns, {width} expected"))
        elif not _SORTED_ID.fullmatch(row[0]):
            odd.skip(unreadable(path, number, "RRF", "it does not begin with a CUI"))
        else:
            yield number, row


def _place(cui: str) -> tuple[int, str]:
    # RxNorm's ids are numbers; all of UMLS have the same length.
    return len(cui), cui


def _rows_beside(
    mrconso: Path, name: str, report: ReadReport, *, marks: Collection[str] = ()
) -> Iterable[_Row]:
    """Read another file of a release, sorted by CUI.

    marks (Collection[str]): Read only lines that contain one of these strings; all if empty.
    RETURNS (Iterable[List[str]]): Its rows; none if it is missing.
    """
    kind = _kind(mrconso)
    file = _find_rrf(mrconso.parent, f"{kind}{name}")
    if file is None:
        report.leave_out(f"{kind}{name}.RRF, which is missing", str(mrconso.parent))
        return ()
    if kind == _RXNORM:
        # No documentation says that it is sorted.
        rows = (row for _, row in _read_rows(file, name, report.odd, marks))
        return sorted(rows, key=lambda row: _place(row[0]))
    return _sorted_rows(file, name, report.odd, marks)


def _brand_names(mrconso: Path, wanted: _Wanted, odd: OddLines) -> dict[str, list[str]]:
    """Collect the trade names of each drug. In MRCONSO, they come before or after the drug, so they
    are collected first: some ten thousand in a release of any size.
    """
    name = f"{_kind(mrconso)}REL"
    mrrel = _find_rrf(mrconso.parent, name) or mrconso.with_name(f"{name}.RRF")
    drugs: defaultdict[str, list[str]] = defaultdict(list)
    for _, row in _read_rows(mrrel, "REL", odd, ("|tradename_of|",)):
        if row[_RELA] == "tradename_of" and wanted.is_wanted_relation(row):
            drugs[row[_CUI2]].append(row[0])
    names: defaultdict[str, list[str]] = defaultdict(list)
    # Its odd rows are counted when the names of all concepts are read.
    rows = _sorted_rows(mrconso, "CONSO", OddLines(max_share=1))
    for brand, rows_in in _by_cui({"CONSO": rows}):
        for drug in drugs.get(brand, ()):
            names[drug] += wanted.names(rows_in["CONSO"], ReadReport())
    return names
