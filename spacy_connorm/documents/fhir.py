"""FHIR R4: an Observation or a Condition for each concept of a mention, as NDJSON or in a
Bundle.
"""

import base64
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias
from uuid import NAMESPACE_OID, UUID, uuid5

from ..concepts import Candidate
from ..concepts.curies import PREFIXES, join_curie, split_curie
from ..errors import require_choice
from ..files.json_items import json_line
from ..files.package_data import read_toml
from ..files.text import open_text
from .document import Document, find_id
from .mentions import Mention, curie_of, split_ids
from .spans import Possibility

RESOURCES = ("Observation", "Condition")
EXTENSION = "urn:spacy-connorm:mention"
_SYSTEMS = read_toml(__package__, "fhir.toml")
_VERIFICATION = "http://terminology.hl7.org/CodeSystem/condition-ver-status"
_ABSENT_REASON = "http://terminology.hl7.org/CodeSystem/data-absent-reason"
_RELATIVES = "FamilyMemberHistory"
_ROLES = "http://terminology.hl7.org/CodeSystem/v3-RoleCode"
_ID = re.compile(r"[A-Za-z0-9\-.]{1,64}")
_NOT_FHIR = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff]")
_REPLACED = "control characters of mentions became U+FFFD"
_REPEATED = "the same text of the same patient was written once"
Resource = dict[str, Any]


# The id of a document, and its resources, or entries of a Bundle.
FhirEntries: TypeAlias = tuple[bytes, list[str]]


@dataclass(frozen=True, slots=True)
class FhirNdjsonExporter:
    """Writes one resource per line, as in FHIR's Bulk Data. The text itself is left out.

    system (str): The URI of the ids' code system; if empty, that of their vocabulary, if known.
    resource (str): Observation or Condition.
    subject_field (str): The field of a text's JSON, or the column, with the patient: an id, or a
        reference.
    database (str): The vocabulary of ids without a prefix that shows it, such as ICD10CM; if empty,
        that of the ontology.
    """

    system: str = ""
    resource: str = RESOURCES[0]
    subject_field: str = "patient"
    database: str = ""

    def __post_init__(self) -> None:
        require_choice("resource", self.resource, RESOURCES)

    def render(self, document: Document, changes: Counter[str]) -> FhirEntries:
        source = {"type": "DocumentReference", "identifier": {"value": _allowed(document.doc_id)}}
        lines = list(map(json_line, self._findings(document, source, changes)))
        return self._own_id(document).bytes, lines

    def write(self, rendered: Iterable[FhirEntries], path: Path, changes: Counter[str]) -> None:
        with open_text(path, "wt") as file:
            file.writelines(f"{line}\n" for line in _distinct(rendered, changes))

    def _own_id(self, document: Document) -> UUID:
        """Create an id that is the same whenever the same text of the same patient is annotated."""
        subject = _subject(document, self.subject_field)
        patient = json_line(subject) if subject else ""
        return uuid5(NAMESPACE_OID, f"{_allowed(document.doc_id)}\n{document.text}{patient}")

    def _findings(
        self, document: Document, source: Resource, changes: Counter[str]
    ) -> Iterator[Resource]:
        """Create a resource for each concept of each mention. Parts of a composite are separate
        findings, while ids joined by `+` are a single one.

        YIELDS (Dict[str, Any]): The resources.
        """
        own_id, subject = self._own_id(document), _subject(document, self.subject_field)
        for number, mention in enumerate(document.mentions):
            changes[_REPLACED] += bool(_NOT_FHIR.search(mention.text))
            parts = [split_ids(part) for part in mention.kb_id.split("|")]
            for part, concept_ids in enumerate(list(filter(None, parts)) or [()]):
                resource, about = self._about(mention, concept_ids, subject, source)
                yield {
                    "resourceType": resource,
                    "id": str(uuid5(own_id, f"{number} {part}")),
                    "extension": [_extension(mention)],
                    **about,
                }

    def _about(
        self, mention: Mention, concept_ids: Iterable[str], subject: Resource, source: Resource
    ) -> tuple[str, Resource]:
        """Choose the resource for what the text says and about whom. A relative's condition is not
        a finding of the patient.

        RETURNS (Tuple[str, Dict[str, Any]]): The type of the resource, and its content.
        """
        code = _concept(mention, concept_ids, self.system, self.database)
        assertions = mention.assertions or ()
        # Two of the three resources must have a patient.
        patient = subject.get("subject", {"display": "unknown"})
        if "family" in assertions:
            return _RELATIVES, _relatives(code, patient, is_negated="negated" in assertions)
        if self.resource == "Observation":
            observation = {"status": "preliminary", "code": code, **subject, **_value(assertions)}
            return self.resource, {**observation, "derivedFrom": [source]}
        coding = {"system": _VERIFICATION, "code": _verification(assertions, mention.possibility)}
        return self.resource, {
            "verificationStatus": {"coding": [coding]},
            "code": code,
            "subject": patient,
            "evidence": [{"detail": [source]}],
        }


@dataclass(frozen=True, slots=True)
class FhirBundleExporter(FhirNdjsonExporter):
    """Writes one Bundle: each text as a DocumentReference, followed by its findings."""

    def render(self, document: Document, changes: Counter[str]) -> FhirEntries:
        own_id = self._own_id(document)
        content = base64.b64encode(document.text.encode()).decode()
        attachment = {"contentType": "text/plain; charset=utf-8"}
        note = {
            "resourceType": "DocumentReference",
            "id": str(own_id),
            "identifier": [{"value": _allowed(document.doc_id)}],
            "status": "current",
            **_subject(document, self.subject_field),
            "content": [{"attachment": {**attachment, **({"data": content} if content else {})}}],
        }
        findings = self._findings(document, {"reference": _url(note)}, changes)
        entries = [
            f'{{"fullUrl": "{_url(resource)}", "resource": {json_line(resource)}}}'
            for resource in (note, *findings)
        ]
        return own_id.bytes, entries

    def write(self, rendered: Iterable[FhirEntries], path: Path, changes: Counter[str]) -> None:
        first = True
        with open_text(path, "wt") as file:
            file.write('{"resourceType": "Bundle", "type": "collection"')
            for entry in _distinct(rendered, changes):
                # An empty list is not allowed.
                file.write(', "entry": [\n' if first else ",\n")
                file.write(entry)
                first = False
            file.write("}\n" if first else "\n]}\n")


def _distinct(rendered: Iterable[FhirEntries], changes: Counter[str]) -> Iterator[str]:
    """List the lines of documents, those of the same document once: two resources of a Bundle may
    not have the same address.
    """
    seen = set[bytes]()
    for own_id, lines in rendered:
        if own_id in seen:
            changes[_REPEATED] += 1
        else:
            seen.add(own_id)
            yield from lines


def _value(assertions: Collection[str]) -> Resource:
    """Create the value of an Observation: false if it is negated, unknown if it is possible."""
    if "negated" in assertions:
        return {"valueBoolean": False}
    if "possible" in assertions:
        return {"dataAbsentReason": {"coding": [{"system": _ABSENT_REASON, "code": "unknown"}]}}
    return {}


def _verification(assertions: Collection[str], possibility: str) -> str:
    """Choose the verification status of a Condition. What is only feared or spoken of has no status
    of its own.
    """
    if "negated" in assertions:
        return "refuted"
    if possibility == Possibility.DIFFERENTIAL:
        return "differential"
    is_suspected = "possible" in assertions and possibility != Possibility.HYPOTHETICAL
    return "provisional" if is_suspected else "unconfirmed"


def _relatives(code: Resource, patient: Resource, *, is_negated: bool) -> Resource:
    """Create the resource for a condition that a relative has, or does not have."""
    coding = {"system": _ROLES, "code": "FAMMEMB", "display": "family member"}
    note = {"note": [{"text": "absent"}]} if is_negated else {}
    return {
        "status": "partial",
        "patient": patient,
        "relationship": {"coding": [coding]},
        "condition": [{"code": code, **note}],
    }


def _url(resource: Resource) -> str:
    return f"urn:uuid:{resource['id']}"


def _concept(
    mention: Mention, concept_ids: Iterable[str], system: str, database: str
) -> dict[str, Any]:
    codings = []
    for concept_id in concept_ids:
        candidate = mention.find_candidate(concept_id)
        coding = _coding(concept_id, candidate.name if candidate else "", system, database)
        codings.append(coding)
        others = map(_coding, _codes(candidate))
        codings += (other for other in others if other.items() - coding.items())
    return {**({"coding": codings} if codings else {}), "text": _allowed(mention.text)}


def _codes(candidate: Candidate | None) -> list[str]:
    """List the ids of the same concept in other vocabularies.

    RETURNS (List[str]): CURIEs.
    """
    codes = (candidate.codes if candidate else None) or {}
    return [join_curie(prefix, code) for prefix, listed in codes.items() for code in listed]


def _coding(
    concept_id: str, name: str = "", system: str = "", database: str = ""
) -> dict[str, str]:
    coding = {"system": system, "code": concept_id}
    if not system:
        prefix, local_id = split_curie(curie_of(concept_id, database))
        known = PREFIXES.prefix(prefix)
        if uri := _SYSTEMS["with_prefix"].get(known):
            coding = {"system": uri, "code": join_curie(known, local_id)}
        else:
            uri = _SYSTEMS["without_prefix"].get(known) or PREFIXES.addresses.get(known, "")
            coding = {"system": uri, "code": local_id if uri else concept_id}
    coding["display"] = _allowed(name)
    return {key: value for key, value in coding.items() if value}


def _extension(mention: Mention) -> dict[str, Any]:
    """Describe the position of a mention in the text, and all its candidates."""
    parts = [*_place(mention.extent), _part("text", mention.text)]
    if len(mention.fragments) > 1:
        parts += (
            {"url": "fragment", "extension": _place(fragment)} for fragment in mention.fragments
        )
    texts = {
        "label": mention.label,
        "longForm": mention.long_form,
        "possibility": mention.possibility,
    }
    parts += (_part(url, text) for url, text in texts.items() if text.strip())
    parts += (_part("assertion", assertion) for assertion in mention.assertions or ())
    if mention.is_nil:
        parts.append({"url": "nil", "valueBoolean": True})
    parts += (
        {"url": "candidate", "extension": _candidate(candidate)} for candidate in mention.candidates
    )
    return {"url": EXTENSION, "extension": parts}


def _place(extent: tuple[int, int]) -> list[dict[str, Any]]:
    return [_part(url, offset) for url, offset in zip(("start", "end"), extent, strict=True)]


def _candidate(candidate: Candidate) -> list[dict[str, Any]]:
    values = candidate._replace(codes=None)._asdict().items()
    codes = [{"url": "code", "valueString": coding} for coding in _codes(candidate)]
    return codes + [
        _part(*coding) for coding in values if coding[1] is not None and str(coding[1]).strip()
    ]


def _part(url: str, value: str | float) -> dict[str, Any]:
    if isinstance(value, str):
        return {"url": url, "valueString": _allowed(value)}
    return {"url": url, "valueInteger" if isinstance(value, int) else "valueDecimal": value}


def _subject(document: Document, field: str) -> dict[str, Any]:
    patient = find_id(document.fields, field)
    if patient is None:
        return {}
    if "/" in patient or patient.startswith("urn:"):
        return {"subject": {"reference": patient}}
    if _ID.fullmatch(patient):
        return {"subject": {"reference": f"Patient/{patient}"}}
    return {"subject": {"type": "Patient", "identifier": {"value": _allowed(patient)}}}


def _allowed(text: str) -> str:
    return _NOT_FHIR.sub("\ufffd", text)
