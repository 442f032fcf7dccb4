import base64
import json

import pytest
import spacy
from fhir.resources.R4B.bundle import Bundle
from fhir.resources.R4B.condition import Condition
from fhir.resources.R4B.observation import Observation
from spacy.tokens import Span

from spacy_connorm.documents import export_docs
from spacy_connorm.documents.document import set_other_fields
from spacy_connorm.documents.mentions import Mention, set_mentions
from spacy_connorm.errors import ConnormError, ConnormWarning

from .conftest import CKD, FOUND, TEXT, annotate

MODELS = {"Observation": Observation, "Condition": Condition}


def part(extensions, url):
    return [extension for extension in extensions if extension.url == url]


def value_of(extension):
    if extension.valueDecimal is not None:
        return float(extension.valueDecimal)
    return extension.valueString if extension.valueInteger is None else extension.valueInteger


def check(resources, documents):
    """Nothing of the first document's mentions is lost."""
    expected = [
        (mention, ids) for mention in documents[0].mentions for ids in mention.concept_ids or [None]
    ]
    assert len({resource.id for resource in resources}) == len(resources) == len(expected)
    for resource, (mention, concept_id) in zip(resources, expected, strict=True):
        (extension,) = resource.extension
        told = extension.extension
        (start,), (end,) = part(told, "start"), part(told, "end")
        assert TEXT[start.valueInteger : end.valueInteger] == resource.code.text == mention.text
        assert part(told, "label")[0].valueString == mention.label
        assert [each.valueString for each in part(told, "longForm")] == [mention.long_form][
            : bool(mention.long_form)
        ]
        assert bool(part(told, "nil")) == mention.is_nil
        found = [
            {each.url: value_of(each) for each in candidate.extension}
            for candidate in part(told, "candidate")
        ]
        assert found == [
            {key: value for key, value in each._asdict().items() if value not in (None, "")}
            for each in FOUND[mention.text][2]
        ]
        if concept_id:
            (coding,) = resource.code.coding
            assert (coding.system, coding.code) == ("urn:x", concept_id)
            assert coding.display == mention.find_candidate(concept_id).name
        else:
            assert not resource.code.coding


@pytest.mark.parametrize("resource", list(MODELS))
def test_ndjson_is_read_back(export, documents, resource):
    path = export("found.fhir.ndjson", resource=resource, system="urn:x")
    lines = path.read_text(encoding="utf8").split("\n")[:-1]
    resources = [MODELS[resource].model_validate_json(line) for line in lines]
    check(resources, documents)
    assert {resource.subject.reference for resource in resources} == {"Patient/3"}
    first = resources[0]
    source = first.derivedFrom if resource == "Observation" else first.evidence[0].detail
    assert source[0].identifier.value == "note 7|a"


@pytest.mark.parametrize("resource", list(MODELS))
def test_a_bundle_is_read_back(export, documents, resource):
    path = export("found.fhir.json", resource=resource, system="urn:x")
    bundle = Bundle.model_validate_json(path.read_text(encoding="utf8"))
    resources = [entry.resource for entry in bundle.entry]
    texts = [
        resource for resource in resources if resource.get_resource_type() == "DocumentReference"
    ]
    assert [text.identifier[0].value for text in texts] == ["note 7|a", "2", "3"]
    content = json.loads(path.read_text(encoding="utf8"))["entry"][0]["resource"]["content"]
    assert base64.b64decode(content[0]["attachment"]["data"]).decode() == TEXT
    found = [each for each in resources if each.get_resource_type() == resource]
    check(found, documents)
    source = found[0].derivedFrom if resource == "Observation" else found[0].evidence[0].detail
    assert source[0].reference == bundle.entry[0].fullUrl
    again = export("again.json", format="fhir-bundle", resource=resource, system="urn:x")
    assert again.read_bytes() == path.read_bytes()


def test_an_empty_bundle_has_no_entries(tmp_path):
    export_docs([], tmp_path / "a.fhir.json")
    bundle = Bundle.model_validate_json((tmp_path / "a.fhir.json").read_text())
    assert bundle.entry is None


@pytest.mark.parametrize(
    ("concept_id", "coding"),
    [
        ("SNOMEDCT_US:22298006", ("http://snomed.info/sct", "22298006")),
        ("ICD10CM:I21.9", ("http://hl7.org/fhir/sid/icd-10-cm", "I21.9")),
        ("D009203", ("http://id.nlm.nih.gov/mesh/", "D009203")),
        ("HPO:0001658", ("http://human-phenotype-ontology.org", "HP:0001658")),
        ("mine-7", (None, "mine-7")),
    ],
)
def test_known_vocabularies_have_their_system(tmp_path, concept_id, coding):
    doc = spacy.blank("xx")("MI\x0c of the wall")
    place = ((0, 3), (10, 14))
    set_mentions(doc, [Mention("MI\x0c wall", "", f"{concept_id}+C0000001", place)])
    path = tmp_path / "a.ndjson"
    with pytest.warns(ConnormWarning, match="CNW770.*U.FFFD.*times: 1"):
        export_docs([doc], path, format="fhir-ndjson")
    (line,) = path.read_text(encoding="utf8").splitlines()
    resource = Observation.model_validate_json(line)
    first, second = resource.code.coding  # ids joined by + are one finding
    assert (first.system, first.code) == coding and second.code == "C0000001"
    fragments = part(resource.extension[0].extension, "fragment")
    assert [tuple(e.valueInteger for e in fragment.extension) for fragment in fragments] == list(
        place
    )


def test_codes_of_other_vocabularies_are_codings(tmp_path):
    coded = CKD._replace(codes={"ICD10CM": ["N18", "N18.9"], "OMIM": []})
    doc = annotate("CKD", {"CKD": ("D", "D051436", [coded])}, {})
    export_docs([doc], tmp_path / "a.fhir.ndjson", spans_key="sc", system="urn:x")
    (line,) = (tmp_path / "a.fhir.ndjson").read_text(encoding="utf8").splitlines()
    resource = Observation.model_validate_json(line)
    icd = "http://hl7.org/fhir/sid/icd-10-cm"
    assert [(coding.system, coding.code) for coding in resource.code.coding] == [
        ("urn:x", "D051436"),
        (icd, "N18"),
        (icd, "N18.9"),
    ]
    (told,) = part(resource.extension[0].extension, "candidate")
    assert [each.valueString for each in part(told.extension, "code")] == [
        "ICD10CM:N18",
        "ICD10CM:N18.9",
    ]


@pytest.mark.parametrize(
    ("patient", "subject"),
    [
        (None, {"display": "unknown"}),
        ("Patient/a", {"reference": "Patient/a"}),
        ("urn:uuid:7", {"reference": "urn:uuid:7"}),
        ("Jo Doe", {"type": "Patient", "identifier": {"value": "Jo Doe"}}),
    ],
)
def test_patients_are_ids_or_references(tmp_path, patient, subject):
    doc = spacy.blank("xx")("MI")
    set_mentions(doc, [Mention("MI", "D", "C0000001", ((0, 2),))])
    set_other_fields(doc, {"who": patient})
    options = {"resource": "Condition", "subject_field": "who"}
    export_docs([doc], tmp_path / "a.fhir.ndjson", **options)
    (line,) = (tmp_path / "a.fhir.ndjson").read_text(encoding="utf8").splitlines()
    Condition.model_validate_json(line)
    assert json.loads(line)["subject"] == subject


@pytest.mark.parametrize("name", ["a.fhir.json", "a.fhir.ndjson"])
def test_other_resources_are_refused(export, name):
    with pytest.raises(ConnormError, match="CN118.*`resource`.*Observation, Condition"):
        export(name, resource="Procedure")


@pytest.mark.parametrize("name", ["a.fhir.json", "a.fhir.ndjson"])
def test_the_same_text_of_two_patients_has_two_ids_and_of_one_patient_one(tmp_path, name):
    def make(patient):
        doc = spacy.blank("en")("Fever.")
        doc.ents = [Span(doc, 0, 1, label="D", kb_id="C1")]
        set_other_fields(doc, {"id": "7", **({"patient": patient} if patient else {})})
        return doc

    path = tmp_path / name
    with pytest.warns(ConnormWarning, match="CNW770.*once"):
        export_docs(map(make, ["a", "b", "a", None]), path)
    lines = path.read_text().splitlines()
    if name.endswith("ndjson"):
        ids = [json.loads(line)["id"] for line in lines]
    else:
        ids = [entry["fullUrl"] for entry in json.loads(path.read_text())["entry"]]
    assert len(ids) == len(set(ids)) == (3 if name.endswith("ndjson") else 6)
