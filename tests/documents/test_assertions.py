import csv
import json

import pytest
import spacy
from fhir.resources.R4B.condition import Condition
from fhir.resources.R4B.familymemberhistory import FamilyMemberHistory
from fhir.resources.R4B.observation import Observation
from spacy.tokens import Span

from spacy_connorm.documents import export_docs
from spacy_connorm.documents.assertions import (
    ASSERTIONS,
    get_assertions,
    register_assertion_attributes,
)
from spacy_connorm.documents.document import read_document
from spacy_connorm.documents.spans import register_span_attributes, set_span_attributes
from spacy_connorm.errors import ConnormWarning

TEXT = "No fever. Mother had asthma. Past stroke. Cough."
SAID = {"fever": ("negated",), "asthma": ("family",), "stroke": ("history",), "Cough": ()}


@pytest.fixture
def doc():
    """A document as a normalizer and an assertion marker leave it."""
    register_span_attributes()
    register_assertion_attributes()
    doc = spacy.blank("en")(TEXT)
    doc.ents = [doc.char_span(TEXT.index(each), TEXT.index(each) + len(each), "F") for each in SAID]
    ids = ["C1", "C2", "C3", "C4"]
    set_span_attributes(doc, list(doc.ents), ids, [[]] * len(ids), prefix="")
    doc.ents = [
        Span(doc, ent.start, ent.end, "F", kb_id=kb_id)
        for ent, kb_id in zip(doc.ents, ids, strict=True)
    ]
    for ent in doc.ents:
        for name, attribute in ASSERTIONS.items():
            ent._.set(attribute, name in SAID[ent.text])
    return doc


def test_what_nobody_looked_for_is_not_known():
    doc = spacy.blank("en")("fever")
    assert get_assertions(doc[0:1]) is None


def test_documents_tell_what_a_text_says_of_its_mentions(doc):
    assert {each.text: each.assertions for each in read_document(doc, 1).mentions} == SAID


@pytest.fixture
def exported(doc, tmp_path):
    def export(name, **options):
        export_docs([doc], tmp_path / name, **options)
        return (tmp_path / name).read_text(encoding="utf8")

    return export


def test_jsonl_and_csv_list_them(exported):
    (line,) = exported("found.jsonl").splitlines()
    ents = json.loads(line)["ents"]
    assert {each["text"]: tuple(each["assertions"]) for each in ents} == SAID
    rows = csv.DictReader(exported("found.csv").splitlines())
    assert {each["text"]: each["assertions"] for each in rows} == {
        text: "|".join(said) for text, said in SAID.items()
    }


def test_parquet_lists_them(doc, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    export_docs([doc], tmp_path / "found.parquet")
    (row,) = parquet.read_table(tmp_path / "found.parquet").to_pylist()
    assert {each["text"]: tuple(each["assertions"]) for each in row["mentions"]} == SAID


def test_bioc_has_an_infon(exported):
    annotations = json.loads(exported("found.bioc.json"))["documents"][0]["passages"][0]
    found = {each["text"]: each["infons"] for each in annotations["annotations"]}
    assert found["fever"]["assertions"] == "negated"
    assert "assertions" not in found["Cough"]


def test_brat_has_attributes(doc, tmp_path):
    export_docs([doc], tmp_path / "brat", format="brat")
    lines = (tmp_path / "brat" / "1.ann").read_text(encoding="utf8").splitlines()
    assert [line for line in lines if line.startswith("A")] == [
        "A1\tNegated T1",
        "A2\tFamily T2",
        "A3\tHistory T3",
    ]
    assert "Negated\tArg:<ENTITY>" in (tmp_path / "brat" / "annotation.conf").read_text()


def test_omop_says_what_the_patient_does_not_have(exported):
    rows = csv.DictReader(exported("found.omop.csv").splitlines())
    found = {each["lexical_variant"]: (each["term_exists"], each["term_temporal"]) for each in rows}
    assert found == {
        "fever": ("N", ""),
        "asthma": ("N", ""),
        "stroke": ("Y", "Past"),
        "Cough": ("Y", ""),
    }


def test_fhir_refutes_and_knows_relatives(exported):
    resources = {
        "Observation": Observation,
        "Condition": Condition,
        "FamilyMemberHistory": FamilyMemberHistory,
    }
    for kind in ("Observation", "Condition"):
        text = exported(f"{kind}.fhir.ndjson", resource=kind)
        fever, asthma, stroke, cough = map(json.loads, text.splitlines())
        for each in (fever, asthma, stroke, cough):
            resources[each["resourceType"]].model_validate(each)
        assert asthma["resourceType"] == "FamilyMemberHistory"
        assert asthma["condition"][0]["code"]["text"] == "asthma"
        if kind == "Observation":
            assert fever["valueBoolean"] is False and "valueBoolean" not in cough
        else:
            codes = [each["verificationStatus"]["coding"][0]["code"] for each in (fever, cough)]
            assert codes == ["refuted", "unconfirmed"]


def test_pubtator_warns_that_it_has_no_place_for_them(exported):
    with pytest.warns(ConnormWarning, match="CNW770.*relative"):
        assert "Cough" in exported("found.pubtator")
