"""Concepts from statements about the classes of OWL and the concepts of SKOS."""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from ..concepts import Concept
from ..concepts.concept import ALL_SCOPES, EXACT
from ..files.package_data import read_toml
from .report import ReadReport, Retired, read_xrefs
from .synonyms import names_by_scope, require_scopes

_TABLE = read_toml(__package__, "predicates.toml")


def _iri(curie: str) -> str:
    prefix, _, name = curie.partition(":")
    return _TABLE["prefixes"][prefix] + name


# What a statement with a predicate tells.
_FIELDS = {
    _iri(predicate): field
    for field, predicates in _TABLE["fields"].items()
    for predicate in predicates
}
IN_OWL = _iri("oboInOwl:")
KIND, CLASS, ONTOLOGY = _iri("rdf:type"), _iri("owl:Class"), _iri("owl:Ontology")
LABEL, DEFINITION, PARENT = _iri("rdfs:label"), _iri("obo:IAO_0000115"), _iri("rdfs:subClassOf")
XREF = _iri("oboInOwl:hasDbXref")
DEPRECATED = _iri("owl:deprecated")
_NARROWER = _iri("skos:narrower")
_OBSOLETE = _iri("oboInOwl:ObsoleteClass")
_ONTOLOGIES = {ONTOLOGY, _iri("skos:ConceptScheme")}
_CLASSES = {CLASS, _iri("rdfs:Class"), _iri("skos:Concept")}
_TRUE = {"true", "1"}


# http://purl.obolibrary.org/obo/HP_0000118, http://www.orpha.net/ORDO/Orphanet_558
_PREFIXED = re.compile(r"[/#]([A-Za-z][\w.]*)_([^_/#]*\d[^_/#]*)$")
_LAST = re.compile(r"[^/#]*$")
# http://purl.obolibrary.org/obo/hp.owl, http://purl.obolibrary.org/obo/uberon/ext.owl
_OWN = re.compile(rf"{re.escape(_iri('obo:'))}([a-z]+)[./]")

# Fields of a concept and their values.
Facts = list[tuple[str, str]]


class Statement(NamedTuple):
    """One statement of an ontology.

    subject (str): The IRI of a class or concept.
    predicate (str): An IRI.
    value (str): A text, or an IRI.
    language (str): The language of the text; may be empty.
    """

    subject: str
    predicate: str
    value: str
    language: str = ""


def read_statements(
    statements: Iterable[Statement],
    *,
    scopes: Collection[str],
    languages: Sequence[str],
    imports: bool,
    report: ReadReport,
) -> Iterator[Concept]:
    """Read the classes that have a name and are not deprecated.

    statements (Iterable[Statement]): All statements, in any order; read whole before the first
        concept.
    scopes (Collection[str]): The synonyms to read, by their scope.
    languages (Sequence[str]): The languages of names, best first; texts without a language are
        read, too.
    imports (bool): Whether to read the classes that an ontology of the OBO Foundry has from others:
        hp.owl has those of UBERON, GO and ChEBI, which its definitions use.
    report (ReadReport): Filled with what was left out, and with the terms of use.
    YIELDS (Concept): The concepts, in the order in which they are first mentioned.
    RAISES (ConnormError): CN118 for an unknown scope or type.
    """
    require_scopes(scopes)
    facts_of, languages_of = _by_subject(statements, languages, report)
    ontologies = _of_kind(facts_of, _ONTOLOGIES)
    licences = dict.fromkeys(
        licence for facts in ontologies.values() for licence in _values(facts, "licence")
    )
    report.licence = "\n".join(licences)
    classes = _of_kind(facts_of, _CLASSES)
    ids = {iri: _concept_id(iri, facts) for iri, facts in classes.items()}
    prefix = None if imports else _own_prefix(ontologies, ids.values())
    for iri, facts in report.odd.watch(classes.items()):
        if prefix and not ids[iri].lower().startswith(prefix):
            report.leave_out("a class of an imported ontology", ids[iri])
            continue
        names = [*_values(facts, "name"), *_values(facts, "preferred")]
        if iri == _OBSOLETE or _is_obsolete(facts):
            report.leave_out("an obsolete term", ids[iri])
            report.retired[ids[iri]] = Retired(
                _ids(_values(facts, "replaced_by")), _ids(_values(facts, "consider"))
            )
        elif not names:
            report.leave_out("a class without a name", ids[iri])
        else:
            synonyms = [
                *((name, EXACT) for name in names[1:]),
                *((text, scope) for scope in ALL_SCOPES for text in _values(facts, scope)),
            ]
            cuis = [f"UMLS:{cui}" for cui in _values(facts, "cuis")]
            yield Concept(
                ids[iri],
                names[0],
                types=_ids(_values(facts, "namespace")),
                definition=next(iter(_values(facts, "definition")), ""),
                parents=tuple(ids[parent] for parent in _values(facts, "parents") if parent in ids),
                alt_ids=_ids(_values(facts, "alt_ids")),
                xrefs=read_xrefs([*_values(facts, "xrefs"), *cuis], report),
                languages=_languages(iri, (*names, *(text for text, _ in synonyms)), languages_of),
                **names_by_scope(synonyms, scopes, ids[iri], report),
            )


def _by_subject(
    statements: Iterable[Statement], languages: Sequence[str], report: ReadReport
) -> tuple[dict[str, Facts], dict[tuple[str, str], str]]:
    """Sort statements by what they are about, then texts by their language.

    RETURNS (Tuple[Dict[str, Facts], Dict[Tuple[str, str], str]]): By IRI, what is told; and where
        there are several languages, that of a text by IRI and text.
    """
    wanted = list(dict.fromkeys(language.lower() for language in languages))
    # Texts without a language are ranked with those in the first one.
    ranked: list[dict[str, Facts]] = [defaultdict(list) for _ in wanted]
    languages_of: dict[tuple[str, str], str] = {}
    for subject, predicate, value, written_in in statements:
        language = written_in.partition("-")[0].lower()
        if predicate == _NARROWER:
            ranked[0][value].append(("parents", subject))
        elif (field := _FIELDS.get(predicate)) and language and language not in wanted:
            report.leave_out("a text in another language", _id(subject))
        elif field:
            ranked[wanted.index(language) if language else 0][subject].append((field, value))
            if language and len(wanted) > 1:
                languages_of.setdefault((subject, value), language)
    facts_of, *others = ranked
    for facts_in_other in others:
        for subject, facts in facts_in_other.items():
            facts_of[subject] += facts
    return facts_of, languages_of


def _languages(
    iri: str, names: Iterable[str], languages_of: Mapping[tuple[str, str], str]
) -> tuple[tuple[str, str], ...]:
    pairs = ((name, languages_of.get((iri, name), "")) for name in dict.fromkeys(names))
    return tuple((name, language) for name, language in pairs if language)


def _is_obsolete(facts: Facts) -> bool:
    above = {*_values(facts, "kind"), *_values(facts, "parents")}
    return _OBSOLETE in above or not _TRUE.isdisjoint(_values(facts, "deprecated"))


def _of_kind(facts_of: Mapping[str, Facts], kinds: set[str]) -> dict[str, Facts]:
    return {iri: facts for iri, facts in facts_of.items() if kinds & {*_values(facts, "kind")}}


def _own_prefix(ontologies: Iterable[str], ids: Collection[str]) -> str | None:
    """Find the prefix of an ontology's own ids, in lower case.

    RETURNS (Optional[str]): The prefix with its colon; None if no id has the ontology's name.
    """
    named = (match[1] for iri in ontologies if (match := _OWN.match(iri)))
    prefix = f"{next(named, '')}:"
    return prefix if any(concept_id.lower().startswith(prefix) for concept_id in ids) else None


def _values(facts: Facts, field: str) -> list[str]:
    return [value for name, value in facts if name == field]


def _concept_id(iri: str, facts: Facts) -> str:
    written = _values(facts, "id") or [_prefixed(iri), *_values(facts, "notation"), _id(iri)]
    # An IRI may end in a slash.
    return next(filter(None, written), "")


def _prefixed(iri: str) -> str:
    parts = _PREFIXED.search(iri)
    return f"{parts[1]}:{parts[2]}" if parts else ""


def _ids(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(map(_id, values))


def _id(value: str) -> str:
    """Make an id from an IRI; other texts are returned unchanged."""
    if "://" not in value:
        return value
    return _prefixed(value) or _LAST.findall(value.rstrip("/#"))[0]
