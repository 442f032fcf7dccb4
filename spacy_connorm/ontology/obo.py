"""OBO files: Disease Ontology, UBERON, HPO, MONDO ..."""

import re
from collections import defaultdict
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from ..concepts import Concept
from ..concepts.concept import ALL_SCOPES, is_no_id
from ..errors import unreadable
from ..files.text import read_lines
from .report import ReadReport, Retired, read_xrefs
from .synonyms import names_by_scope, require_scopes

# Before OBO 1.2, the scope was part of the tag.
_SYNONYM_TAGS = {"synonym": "", **{f"{scope.lower()}_synonym": scope for scope in ALL_SCOPES}}
_QUOTED_TAGS = frozenset(["def", *_SYNONYM_TAGS])
# A stanza has one of each; a second one contradicts the first.
_SINGLE = frozenset(["id", "name", "def"])
_TERM = "term"
_STANZA = re.compile(r"\[(\w+)\]")
_TAG = re.compile(r"([\w-]+)\s*:\s*(.*)", re.DOTALL)
_SCOPE = "|".join(ALL_SCOPES)
# The text in quotation marks, and the word after it. The text may have quotation marks that are not
# escaped: "3,3',3"-triiodothyronine".
_QUOTED = re.compile(
    r'"((?:[^"\\]|\\.)*)"\s*(\w*)(?=[^"\[{!]*(?:[\[{!]|\Z))'
    rf'|"(.*)"\s*(?:({_SCOPE})\b[^"\[{{!]*)?(?=[\[{{!]|\Z)',
    re.DOTALL,
)
_COMMENT = re.compile(r"(?<!\\)!.*", re.DOTALL)
_MODIFIER = re.compile(r"(?<!\\)\{[^{}]*\}\Z")
_ID = re.compile(r"(?:[^\s!{\\]|\\[^nWt])+")
_CONTINUED = re.compile(r"(?<!\\)(?:\\\\)*\\\Z")
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_LICENCE = re.compile("(?i)licen[cs]e")


@dataclass(slots=True)
class _Stanza:
    """A stanza, or the header: its kind, its first line, and its values by tag."""

    kind: str = ""
    number: int = 1
    values: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))

    def texts(self, tag: str) -> list[str]:
        return [_unescaped(_without_ending(value)) for value in self.values.get(tag, ())]

    def first(self, tag: str) -> str:
        return next(iter(self.texts(tag)), "")

    def ids(self, tag: str) -> tuple[str, ...]:
        # A comment or a description may follow the id.
        matches = (_ID.match(value) for value in self.values.get(tag, ()))
        return tuple(match[0] for match in matches if match)


def read_obo(
    path: str | Path, *, scopes: Collection[str] = ALL_SCOPES, report: ReadReport | None = None
) -> Iterator[Concept]:
    """Read the terms of an OBO file that are not obsolete. Of two names or definitions of a term,
    the first counts; a text may be broken into several lines, and quotation marks in it need not be
    escaped.

    path (Union[str, Path]): The file.
    scopes (Collection[str]): The synonyms to read, by their scope.
    report (Optional[ReadReport]): Filled with what was left out, and with the header's licence.
    YIELDS (Concept): The concepts, in the file's order.
    RAISES (ConnormError): CN115 for too many lines that are not OBO, CN118 for an unknown scope or
        tag, and the errors of `read_lines`.
    """
    require_scopes(scopes)
    report = report or ReadReport()
    default_types: tuple[str, ...] = ()
    for stanza in _stanzas(path, report):
        if not stanza.kind:
            report.licence = _licence(stanza)
            report.release = stanza.first("data-version")
            default_types = tuple(stanza.texts("default-namespace"))
        elif stanza.kind.lower() == _TERM:
            concept_id = "".join(stanza.ids("id"))
            if stanza.first("is_obsolete") == "true":
                report.leave_out("an obsolete term", concept_id)
                report.retired[concept_id] = Retired(
                    stanza.ids("replaced_by"), stanza.ids("consider")
                )
            elif is_no_id(concept_id) or not stanza.first("name"):
                reason = "a term without an id or a name, or whose id stands for no concept"
                report.odd.skip(unreadable(path, stanza.number, "OBO", reason))
            else:
                yield _concept(concept_id, stanza, scopes, default_types, report)


def _concept(
    concept_id: str,
    term: _Stanza,
    scopes: Collection[str],
    default_types: tuple[str, ...],
    report: ReadReport,
) -> Concept:
    synonyms = (
        (text, tag_scope or (word if word in ALL_SCOPES else "RELATED"))
        for tag, tag_scope in _SYNONYM_TAGS.items()
        for text, word in map(_quoted, term.values.get(tag, ()))
    )
    definitions = map(_quoted, term.values.get("def", ()))
    return Concept(
        concept_id=concept_id,
        canonical_name=term.first("name"),
        types=tuple(term.texts("namespace")) or default_types,
        definition=next(definitions, ("", ""))[0],
        parents=term.ids("is_a"),
        alt_ids=term.ids("alt_id"),
        xrefs=read_xrefs(term.ids("xref"), report),
        **names_by_scope(synonyms, scopes, concept_id, report),
    )


def _stanzas(path: str | Path, report: ReadReport) -> Iterator[_Stanza]:
    """Read the header and the stanzas. A line that is not OBO is skipped.

    YIELDS (_Stanza): The header, then the stanzas.
    """
    stanza = _Stanza()
    for number, line in _whole_lines(path, report):
        begin, tagged = _STANZA.match(line), _TAG.fullmatch(line)
        reason = ""
        if begin:
            yield stanza
            stanza = _Stanza(begin[1], number)
        elif not tagged:
            reason = "neither a stanza nor a tag and a value"
        elif tagged[1] in _SYNONYM_TAGS and not _quoted(tagged[2])[0]:
            reason = "a synonym without a text in quotation marks"
        elif tagged[1] in _SINGLE and stanza.values[tagged[1]]:
            reason = f"a second `{tagged[1]}` of the same term"
        else:
            stanza.values[tagged[1]].append(tagged[2])
        if reason:
            report.odd.skip(unreadable(path, number, "OBO", reason))
    yield stanza


def _whole_lines(path: str | Path, report: ReadReport) -> Iterator[tuple[int, str]]:
    """Join lines that end with a backslash, or with an open text in quotation marks, with those
    after them.

    YIELDS (Tuple[int, str]): The number of the first line, and the text, without blank lines and
        comments.
    """
    whole, begin = "", 0
    for number, line in report.odd.watch(read_lines(path)):
        is_new = not line.strip() or _STANZA.match(line) or _TAG.fullmatch(line)
        if whole and (_CONTINUED.search(whole) or (_is_open(whole) and not is_new)):
            whole = f"{_CONTINUED.sub('', whole).rstrip()} {line.strip()}"
            continue
        if whole:
            yield begin, whole
        is_comment = not line.strip() or line.lstrip().startswith("!")
        whole, begin = "" if is_comment else line, number
    if whole:
        yield begin, whole


def _is_open(line: str) -> bool:
    tag, _, value = line.partition(":")
    value = value.strip()
    return tag in _QUOTED_TAGS and value.startswith('"') and not _QUOTED.match(value)


def _quoted(value: str) -> tuple[str, str]:
    """Split a value into its quoted text (a definition or synonym) and the word after it (the
    scope).
    """
    match = _QUOTED.match(value)
    if not match:
        return "", ""
    text, word = match[1], match[2]
    if text is None:
        text, word = match[3], match[4] or ""
    return _unescaped(text).strip(), word


def _without_ending(value: str) -> str:
    """Cut the comment and the modifiers at the end of a value."""
    return _MODIFIER.sub("", _COMMENT.sub("", value).rstrip()).rstrip()


def _unescaped(text: str) -> str:
    return _ESCAPED.sub(lambda match: " " if match[1] in "nWt" else match[1], text)


def _licence(header: _Stanza) -> str:
    """Find the licence in the header, in properties and remarks.

    RETURNS (str): The licence; empty if there is none.
    """
    properties = (value.partition(" ") for value in header.values.get("property_value", ()))
    stated = [_quoted(value)[0] or value for name, _, value in properties if _LICENCE.search(name)]
    return "\n".join([*stated, *filter(_LICENCE.search, header.texts("remark"))])
