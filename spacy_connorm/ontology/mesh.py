"""MeSH: descriptors, tree numbers and supplementary concepts, from NLM's XML or from tables."""

import re
from collections import defaultdict
from collections.abc import Collection, Iterator
from dataclasses import replace
from itertools import chain
from pathlib import Path

from ..concepts import Concept
from ..concepts.curies import MESH_TREE_NUMBER, PREFIXES, join_curie
from ..errors import Errors, unreadable
from ..files.text import find_ending, read_lines
from ..files.xml import read_elements
from .report import ReadReport

_MESH_ID = re.compile(r"[CD]\d{6,}")

# The categories of supplementary concepts: chemicals, protocols, diseases, organisms.
_CATEGORIES = {"1": "D", "2": "E", "3": "C", "4": "B"}
# A few descriptors have no tree number; the profile needs a type of each concept.
_UNPLACED = "unplaced"
# The elements of NLM's XML.
_RECORDS = {"DescriptorRecord": "Descriptor", "SupplementalRecord": "SupplementalRecord"}
_NUMBERS = "TreeNumberList/TreeNumber"
_TERMS = "ConceptList/Concept/TermList/Term/String"
_NOTES = ("ConceptList/Concept[@PreferredConceptYN='Y']/ScopeNote", "Note")


def read_mesh(
    path: str | Path,
    *,
    tree: str | Path | None = None,
    supplementary: str | Path | None = None,
    semantic_types: Collection[str] = (),
    report: ReadReport | None = None,
) -> Iterator[Concept]:
    """Read MeSH from NLM's XML, or from tab-separated tables, with or without header lines.

    path (Union[str, Path]): Descriptors: NLM's `desc2026.xml`, which also has the tree numbers; or
        a table: id, name, and synonyms joined by `|`.
    tree (Optional[Union[str, Path]]): The file of tree numbers: rows with a descriptor id and a
        tree number, in any order. A tree number without its last part is the parent's; its category
        and its top level become semantic types, e.g. `C` and `C04` for `C04.588.180`.
    supplementary (Optional[Union[str, Path]]): The file of supplementary concepts: NLM's
        `supp2026.xml`, or a table with the columns of the descriptors.
    semantic_types (Collection[str]): Keep only concepts with one of these types, such as C and F03
        for diseases. All if empty.
    report (Optional[ReadReport]): Filled with what was left out and merged.
    YIELDS (Concept): The concepts, descriptors first, in the order of the files.
    RAISES (ConnormError): CN104 for a tree or supplementary concepts without a single row of this
        form, and the errors of `read_lines` and `read_elements`.
    """
    report = report or ReadReport()
    numbers = _read_tree(tree, report) if tree else {}
    listed = list(_read_concepts(path, numbers, report))
    if supplementary:
        others = list(_read_concepts(supplementary, numbers, report))
        if not others:
            raise Errors.CN104(path=supplementary, what="rows with a MeSH id and a name")
        listed += others
    concepts = report.merge_rows(listed)
    owners = {number: owner for owner, placed in numbers.items() for number in placed}
    placed = {
        concept_id: _placed(concept, numbers.get(concept_id, []), owners)
        for concept_id, concept in concepts.items()
    }
    if semantic_types:
        placed = _of_types(placed, semantic_types, report)
    yield from placed.values()


def _of_types(
    concepts: dict[str, Concept], types: Collection[str], report: ReadReport
) -> dict[str, Concept]:
    """Keep concepts of some semantic types, and their parents among these."""
    chosen = {}
    for concept_id, concept in concepts.items():
        if set(types).intersection(concept.types):
            chosen[concept_id] = concept
        else:
            report.leave_out("a concept of another semantic type", concept_id)
    return {
        concept_id: replace(concept, parents=tuple(filter(chosen.__contains__, concept.parents)))
        for concept_id, concept in chosen.items()
    }


def _read_concepts(
    path: str | Path, numbers: dict[str, list[str]], report: ReadReport
) -> Iterator[Concept]:
    """Read descriptors or supplementary concepts.

    path (Union[str, Path]): NLM's XML, or a table.
    numbers (Dict[str, List[str]]): Gets the tree numbers of each descriptor in XML.
    report (ReadReport): Counts odd rows of a table.
    YIELDS (Concept): The concepts.
    """
    is_xml = find_ending(path) == ".xml"
    return _read_records(path, numbers) if is_xml else _read_table(path, report)


def _read_records(path: str | Path, numbers: dict[str, list[str]]) -> Iterator[Concept]:
    root = None
    for event, element, _ in read_elements(path):
        if root is None:
            root = element
        if event == "start" or element.tag not in _RECORDS:
            continue
        kind = _RECORDS[element.tag]
        concept_id = element.findtext(f"{kind}UI", "")
        if placed := [node.text or "" for node in element.iterfind(_NUMBERS)]:
            numbers[concept_id] = placed
        yield Concept(
            concept_id,
            element.findtext(f"{kind}Name/String", ""),
            tuple(node.text or "" for node in element.iterfind(_TERMS)),
            types=(_CATEGORIES.get(element.get("SCRClass", ""), _UNPLACED),),
            definition=next(filter(None, map(element.findtext, _NOTES)), "").strip(),
        )
        root.clear()


def _read_table(path: str | Path, report: ReadReport) -> Iterator[Concept]:
    """Read the concepts of a table. Rows without an id are odd, except a header.

    YIELDS (Concept): The concepts.
    """
    for number, line in report.odd.watch(_read_filled(path)):
        concept_id, canonical_name, synonyms, *_ = (*line.split("\t"), "", "")
        if _MESH_ID.fullmatch(concept_id):
            aliases = tuple(filter(None, synonyms.split("|")))
            yield Concept(concept_id, canonical_name, aliases)
        elif number > 1:
            report.odd.skip(unreadable(path, number, "MeSH", "it has no MeSH id"))


def _read_filled(path: str | Path) -> Iterator[tuple[int, str]]:
    return ((number, line) for number, line in read_lines(path) if line.strip())


def _read_tree(path: str | Path, report: ReadReport) -> dict[str, list[str]]:
    """Read the tree numbers of each descriptor."""
    numbers: dict[str, list[str]] = defaultdict(list)
    for line_number, line in report.odd.watch(_read_filled(path)):
        fields = line.split("\t")
        concept_id = next(filter(_MESH_ID.fullmatch, fields), None)
        number = next(filter(MESH_TREE_NUMBER.fullmatch, fields), None)
        if concept_id and number:
            numbers[concept_id].append(number)
        elif line_number > 1:
            reason = "it has no MeSH id and tree number"
            report.odd.skip(unreadable(path, line_number, "MeSH", reason))
    if not numbers:
        raise Errors.CN104(path=path, what="rows with a MeSH id and a tree number")
    return numbers


def _placed(concept: Concept, numbers: list[str], owners: dict[str, str]) -> Concept:
    above = (owners.get(number.rpartition(".")[0]) for number in numbers)
    types = chain.from_iterable((number[0], number.partition(".")[0]) for number in numbers)
    return replace(
        concept,
        parents=tuple(dict.fromkeys(parent for parent in above if parent)),
        types=tuple(dict.fromkeys(types)) or concept.types,
        # Some ontologies refer to tree numbers.
        xrefs=PREFIXES.curies(join_curie("MESH", key) for key in (concept.concept_id, *numbers)),
    )
