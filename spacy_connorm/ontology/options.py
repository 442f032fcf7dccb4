"""The settings of the readers of all formats."""

from collections.abc import Collection
from pathlib import Path
from typing import TypedDict

from ..concepts import SCOPES
from ..errors import ConnormError, Errors

EXACT = "EXACT"
ALL_SCOPES = (EXACT, *map(str.upper, SCOPES))


class OntologyOptions(TypedDict, total=False):
    """Settings of the formats' readers; a reader refuses those of another format (CN113).

    curies (bool): all formats: whether ids are written with the prefix of their vocabulary, as far
        as that is known; see `prefixed.with_curies`.
    id (Union[str, int]): tsv: the column of the id. Columns are given by the name in the header or
        by number, from 1. "id" by default.
    name (Union[str, int]): tsv: the column of the preferred name, "name" by default.
    synonyms (Union[str, int]): tsv: the column of the synonyms.
    types (Union[str, int]): tsv: the column of the semantic types. obo: the tag that gives them,
        "namespace" (the default) or "subset".
    definition (Union[str, int]): tsv: the column of the definition.
    parents (Union[str, int]): tsv: the column of the parents.
    alt_ids (Union[str, int]): tsv: the column of the alternate ids.
    xrefs (Union[str, int]): tsv: the column of the ids in other vocabularies, as CURIEs.
    prefix (str): tsv: the prefix of the vocabulary that the ids belong to.
    header (bool): tsv: whether the first row names the columns; true by default.
    separator (str): tsv: separates the items of a field, "|" by default.
    delimiter (str): tsv: separates fields; by default a tab, or in a `.csv` file a comma, or the
        semicolon or tab of a first line that has no comma.
    parents_by_name (bool): tsv: whether parents are given by preferred name.
    scopes (Collection[str]): obo, jsonl: the synonyms to read: EXACT, NARROW, BROAD, RELATED; all
        by default.
    obsolete (bool): obo: whether to read obsolete terms.
    languages (Collection[str]): rrf: the languages of the names, best first; ENG by default, all
        if empty.
    sources (Collection[str]): rrf: read only these sources, e.g. MSH.
    semantic_types (Collection[str]): rrf: read only concepts with one of these TUIs.
    suppressed (bool): rrf: whether to read suppressed rows.
    hierarchy (bool): rrf: whether to read parents; true by default.
    tradenames (bool): rrf: whether drugs get their trade names as synonyms.
    tree (Union[str, Path]): mesh: the file of tree numbers.
    supplementary (Union[str, Path]): mesh: the file of supplementary concepts.
    tabular (Union[str, Path]): icd10cm: the tabular list.
    implied_names (bool): icd10cm: whether other names than titles and inclusion terms become
        synonyms; true by default.
    """

    curies: bool
    id: str | int
    name: str | int
    synonyms: str | int
    types: str | int
    definition: str | int
    parents: str | int
    alt_ids: str | int
    xrefs: str | int
    prefix: str
    header: bool
    separator: str
    delimiter: str
    parents_by_name: bool
    scopes: Collection[str]
    obsolete: bool
    languages: Collection[str]
    sources: Collection[str]
    semantic_types: Collection[str]
    suppressed: bool
    hierarchy: bool
    tradenames: bool
    tree: str | Path
    supplementary: str | Path
    tabular: str | Path
    implied_names: bool


def require_known(setting: str, values: Collection[str], known: Collection[str]) -> None:
    """Refuse unknown values of a reader's setting.

    setting (str): Its name.
    values (Collection[str]): Its values.
    known (Collection[str]): Those that are known.
    RAISES (ConnormError): CN118.
    """
    if unknown := [value for value in values if value not in known]:
        raise ConnormError(
            Errors.CN118.format(setting=setting, value=repr(unknown[0]), known=", ".join(known))
        )
