"""Tables with usual columns, or with those named by the user."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from pathlib import Path
from shlex import quote as in_shell
from typing import Any

from ..concepts import Concept
from ..concepts.concept import is_no_id
from ..concepts.curies import PREFIXES, join_curie, require_prefix
from ..errors import ConnormError, Errors, Warnings, refuse, unreadable
from ..files.package_data import read_toml
from ..files.tables import TableRow, find_column, read_rows, require_width
from .report import ReadReport, read_xrefs

_TEXTS = ("concept_id", "canonical_name", "definition")
# Its keys are the fields of a concept.
_COLUMNS = read_toml(__package__, "columns.toml")
_REQUIRED = ("concept_id", "canonical_name")
_OTHER_SEPARATORS = (";", ", ")
# MedCAT's tables have rows of names, some of them preferred.
_STATUS, _PREFERRED = "name_status", "P"


def read_tsv(
    path: str | Path,
    *,
    id: str | int | None = None,
    name: str | int | None = None,
    synonyms: str | int | None = None,
    types: str | int | None = None,
    definition: str | int | None = None,
    parents: str | int | None = None,
    alt_ids: str | int | None = None,
    xrefs: str | int | None = None,
    prefix: str | None = None,
    header: bool = True,
    separator: str = "|",
    delimiter: str | None = None,
    report: ReadReport | None = None,
) -> Iterator[Concept]:
    """Read a table of concepts. Rows with the same id are one concept: the first row gives the
    preferred name, the names in the others are synonyms. If there is a column "name_status", as in
    MedCAT's tables, rows with "P" come first, and the column of the name may have synonyms, too.

    path (Union[str, Path]): The file.
    id (Optional[Union[str, int]]): The column of the id, by its name in the header or by its
        number, from 1; by default one with a usual name, such as "id", "Concept ID" or "code". The
        other columns are given in the same way.
    name (Optional[Union[str, int]]): The column of the preferred name.
    synonyms (Optional[Union[str, int]]): The column of the synonyms, or several, separated by
        commas. If it is also that of the preferred name, the first of them is that name.
    types (Optional[Union[str, int]]): The column of the semantic types.
    definition (Optional[Union[str, int]]): The column of the definition.
    parents (Optional[Union[str, int]]): The column of the parents.
    alt_ids (Optional[Union[str, int]]): The column of the alternate ids.
    xrefs (Optional[Union[str, int]]): The column of the ids in other vocabularies, such as
        MESH:D003920. Ids without a prefix are left out.
    prefix (Optional[str]): The vocabulary of the ids, if they have no prefix, such as SNOMEDCT.
    header (bool): Whether the first row names the columns. If not, they have only numbers.
    separator (str): The separator of items in a field: synonyms, types, parents, ids.
    delimiter (Optional[str]): The separator of fields; by default a tab, or in a .csv file a comma,
        semicolon or tab. See `read_rows`.
    report (Optional[ReadReport]): Filled with what was left out and merged.
    YIELDS (Concept): The concepts, in the order of their first rows. A warning (CNW107) reports
        other columns if none has synonyms, others synonyms that seem to have another separator
        (CNW108), a semicolon or a comma, and names that have it (CNW109).
    RAISES (ConnormError): CN006 for an empty separator or what can't be the prefix of a vocabulary,
        CN114 for a missing column, CN127 if there is none for ids or names, CN125 for two of its
        name, CN115 for too many rows without an id or a name, or with more fields than columns, and
        what `read_rows` raises. Without a header, the table has the columns of its first row, and
        those that are named.
    """
    _check_settings(separator, prefix)
    report = report or ReadReport()
    named = {
        "concept_id": id,
        "canonical_name": name,
        "aliases": synonyms,
        "types": types,
        "definition": definition,
        "parents": parents,
        "alt_ids": alt_ids,
        "xrefs": xrefs,
    }
    rows = read_rows(path, delimiter=delimiter, odd=report.odd)
    first = list(islice(rows, 1))
    columns = next((row for _, row in first), [])
    places = _find_columns(path, named, columns if header else None)
    status = columns.index(_STATUS) if header and _STATUS in columns else None
    if status is not None:
        places.setdefault("aliases", places["canonical_name"])
    elif header and "aliases" not in places:
        _warn_about_unread(path, columns, chain(*places.values()))
    width = max(len(columns), 1 + max(chain(*places.values())))
    rows = require_width(
        rows if header else chain(first, rows), path, width, delimiter=delimiter, odd=report.odd
    )
    rows = _watch_separators(rows, path, places, separator)
    if status is not None:
        rows = iter(sorted(rows, key=lambda row: row[1][status : status + 1] != [_PREFERRED]))
    listed = _concepts(rows, path, places, separator, prefix, report)
    yield from report.merge_rows(listed).values()


def _find_columns(
    path: str | Path, named: dict[str, str | int | None], header: Sequence[str] | None
) -> dict[str, tuple[int, ...]]:
    """Find the columns that are named, and usual ones for the rest.

    RETURNS (Dict[str, Tuple[int, ...]]): The positions of each field in a row, from 0. Only
        synonyms may have several.
    RAISES (ConnormError): CN127 if there is none for ids or names.
    """
    folded = {"_".join(column.lower().split()): column for column in reversed(header or ())}
    places = dict[str, tuple[int, ...]]()
    known = {
        field: next((folded[name] for name in columns["usual"] if name in folded), None)
        if named[field] is None
        else named[field]
        for field, columns in _COLUMNS.items()
    }
    absent = [_COLUMNS[field]["usual"][0] for field in _REQUIRED if known[field] is None]
    if absent and header is None:
        find_column(path, absent[0], header)  # refuses it: there are only numbers
    elif absent:
        raise _unusual(path, absent, known, header or ())
    for field, column in known.items():
        if column is not None:
            several = field == "aliases" and column not in (header or ())
            columns = str(column).split(",") if several else [column]
            places[field] = tuple(find_column(path, name, header) for name in columns)
    return places


def _unusual(
    path: str | Path,
    absent: Sequence[str],
    known: Mapping[str, str | int | None],
    header: Sequence[str],
) -> ConnormError:
    """Ask for the columns of ids and names, with the command that names the likely ones."""
    id, name = (in_shell(str(known[field] or _likely(header, field))) for field in _REQUIRED)
    facts = {"missing": " or ".join(absent), "known": ", ".join(header), "id": id, "name": name}
    return Errors.CN127(path=path, **facts)


def _likely(header: Sequence[str], field: str) -> str:
    """RETURNS (str): The first column whose last word tells the field."""
    for column in header:
        if re.split(r"[\W_]+", column.lower().strip())[-1] in _COLUMNS[field]["likely"]:
            return column
    return "COLUMN"


def _warn_about_unread(path: str | Path, columns: Sequence[str], read: Iterable[int]) -> None:
    places = frozenset(read)
    unread = [column for place, column in enumerate(columns) if column and place not in places]
    if unread:
        Warnings.CNW107.warn(path=path, columns=", ".join(unread))


def _watch_separators(
    rows: Iterable[TableRow], path: str | Path, places: dict[str, tuple[int, ...]], separator: str
) -> Iterator[TableRow]:
    """Warn at the end if no synonyms have the separator, but some have another, and if names have
    that of synonyms. Names with a comma may be in a column of their own beside one with the
    separator.
    """
    names, aliases = places["canonical_name"], places.get("aliases", ())
    is_shared = aliases == names
    # Preferred names have commas.
    others = dict.fromkeys(_OTHER_SEPARATORS[: 1 if is_shared else 2], 0)
    of_aliases = of_names = 0
    for number, row in rows:
        for cell in (row[place] for place in aliases if place < len(row)):
            of_aliases += separator in cell
            for other in others:
                others[other] += other in cell
        of_names += not is_shared and separator in "".join(row[names[0] : names[0] + 1])
        yield number, row
    other = max(others, key=others.__getitem__)
    if others[other] and not of_aliases:
        Warnings.CNW108.warn(path=path, separator=separator, count=others[other], other=other)
    if of_names:
        Warnings.CNW109.warn(path=path, separator=separator, count=of_names, number=names[0] + 1)


def _check_settings(separator: str, prefix: str | None) -> None:
    if not separator:
        refuse("separator", separator, "at least one character")
    if prefix:
        require_prefix(prefix)
        if not PREFIXES.curie(join_curie(prefix, "1")):
            refuse("prefix", prefix, "the prefix of a vocabulary, such as 'SNOMEDCT'")


def _concepts(
    rows: Iterable[TableRow],
    path: str | Path,
    places: dict[str, tuple[int, ...]],
    separator: str,
    prefix: str | None,
    report: ReadReport,
) -> Iterator[Concept]:
    for number, row in rows:
        cells = {
            field: separator.join(row[place].strip() for place in columns if place < len(row))
            for field, columns in places.items()
        }
        if places.get("aliases") == places["canonical_name"]:
            names = cells.get("aliases", "").strip(separator)
            cells["canonical_name"], _, cells["aliases"] = names.partition(separator)
        concept_id, name, definition = (cells.pop(field, "").strip() for field in _TEXTS)
        if is_no_id(concept_id) or not name:
            reason = "the row has no id or no name, or its id stands for no concept, such as NIL"
            report.odd.skip(unreadable(path, number, "a concept", reason))
            continue
        items: dict[str, Any] = {
            field: tuple(filter(None, map(str.strip, cell.split(separator))))
            for field, cell in cells.items()
        }
        curies = [join_curie(prefix, concept_id)] if prefix else []
        xrefs = read_xrefs((*curies, *items.pop("xrefs", ())), report)
        yield Concept(concept_id, name, definition=definition, xrefs=xrefs, **items)
