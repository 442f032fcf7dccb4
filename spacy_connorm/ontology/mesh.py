"""MeSH from tables: descriptors, tree numbers, supplementary concepts."""

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain
from pathlib import Path

from ..concepts import Concept, merge
from ..concepts.curies import PREFIXES, join_curie
from ..files.text import read_lines
from .report import ReadReport

_MESH_ID = re.compile(r"[CD]\d{6,}")
_TREE_NUMBER = re.compile(r"[A-Z]\d\d(\.\d+)*")


def read_mesh(
    path: str | Path,
    *,
    tree: str | Path | None = None,
    supplementary: str | Path | None = None,
    report: ReadReport | None = None,
) -> Iterator[Concept]:
    """Read MeSH from tab-separated tables, with or without header lines.

    path (Union[str, Path]): Descriptors: id, name, and synonyms joined by `|`.
    tree (Optional[Union[str, Path]]): Rows with a descriptor id and a tree number, with the columns
        in any order. A tree number without its last part is the parent's; its branch and its top
        become semantic types, e.g. `C` and `C04` for `C04.588.180`.
    supplementary (Optional[Union[str, Path]]): Supplementary concepts, in the same columns as the
        descriptors.
    report (Optional[ReadReport]): Filled with what was left out and merged.
    YIELDS (Concept): The concepts, descriptors first, in the order of the files.
    RAISES (ConnormError): What `read_lines` raises.
    """
    report = report or ReadReport()
    numbers, owners = _read_tree(tree) if tree else ({}, {})
    concepts: dict[str, Concept] = {}
    tables = [_read_table(table, report) for table in (path, supplementary) if table]
    for concept in chain.from_iterable(tables):
        known = concepts.get(concept.concept_id)
        concepts[concept.concept_id] = merge(known, concept) if known else concept
        report.merged += known is not None
    for concept in concepts.values():
        yield _placed(concept, numbers.get(concept.concept_id, []), owners)


def _read_table(path: str | Path, report: ReadReport) -> Iterator[Concept]:
    for number, line in read_lines(path):
        concept_id, canonical_name, synonyms, *_ = (*line.split("\t"), "", "")
        if _MESH_ID.fullmatch(concept_id):
            yield Concept(concept_id, canonical_name, tuple(filter(None, synonyms.split("|"))))
        elif number > 1:
            report.leave_out("a row without a MeSH id", f"line {number}", broken=True)


def _read_tree(path: str | Path) -> tuple[dict[str, list[str]], dict[str, str]]:
    """RETURNS (Tuple[Dict[str, List[str]], Dict[str, str]]): The tree numbers of each descriptor,
    and the descriptor of each tree number.
    """
    numbers: defaultdict[str, list[str]] = defaultdict(list)
    owners: dict[str, str] = {}
    for _, line in read_lines(path):
        fields = line.split("\t")
        concept_id = next(filter(_MESH_ID.fullmatch, fields), None)
        number = next(filter(_TREE_NUMBER.fullmatch, fields), None)
        if concept_id and number:
            numbers[concept_id].append(number)
            owners[number] = concept_id
    return numbers, owners


def _placed(concept: Concept, numbers: list[str], owners: dict[str, str]) -> Concept:
    above = (owners.get(number.rpartition(".")[0]) for number in numbers)
    types = chain.from_iterable((number[0], number.partition(".")[0]) for number in numbers)
    return replace(
        concept,
        parents=tuple(dict.fromkeys(parent for parent in above if parent)),
        types=tuple(dict.fromkeys(types)),
        # Some ontologies refer to tree numbers.
        xrefs=PREFIXES.curies(join_curie("MESH", each) for each in (concept.concept_id, *numbers)),
    )
