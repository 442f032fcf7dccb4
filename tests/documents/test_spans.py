"""What is read from documents and written on their spans."""

import csv
import json

import pytest
import spacy
from fhir.resources.R4B.condition import Condition
from fhir.resources.R4B.familymemberhistory import FamilyMemberHistory
from fhir.resources.R4B.observation import Observation
from nil_settings import nil_below
from spacy import displacy
from spacy.tokens import Doc, DocBin, Span

from spacy_connorm import Candidate
from spacy_connorm.documents import export_docs
from spacy_connorm.documents.document import read_document
from spacy_connorm.documents.spans import (
    get_assertions,
    get_candidates,
    get_possibility,
    register_assertion_attributes,
    register_span_attributes,
    set_assertions,
    set_span_attributes,
)
from spacy_connorm.errors import ConnormError, ConnormWarning

TEXT = "An MI and a cold after aspirin."


@pytest.fixture(autouse=True)
def same_attributes_afterwards():
    from spacy.tokens.underscore import Underscore

    before = dict(Underscore.span_extensions)
    yield
    Underscore.span_extensions = before


def kb_ids(spans):
    return [(span.text, span.kb_id_) for span in spans]


def candidate_ids(spans):
    return [[candidate.concept_id for candidate in span._.candidates][:1] for span in spans]


def with_spans(pipeline, text=TEXT, key="sc"):
    """A document whose mentions stand in a group of spans, some of them overlapping."""
    doc = pipeline.make_doc(text)
    doc.spans[key] = [Span(doc, 1, 2, label="Disease"), Span(doc, 1, 5, label="Disease")]
    return doc


def test_entities_get_ids_and_candidates(pipeline):
    doc = pipeline(TEXT)
    assert kb_ids(doc.ents) == [("MI", "C2"), ("cold", "C3"), ("aspirin", "C6")]
    assert candidate_ids(doc.ents) == [["C2"], ["C3"], ["C6"]]
    assert [token.ent_kb_id_ for token in doc][:3] == ["", "C2", ""]


def test_candidate_tells_all_about_itself(pipeline):
    (first, *_) = pipeline("An MI.").ents[0]._.candidates
    itself = Candidate("C2", "heart attack", 1.0, "MI", "OD-T", searched="MI")
    assert first == itself._replace(probability=first.probability)
    assert first.probability == pytest.approx(0.95, abs=0.001)


def test_groups_of_spans_get_ids_and_candidates(make_pipeline):
    nlp = make_pipeline(spans_key="sc")
    doc = nlp.get_pipe("concept_normalizer")(with_spans(nlp))
    assert kb_ids(doc.spans["sc"])[0] == ("MI", "C2")
    assert all(span.kb_id_ and span._.candidates for span in doc.spans["sc"])
    assert not doc.ents


def test_missing_group_of_spans_is_told(make_pipeline):
    with pytest.warns(ConnormWarning, match="CNW002.*'sc'") as told:
        doc = make_pipeline(spans_key="sc")(TEXT)
    assert len(told) == 1
    assert kb_ids(doc.ents)[0] == ("MI", "")


def test_an_empty_group_of_spans_stays_empty(make_pipeline):
    nlp = make_pipeline(spans_key="sc")
    doc = nlp.make_doc(TEXT)
    doc.spans["sc"] = []
    assert len(nlp.get_pipe("concept_normalizer")(doc).spans["sc"]) == 0


@pytest.mark.parametrize("text", ["", "  ", "No mention."])
def test_document_without_mentions(pipeline, text):
    assert pipeline(text).ents == ()


def test_only_spans_with_the_labels(make_pipeline):
    doc = make_pipeline(labels=["Chemical"])(TEXT)
    assert kb_ids(doc.ents) == [("MI", ""), ("cold", ""), ("aspirin", "C6")]
    assert candidate_ids(doc.ents) == [[], [], ["C6"]]


@pytest.mark.parametrize(
    "words",
    [
        ["x" * 10_000],
        ["heart\0attack"],
        ["التهاب", "الكبد", "\u202eשלום"],
        ["😀🫀", "attack"],
        [" \t"],
    ],
    ids=["long", "NUL", "right to left", "emoji", "white space"],
)
def test_odd_mention_is_answered_or_nil(pipeline, words):
    doc = Doc(pipeline.vocab, words=words)
    doc.spans["sc"] = [Span(doc, 0, len(doc), label="Disease")]
    normalizer = pipeline.get_pipe("concept_normalizer")
    normalizer.cfg["spans_key"] = "sc"
    (span,) = normalizer(doc).spans["sc"]
    assert (span.kb_id_ == "NIL") == (not span._.candidates)


def test_under_the_nil_threshold_the_candidates_keep_their_scores(make_pipeline):
    plain = make_pipeline()("A head spinning.").ents[0]
    strict = make_pipeline(**nil_below(0.9))("A head spinning.").ents[0]
    assert strict.kb_id_ == strict._.kb_id == "NIL"
    scores = [[candidate.score for candidate in span._.candidates] for span in (plain, strict)]
    assert scores[0] == scores[1]


def test_at_the_nil_threshold_there_is_an_answer(make_pipeline):
    assert kb_ids(make_pipeline(**nil_below(1.0))("An MI.").ents) == [("MI", "C2")]


def test_scispacys_attribute(pipeline):
    ent = pipeline("An MI.").ents[0]
    concept_id, score = ent._.kb_ents[0]
    assert (concept_id, score) == ("C2", 1.0)
    assert len(ent._.kb_ents) == len(ent._.candidates)


def test_span_that_no_normalizer_has_seen(pipeline):
    doc = pipeline(TEXT)
    seen, unseen = doc[1:2], doc[0:2]
    assert seen._.candidates and get_candidates(seen)
    assert get_candidates(unseen) is None
    assert (unseen._.candidates, unseen._.kb_id, unseen._.kb_ents) == ([], "", [])


@pytest.fixture
def two_normalizers(pipeline, make_normalizer, hashes):
    """A pipeline whose second normalizer finds symptoms only and has attributes of its own."""
    settings = {**hashes, "attribute_prefix": "symptom_", "types": ["Symptom"]}
    settings["nil_threshold"] = None
    second = pipeline.add_pipe("concept_normalizer", "second", config=settings)
    second.from_bytes(make_normalizer(**settings).to_bytes())
    return pipeline


def test_second_normalizer_leaves_the_answers_of_the_first(pipeline, two_normalizers):
    alone = pipeline(TEXT, disable=["second"])
    both = two_normalizers(TEXT)
    assert kb_ids(both.ents) == kb_ids(alone.ents)
    assert [e._.candidates for e in both.ents] == [e._.candidates for e in alone.ents]
    assert [e._.symptom_kb_id for e in both.ents] == ["C5"] * 3
    assert [len(e._.symptom_candidates) for e in both.ents] == [1, 1, 1]
    assert both.ents[0]._.symptom_kb_ents[0][0] == "C5"


@pytest.mark.parametrize("labels", [None, []])
def test_no_labels_are_all_labels_in_changed_settings_too(pipeline, labels):
    pipeline.get_pipe("concept_normalizer").cfg["labels"] = labels
    assert all(ent.kb_id_ for ent in pipeline(TEXT).ents)


def test_normalizers_of_different_labels_share_attributes(make_pipeline, make_normalizer, hashes):
    nlp = make_pipeline(**hashes, labels=["Disease"])
    settings = {**hashes, "labels": ["Chemical"]}
    second = nlp.add_pipe("concept_normalizer", "second", config=settings)
    second.from_bytes(make_normalizer(**settings).to_bytes())
    assert kb_ids(nlp(TEXT).ents) == [("MI", "C2"), ("cold", "C3"), ("aspirin", "C6")]


def test_normalizers_that_overwrite_each_other_are_warned_of(make_pipeline, hashes):
    nlp = make_pipeline(**hashes, labels=["Disease"])
    for labels in (None, ["Chemical", "Disease"]):
        with pytest.warns(ConnormWarning, match=r"CNW005.*'second'.*'concept_normalizer'"):
            nlp.add_pipe("concept_normalizer", "second", config={**hashes, "labels": labels})
        nlp.remove_pipe("second")


def test_loaded_prefix_is_readable(blank_pipeline, make_normalizer):
    nlp = blank_pipeline()
    saved = make_normalizer(attribute_prefix="saved_").to_bytes()
    Span.remove_extension("saved_kb_id")
    nlp.get_pipe("concept_normalizer").from_bytes(saved)
    assert nlp("An MI.").ents[0]._.saved_kb_id == "C2"


@pytest.mark.parametrize("name", ["mine_candidates", "mine_kb_id", "mine_kb_ents"])
def test_a_prefix_whose_attribute_is_registered_by_others_is_refused(blank_pipeline, name):
    Span.set_extension(name, default=None)
    with pytest.raises(ConnormError, match=f"CN005.*{name}"):
        blank_pipeline(attribute_prefix="mine_")


def test_attributes_are_registered_as_often_as_one_likes(make_pipeline):
    (span, *_) = make_pipeline(attribute_prefix="again_")(TEXT).ents
    names = ("again_candidates", "again_kb_id", "again_kb_ents")
    before = [(Span.get_extension(name), getattr(span._, name)) for name in names]
    assert before[1][1] == "C2"
    register_span_attributes("again_")
    assert [(Span.get_extension(name), getattr(span._, name)) for name in names] == before


def by_bytes(doc):
    return Doc(doc.vocab).from_bytes(doc.to_bytes())


def by_doc_bin(doc):
    stored = DocBin(docs=[doc], store_user_data=True).to_bytes()
    (restored,) = DocBin().from_bytes(stored).get_docs(doc.vocab)
    return restored


def by_joining(doc):
    first = Doc(doc.vocab, words=["One", "more", "."])
    return Doc.from_docs([first, doc])


def by_copying(doc):
    return doc.copy()


@pytest.mark.parametrize("pass_on", [by_bytes, by_doc_bin, by_joining, by_copying])
@pytest.mark.parametrize("spans_key", [None, "sc"])
def test_candidates_survive_what_passes_a_document_on(make_pipeline, pass_on, spans_key):
    def spans(doc):
        return doc.ents if spans_key is None else doc.spans[spans_key]

    nlp = make_pipeline(spans_key=spans_key)
    doc = with_spans(nlp)
    for _, pipe in nlp.pipeline:
        doc = pipe(doc)
    restored = pass_on(doc)
    assert kb_ids(spans(doc))[0] == ("MI", "C2")
    assert kb_ids(spans(restored)) == kb_ids(spans(doc))
    assert [s._.candidates for s in spans(restored)] == [s._.candidates for s in spans(doc)]
    assert all(isinstance(c, Candidate) for span in spans(restored) for c in span._.candidates)


def test_ids_are_links_in_displacy(make_pipeline):
    nlp = make_pipeline(kb_url_template="https://example.org/concept/{}")
    options = nlp.get_pipe("concept_normalizer").displacy_options
    html = displacy.render(nlp("An MI."), style="ent", options=options, jupyter=False)
    assert 'href="https://example.org/concept/C2"' in html


def test_displacy_works_without_links(pipeline):
    options = pipeline.get_pipe("concept_normalizer").displacy_options
    html = displacy.render(pipeline("An MI."), style="ent", options=options, jupyter=False)
    assert "C2" in html


KIND = "differential"
NOTE = "No fever. Mother had asthma. Past stroke. Cough. ?flu"
SAID = {
    "fever": ("negated",),
    "asthma": ("family",),
    "stroke": ("history",),
    "Cough": (),
    "flu": ("possible",),
}


@pytest.fixture
def doc():
    """A document as a normalizer and an assertion marker leave it."""
    register_span_attributes()
    register_assertion_attributes()
    doc = spacy.blank("en")(NOTE)
    doc.ents = [doc.char_span(NOTE.index(each), NOTE.index(each) + len(each), "F") for each in SAID]
    ids = ["C1", "C2", "C3", "C4", "C5"]
    set_span_attributes(doc, list(doc.ents), ids, [[]] * len(ids), prefix="")
    doc.ents = [
        Span(doc, ent.start, ent.end, "F", kb_id=kb_id)
        for ent, kb_id in zip(doc.ents, ids, strict=True)
    ]
    for ent in doc.ents:
        set_assertions(ent, SAID[ent.text], KIND if SAID[ent.text] == ("possible",) else "")
    return doc


def test_what_nobody_looked_for_is_not_known():
    doc = spacy.blank("en")("fever")
    assert get_assertions(doc[0:1]) is None


def test_an_attribute_of_another_component_is_not_a_kind_of_possibility(doc):
    flu, cough = doc.ents[4], doc.ents[3]
    assert (flu._.possibility, get_possibility(flu), get_possibility(cough)) == (KIND, KIND, "")
    flu._.possibility = 0.5
    assert get_possibility(flu) == ""


def test_documents_tell_what_a_text_says_of_its_mentions(doc):
    assert {mention.text: mention.assertions for mention in read_document(doc, 1).mentions} == SAID


@pytest.fixture
def exported(doc, tmp_path):
    def export(name, **options):
        export_docs([doc], tmp_path / name, **options)
        return (tmp_path / name).read_text(encoding="utf8")

    return export


def test_jsonl_and_csv_list_them(exported):
    (line,) = exported("found.jsonl").splitlines()
    ents = json.loads(line)["ents"]
    assert {ent["text"]: tuple(ent["assertions"]) for ent in ents} == SAID
    assert [ent.get("possibility") for ent in ents] == [None, None, None, None, KIND]
    rows = list(csv.DictReader(exported("found.csv").splitlines()))
    assert [row["possibility"] for row in rows] == ["", "", "", "", KIND]
    assert {row["text"]: row["assertions"] for row in rows} == {
        text: "|".join(said) for text, said in SAID.items()
    }


def test_parquet_lists_them(doc, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    export_docs([doc], tmp_path / "found.parquet")
    (row,) = parquet.read_table(tmp_path / "found.parquet").to_pylist()
    assert {mention["text"]: tuple(mention["assertions"]) for mention in row["mentions"]} == SAID
    assert [mention["possibility"] for mention in row["mentions"]] == [None, None, None, None, KIND]


def test_bioc_has_an_infon(exported):
    annotations = json.loads(exported("found.bioc.json"))["documents"][0]["passages"][0]
    found = {annotation["text"]: annotation["infons"] for annotation in annotations["annotations"]}
    assert found["fever"]["assertions"] == "negated"
    assert "assertions" not in found["Cough"]
    assert (found["flu"]["possibility"], "possibility" in found["Cough"]) == (KIND, False)


def test_brat_has_attributes(doc, tmp_path):
    export_docs([doc], tmp_path / "brat", format="brat")
    lines = (tmp_path / "brat" / "1.ann").read_text(encoding="utf8").splitlines()
    assert [line for line in lines if line.startswith("A")] == [
        "A1\tNegated T1",
        "A2\tFamily T2",
        "A3\tHistory T3",
        "A4\tPossible T5",
    ]
    assert "Negated\tArg:<ENTITY>" in (tmp_path / "brat" / "annotation.conf").read_text()


def test_omop_says_what_the_patient_does_not_have(exported):
    rows = csv.DictReader(exported("found.omop.csv").splitlines())
    found = {row["lexical_variant"]: (row["term_exists"], row["term_temporal"]) for row in rows}
    assert found == {
        "fever": ("N", ""),
        "asthma": ("N", ""),
        "stroke": ("Y", "Past"),
        "Cough": ("Y", ""),
        "flu": ("N", ""),
    }


def test_fhir_refutes_and_knows_relatives(exported):
    resources = {
        "Observation": Observation,
        "Condition": Condition,
        "FamilyMemberHistory": FamilyMemberHistory,
    }
    for kind in ("Observation", "Condition"):
        text = exported(f"{kind}.fhir.ndjson", resource=kind)
        fever, asthma, stroke, cough, flu = map(json.loads, text.splitlines())
        for row in (fever, asthma, stroke, cough, flu):
            resources[row["resourceType"]].model_validate(row)
        assert asthma["resourceType"] == "FamilyMemberHistory"
        assert asthma["condition"][0]["code"]["text"] == "asthma"
        if kind == "Observation":
            assert fever["valueBoolean"] is False and "valueBoolean" not in cough
            assert flu["dataAbsentReason"]["coding"][0]["code"] == "unknown"
            assert "dataAbsentReason" not in cough
        else:
            findings = (fever, cough, flu)
            codes = [finding["verificationStatus"]["coding"][0]["code"] for finding in findings]
            assert codes == ["refuted", "unconfirmed", "differential"]


@pytest.mark.parametrize(
    "kind, code",
    [("suspected", "provisional"), ("hypothetical", "unconfirmed"), ("", "provisional")],
)
def test_fhir_knows_what_is_suspected(doc, exported, kind, code):
    doc.ents[4]._.possibility = kind
    flu = json.loads(exported("found.fhir.ndjson", resource="Condition").splitlines()[-1])
    assert flu["verificationStatus"]["coding"][0]["code"] == code


def test_pubtator_warns_that_it_has_no_place_for_them(exported):
    with pytest.warns(ConnormWarning, match="CNW770.*relative"):
        assert "Cough" in exported("found.pubtator")
