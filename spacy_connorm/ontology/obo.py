"""OBO files, parsed by obonet: Disease Ontology, UBERON, HPO, MONDO ..."""

import re
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from ..concepts import Concept
from ..concepts.concept import ALL_SCOPES
from ..errors import require_choice, unreadable
from ..files.text import read_lines
from .report import ReadReport, Retired, read_xrefs
from .statements import TYPES
from .synonyms import names_by_scope, require_scopes

# Before OBO 1.2, the scope was part of the tag.
_SYNONYM_TAGS = {"synonym": "", **{f"{scope.lower()}_synonym": scope for scope in ALL_SCOPES}}
_STANZAS = ("[Term]", "[Typedef]", "[Instance]")
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"\s*(\w*)')
_QUOTED_VALUE = re.compile(r'[\w-]+:\s*("(?:[^"\\]|\\.)*")')
# obonet treats these as the beginning of a comment or a modifier, even in quotes.
_TAKEN_WRONGLY = re.compile(r"(?<!\\)[!{]")
_ESCAPED = re.compile(r"\\(.)")
_LICENCE = re.compile("(?i)licen[cs]e")


def read_obo(
    path: str | Path,
    *,
    scopes: Collection[str] = ALL_SCOPES,
    types: str = "namespace",
    report: ReadReport | None = None,
) -> Iterator[Concept]:
    """Read the terms of an OBO file that are not obsolete.

    path (Union[str, Path]): The file.
    scopes (Collection[str]): The synonyms to read, by their scope.
    types (str): The tag with the semantic types, namespace or subset.
    report (Optional[ReadReport]): Filled with what was left out, and with the header's licence.
    YIELDS (Concept): The concepts, in the file's order.
    RAISES (ConnormError): CN115 for lines that are not OBO, CN118 for an unknown scope or tag, and
        the errors of `read_lines`.
    """
    require_scopes(scopes)
    require_choice("types", types, TYPES)
    report = report or ReadReport()
    terms, header = _sections(path, report)
    report.licence = _licence(header)
    default_types = header.get("default-namespace", [])[:1] if types == "namespace" else []
    for term in terms:
        concept_id = term.get("id", "")
        if term.get("is_obsolete") == "true":
            report.leave_out("an obsolete term", concept_id)
            report.retired[concept_id] = Retired(
                tuple(term.get("replaced_by", ())), tuple(term.get("consider", ()))
            )
            continue
        found = term.get(types, default_types)
        yield Concept(
            concept_id=concept_id,
            canonical_name=_unescaped(term.get("name", "")),
            types=(found,) if isinstance(found, str) else tuple(found),
            definition=_quoted(term.get("def", ""))[0],
            parents=tuple(term.get("is_a", ())),
            alt_ids=tuple(term.get("alt_id", ())),
            # A description may follow the id.
            xrefs=read_xrefs([xref.partition(" ")[0] for xref in term.get("xref", ())], report),
            **names_by_scope(_synonyms(term), scopes, concept_id, report),
        )


def _sections(path: str | Path, report: ReadReport) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Read the terms and the header. obonet's graph is not used, since it silently merges terms
    with the same id, and fails on relationships that it cannot split.

    RETURNS (Tuple[List[Dict[str, Any]], Dict[str, Any]]): The terms and the header.
    """
    from obonet.read import get_sections

    _, terms, _, header = get_sections(_lines(path, report))
    return terms, header


def _lines(path: str | Path, report: ReadReport) -> Iterator[str]:
    """Read the lines in the form that obonet needs: an empty line before each stanza and nowhere
    else, and no comments between stanzas, which would replace the header.

    YIELDS (str): The lines.
    """
    for number, line in read_lines(path):
        tag, colon, value = line.partition(":")
        if not line.strip() or line.lstrip().startswith("!"):
            continue
        if line.startswith(_STANZAS):
            yield from ("", line)
        elif not (tag and colon):
            reason = "neither a stanza nor a tag and a value"
            raise unreadable(path, number, "OBO", reason)
        elif tag in _SYNONYM_TAGS and not _quoted(value.lstrip())[0]:
            reason = "a synonym without a text in quotation marks"
            report.leave_out(reason, f"line {number}", broken=True)
        else:
            yield _escaped(line)


def _escaped(line: str) -> str:
    match = _QUOTED_VALUE.match(line)
    if not match:
        return line
    value = _TAKEN_WRONGLY.sub(r"\\\g<0>", match[1])
    return line[: match.start(1)] + value + line[match.end(1) :]


def _synonyms(term: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """List the synonyms of a term.

    YIELDS (Tuple[str, str]): Synonyms and their scopes.
    """
    values = ((value, scope) for tag, scope in _SYNONYM_TAGS.items() for value in term.get(tag, ()))
    for value, scope_of_tag in values:
        text, word = _quoted(value)
        yield text, scope_of_tag or (word if word in ALL_SCOPES else "RELATED")


def _quoted(value: str) -> tuple[str, str]:
    """Split a value into its quoted text (a definition or synonym) and the word after it (the
    scope).
    """
    match = _QUOTED.match(value)
    return (_unescaped(match[1]), match[2]) if match else ("", "")


def _unescaped(text: str) -> str:
    return _ESCAPED.sub(lambda match: " " if match[1] in "nWt" else match[1], text)


def _licence(header: dict[str, Any]) -> str:
    """Find the licence in the header, in properties and remarks.

    RETURNS (str): The licence; empty if there is none.
    """
    properties = (value.partition(" ") for value in header.get("property_value", ()))
    stated = [_quoted(value)[0] or value for name, _, value in properties if _LICENCE.search(name)]
    remarks = map(_unescaped, header.get("remark", ()))
    return "\n".join([*stated, *filter(_LICENCE.search, remarks)])
