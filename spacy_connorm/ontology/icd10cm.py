"""ICD-10-CM: the order file of CMS, the tabular list of CDC, and tables."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import replace
from functools import partial
from operator import attrgetter
from pathlib import Path
from xml.etree.ElementTree import Element

from ..concepts import Concept, merge
from ..concepts.curies import join_curie
from ..errors import Errors, unreadable
from ..files.package_data import read_toml
from ..files.text import find_ending, read_lines
from ..files.xml import read_elements
from .formats import refuse_foreign
from .report import ReadReport
from .tsv import read_tsv

_ORDER_LINE = re.compile(r"\d{5} ([A-Z]\w{2,6}) +([01]) (.{60}) (.+)")
_CATEGORY_LENGTH = 3
# Others are blocks, "E08-E13", or chapters.
_CODE = re.compile(r"[A-Z]\w{2,6}")
# "Hypertension (arterial) (benign)", "fracture(s)", "autonomic (poly)neuropathy", "Human
# immunodeficiency virus [HIV] disease"
_BRACKETS = re.compile(r"(?: (?!\([^()]*\)\w))?(?:\([^()]*\)|\[[^\[\]]*\])")
# How ICD words its titles.
_TABLE = read_toml(__package__, "icd10cm.toml")
_PATTERNS = {name: re.compile(pattern) for name, pattern in _TABLE["patterns"].items()}
_IN_NOTES = [(re.compile(note["written"]), note["means"]) for note in _TABLE["notes"]]
# The definition of codes that are too broad to be billed.
NOT_BILLABLE: str = _TABLE["not_billable"]
_UNSPECIFIED, _NOS, _FRACTURE = _TABLE["unspecified"], _TABLE["nos"], _TABLE["fracture"]
# A note with more words than this is not a name.
_LONGEST_NAME = 12


def read_icd10cm(
    path: str | Path,
    *,
    tabular: str | Path | None = None,
    implied_names: bool = True,
    billable: bool = False,
    report: ReadReport | None = None,
) -> Iterator[Concept]:
    """Read ICD-10-CM, with dots in the codes. The order file has every code, with a long and a
    short name. The tabular list adds inclusion terms as synonyms and the chapter as semantic type;
    it can also be read alone, but lacks the codes that differ only in the seventh character. The
    parent of a code is its longest prefix that is a code. Tables may have codes without dots.

    path (Union[str, Path]): The order file, the tabular list, or a table with usual columns (TSV,
        CSV).
    tabular (Optional[Union[str, Path]]): The tabular list (XML), if IN is the order file.
    implied_names (bool): Whether to add names that are implied by the titles and the inclusion
        notes. A name of a broader code is not added. By ICD-10-CM's conventions, words in brackets
        are optional, "hypertension (arterial)" is "hypertension", and those in square brackets
        synonyms: "Varicella [chickenpox]". A condition, unspecified or without another, is "NOS":
        "Pneumonia, unspecified organism" is "Pneumonia NOS", unless several categories would have
        the name: "Open wound, unspecified hip" is not "Open wound NOS", another code lists it, or
        it lacks a word of the broader title: "Fistula, unspecified joint" is a "Fistula of joint".
        "And" between the two words of a title means "or": "Dizziness and giddiness" is "Dizziness",
        unless that names another code. Diabetes mellitus is "diabetes", which is of type 2, a
        malignant neoplasm "cancer", "carcinoma" and "adenocarcinoma".
    billable (bool): Whether to read only codes that are valid for billing. A code that says no more
        than one above it has its names, too: E11.9, without complications, those of E11. Otherwise,
        codes that the order file says are not valid, those with codes below them, and those that
        need a seventh character, are marked in their definition.
    report (Optional[ReadReport]): Filled with what was left out.
    YIELDS (Concept): The concepts, in the file's order.
    RAISES (ConnormError): CN115 for a tabular list that is not XML, CN104 for a second one without
        codes, CN123 if it is in an unsupported format, and the errors of `read_lines`,
        `read_elements` and `read_tsv`.
    """
    report = report or ReadReport()
    read_tabular = partial(_read_tabular, with_includes=implied_names)
    read_table = partial(_read_table, report=report)
    readers = {".xml": read_tabular, ".csv": read_table, ".tsv": read_table}
    listed = readers.get(find_ending(path), partial(_read_order, report=report))(path)
    described = {c.concept_id: c for c in read_tabular(tabular)} if tabular else {}
    if tabular and not described:
        refuse_foreign(tabular)
        raise Errors.CN104(path=tabular, what="codes")
    # A code comes after those that it begins with, which tables need not observe.
    every = sorted(listed, key=attrgetter("concept_id"))
    named = _plain_names(every) if implied_names else set()
    concepts: dict[str, Concept] = {}
    implied: dict[str, list[str]] = {}
    left_out = set[str]()
    for concept in every:
        code = concept.concept_id
        if code in described:
            concept = merge(concept, described[code])
        xrefs = dict.fromkeys((join_curie("ICD10CM", code), *concept.xrefs))
        concept = replace(concept, xrefs=tuple(xrefs))
        parent = concepts.get(_parent(code, concepts))
        if parent:
            types = concept.types or parent.types
            concept = replace(concept, parents=(parent.concept_id,), types=types)
        if implied_names:
            if parent:
                left_out |= _names_without_site(concept, parent.canonical_name)
            taken = {
                name.lower()
                for broader in _broader_codes(code, concepts)
                for name in (*concepts[broader].names, *implied[broader])
            }
            implied[code] = _names_implied_by(concept, taken, named)
        concepts[code] = concept
    left_out |= _shared_names(implied)
    broad = {code for concept in concepts.values() for code in concept.parents}
    broad |= {code for code, concept in concepts.items() if concept.definition == NOT_BILLABLE}
    own_names = {name.lower() for concept in every for name in concept.names}
    for code, concept in concepts.items():
        implied[code] = [
            name
            for name in implied.get(code, ())
            if name.lower() not in left_out and not _is_of_another(name, concept, own_names)
        ]
    if implied_names:
        _add_plain_titles(concepts, implied)
    for code, concept in concepts.items():
        concepts[code] = replace(
            concept,
            aliases=(*concept.aliases, *implied[code]),
            definition=NOT_BILLABLE if code in broad else concept.definition,
        )
    if billable:
        for code in filter(broad.__contains__, concepts):
            report.leave_out("a code that is not valid for billing", code)
        yield from _only_billable(concepts, broad)
    else:
        yield from concepts.values()


def _only_billable(concepts: Mapping[str, Concept], broad: Set[str]) -> Iterator[Concept]:
    """Leave out broad codes. If one of the codes below says no more than a broad one, it gets its
    names, as coders choose it then: "type 2 diabetes" is E11.9, without complications.
    """
    heirs = defaultdict[str, list[str]](list)
    narrow = [code for code in concepts if code not in broad]
    for code in narrow:
        said = _plain_words(concepts[code].canonical_name)
        for broader in _broader_codes(code, concepts):
            if _plain_words(concepts[broader].canonical_name) == said:
                heirs[broader].append(code)
    inherited = defaultdict[str, list[str]](list)
    for broader, codes in heirs.items():
        if len(codes) == 1:
            inherited[codes[0]] += concepts[broader].names
    for code in narrow:
        concept = concepts[code]
        names = dict.fromkeys((*concept.aliases, *inherited[code]))
        names.pop(concept.canonical_name, None)
        yield replace(concept, aliases=tuple(names), parents=())


def _add_plain_titles(concepts: Mapping[str, Concept], implied: Mapping[str, list[str]]) -> None:
    """Add what a title says besides what it is without, and what it leaves unspecified anywhere in
    it, unless other codes are called so: a table without E11 has "type 2 diabetes" for "type 2
    diabetes mellitus without complications".

    concepts (Mapping[str, Concept]): The concepts by code.
    implied (Mapping[str, List[str]]): The names that are implied for each, to which others are
        added.
    """
    owners = defaultdict[str, set[str]](set)
    plain = {code: _plain_title(concept.canonical_name) for code, concept in concepts.items()}
    for code, concept in concepts.items():
        for name in (*concept.names, *implied[code], plain[code]):
            owners[name.lower().removesuffix(_NOS.lower())].add(code)
    for code, concept in concepts.items():
        if plain[code] and owners[plain[code].lower()] == {code}:
            known = {name.lower() for name in (*concept.names, *implied[code])}
            wordings = dict.fromkeys(_in_words_of_notes(plain[code] + _NOS))
            implied[code] += [name for name in wordings if name.lower() not in known]


def _plain_title(title: str) -> str:
    """Leave out of a title what it is without and what it does not specify.

    RETURNS (str): The rest; empty if nothing is left out, or a single word is left that lacks its
        site.
    """
    whole = " ".join(_BRACKETS.sub("", title).split())
    said, _, other = whole.partition(f" {_TABLE['without']} ")
    if _TABLE["with"] in other.split():
        said = whole
    said, _ = _split_unspecified(said.rstrip(","))
    for pattern in ("no_part", "no_detail"):
        said = _PATTERNS[pattern].sub("", said)
    said = " ".join(said.split())
    is_known = said in (whole, _split_unspecified(whole)[0])
    is_vague = " " not in said and _UNSPECIFIED in title.lower()
    return "" if is_known or is_vague or said.lower().startswith(_TABLE["other"]) else said


def _plain_words(title: str) -> set[str]:
    """Collect the words of a title that specify something."""
    return _words(_BRACKETS.sub("", title).split(f" {_TABLE['without']} ")[0])


def _parent(code: str, concepts: Mapping[str, Concept]) -> str:
    for end in range(len(code) - 1, _CATEGORY_LENGTH - 1, -1):
        if code[:end] in concepts:
            return code[:end]
    return ""


def _broader_codes(code: str, concepts: Mapping[str, Concept]) -> Iterator[str]:
    while code := _parent(code, concepts):
        yield code


def _plain_names(concepts: Iterable[Concept]) -> set[str]:
    """Collect all names in lower case, without brackets, "NOS" and "unspecified"."""
    names = (name for concept in concepts for name in concept.names)
    every = (implied.lower() for name in names for implied in (name, *_implied_names(name)))
    return {name.removesuffix(_NOS.lower()).removesuffix(f", {_UNSPECIFIED}") for name in every}


def _names_implied_by(concept: Concept, taken: Set[str], named: Set[str]) -> list[str]:
    taken = taken | {name.lower() for name in concept.names}
    implied = [
        wording
        for name in (*concept.names, *_either(concept.canonical_name, named))
        for wording in _in_words_of_notes(name)
        if taken.isdisjoint((wording.lower(), wording.lower().removesuffix(_NOS.lower())))
    ]
    return list(dict.fromkeys(implied))


def _shared_names(implied: Mapping[str, Iterable[str]]) -> set[str]:
    """Find the "NOS" names, in lower case, that codes of several categories imply."""
    categories = defaultdict[str, set[str]](set)
    for code, names in implied.items():
        for name in names:
            if name.endswith(_NOS):
                categories[name.lower()].add(code[:_CATEGORY_LENGTH])
    return {name for name, codes in categories.items() if len(codes) > 1}


def _names_without_site(concept: Concept, broader_title: str) -> set[str]:
    """Find the "NOS" names, in lower case, without a word that a broader title has before its first
    comma: "Fistula NOS" for "Fistula, unspecified joint", below "Fistula of joint".
    """
    words = _words(broader_title.split(",")[0])
    return {
        (specified + _NOS).lower()
        for specified, left_out in map(_split_unspecified, concept.names)
        if words & _words(left_out) - _words(specified)
    }


def _is_of_another(name: str, concept: Concept, listed: Set[str]) -> bool:
    """Check whether another code lists a name that "unspecified" implies: "Osteoarthritis NOS"."""
    is_plain = f"{name}, {_UNSPECIFIED}" in concept.names
    return (is_plain or name.endswith(_NOS)) and name.lower() in listed


def _words(text: str) -> set[str]:
    return set(_PATTERNS["no_site"].sub("", text.lower()).split())


def _either(title: str, named: Set[str]) -> list[str]:
    match = _PATTERNS["either"].fullmatch(title)
    return [word for word in match.groups() if word.lower() not in named] if match else []


def _in_words_of_notes(name: str) -> Iterator[str]:
    for wording in (name, *_implied_names(name)):
        yield wording
        for pattern, words in _IN_NOTES:
            wording = pattern.sub(words, wording)
            yield wording


def _implied_names(name: str) -> Iterator[str]:
    short = " ".join(_BRACKETS.sub("", name).split())
    if short and short != name:
        yield short
    if synonym := _PATTERNS["synonym"].fullmatch(name):
        yield synonym[1]
    for written in dict.fromkeys((name, short)):
        kept, left_out = _split_unspecified(written)
        # "Pain, unspecified" is "Pain" itself, rather than "Pain, not elsewhere classified".
        if left_out:
            yield kept if left_out == _UNSPECIFIED else kept + _NOS


def _split_unspecified(name: str) -> tuple[str, str]:
    """Split a name before its last parts, between commas, that say what is not specified."""
    parts = name.split(", ")
    kept = len(parts)
    while kept > 1 and _is_unspecified(parts[kept - 1]):
        kept -= 1
    return ", ".join(parts[:kept]), ", ".join(parts[kept:])


def _is_unspecified(part: str) -> bool:
    """Check whether a part of a name says no more than "unspecified organism", "site not
    specified", "without rupture", "uncomplicated" or "initial encounter".
    """
    words = part.lower().split()
    if part in _TABLE["usual"] or part.startswith(_TABLE["usual_beginning"]):
        return True
    if _TABLE["with"] in words or _TABLE["without"] in words:
        return words[0] == _TABLE["without"] and _TABLE["with"] not in words
    return _UNSPECIFIED in (words[:1] + words[-1:]) or tuple(words[-2:]) == _TABLE["not_specified"]


def _read_order(path: str | Path, report: ReadReport) -> Iterator[Concept]:
    for number, line in report.odd.watch(read_lines(path)):
        match = _ORDER_LINE.fullmatch(line)
        if not match:
            reason = "it is not a line of an order file"
            report.odd.skip(unreadable(path, number, "ICD-10-CM", reason))
            continue
        code, is_billable, short, long = match.groups()
        mark = "" if is_billable == "1" else NOT_BILLABLE
        yield Concept(_dotted(code), long.strip(), (short.strip(),), definition=mark)


def _read_table(path: str | Path, report: ReadReport) -> Iterator[Concept]:
    for concept in read_tsv(path, report=report):
        yield replace(concept, concept_id=_dotted(concept.concept_id.replace(".", "", 1)))


def _dotted(code: str) -> str:
    if not _CODE.fullmatch(code):
        return code
    category, rest = code[:_CATEGORY_LENGTH], code[_CATEGORY_LENGTH:]
    return f"{category}.{rest}" if rest else category


def _read_tabular(path: str | Path, *, with_includes: bool) -> Iterator[Concept]:
    """Read the `diag` nodes, each before its children.

    YIELDS (Concept): The concepts.
    """
    chapter = Element("chapter")
    for event, element, _ in read_elements(path):
        if event == "start" and element.tag == "chapter":
            chapter = element
        elif event == "end" and element.tag == "section":
            types = (chapter.findtext("desc", ""),)
            lengthened = _with_seventh_character(element)
            for diag in element.iter("diag"):
                names = _notes(diag, "inclusionTerm")
                if with_includes:
                    names += filter(_is_name, _notes(diag, "includes"))
                code, name = diag.findtext("name", ""), diag.findtext("desc", "")
                if name.startswith(_FRACTURE):
                    names = [_FRACTURE * (" " not in name) + name for name in names]
                broad = NOT_BILLABLE if diag in lengthened else ""
                yield Concept(code, name, tuple(dict.fromkeys(names)), types, broad)
            element.clear()


def _with_seventh_character(section: Element) -> set[Element]:
    """RETURNS (Set[Element]): The `diag` nodes whose codes are valid only with a character more,
    which the tabular list states once, for a whole category.
    """
    holders = (diag for diag in section.iter("diag") if diag.find("sevenChrDef") is not None)
    return {diag for holder in holders for diag in holder.iter("diag")}


def _notes(diag: Element, kind: str) -> list[str]:
    return [note.text or "" for note in diag.iterfind(f"{kind}/note")]


def _is_name(note: str) -> bool:
    """Check whether an inclusion note is a name, not a sentence or an explanation."""
    return len(note.split()) <= _LONGEST_NAME and not _PATTERNS["no_name"].match(note)
