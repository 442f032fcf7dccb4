import json

import pytest
import spacy
from finding import make_finder
from nil_settings import nil_below
from spacy.tokens import DocBin

from spacy_connorm.concepts import Candidate, Concept, Ontology
from spacy_connorm.documents.document import DOC_ID_KEY, set_other_fields
from spacy_connorm.errors import ConnormError, ConnormWarning
from spacy_connorm.workflows import AnnotationCounts, annotate

NOTES = [
    {"text": "Took aspirin for a cold.", "id": 7, "meta": {"ward": "B"}},
    {"text": "Nothing to find, 😀 at all."},
    {"text": ""},
]
ASPIRIN = {"start": 5, "end": 12, "text": "aspirin", "label": "Chemical", "kb_id": "C6"}


@pytest.fixture
def notes(tmp_path):
    path = tmp_path / "notes.jsonl"
    path.write_text("\n".join(map(json.dumps, NOTES)) + "\n\n", encoding="utf8")
    return path


def read(path):
    return [json.loads(line) for line in path.read_text(encoding="utf8").splitlines()]


def test_json_lines_keep_their_fields(pipeline, notes, tmp_path, capsys):
    out = tmp_path / "new" / "annotated.jsonl"
    assert annotate(pipeline, notes, out) == AnnotationCounts(texts=3, mentions=2, linked=2)
    assert capsys.readouterr() == ("", "")
    first, *others = read(out)
    aspirin, cold = first.pop("ents")
    assert first == NOTES[0]
    candidates = aspirin.pop("candidates")
    assert aspirin == ASPIRIN
    assert candidates[0]["concept_id"] == "C6"
    assert set(candidates[0]) == set(Candidate._fields)
    assert cold["kb_id"] == "C3"
    assert others == [{**note, "ents": []} for note in NOTES[1:]]


def test_processes_share_the_work(pipeline, notes, tmp_path):
    one, two = tmp_path / "one.jsonl", tmp_path / "two.jsonl"
    pipeline.to_disk(tmp_path / "pipeline")
    counts = annotate(tmp_path / "pipeline", notes, one)
    assert annotate(str(tmp_path / "pipeline"), notes, two, n_process=2, batch_size=1) == counts
    assert read(one) == read(two)


def test_a_text_file_is_one_text(pipeline, tmp_path):
    note, out = tmp_path / "note.txt", tmp_path / "out.jsonl"
    note.write_text("Took aspirin\nfor a cold.\n", encoding="utf8")
    annotate(pipeline, note, out)
    (record,) = read(out)
    assert record["text"] == "Took aspirin\nfor a cold.\n"
    assert record["ents"][0]["kb_id"] == "C6"


def test_each_text_file_of_a_folder_has_its_name_as_id(pipeline, tmp_path):
    folder = tmp_path / "notes"
    (folder / "older").mkdir(parents=True)
    for name in ("b.2.txt", "a.TXT", "_c.txt", "._a.txt", "readme.md", "older/d.txt"):
        (folder / name).write_text(f"Took aspirin: {name}.", encoding="utf8")
    counts = annotate(pipeline, folder, tmp_path / "out.jsonl")
    assert (counts.texts, counts.linked) == (2, 2)
    found = [(row["id"], row["text"]) for row in read(tmp_path / "out.jsonl")]
    assert found == [("a", "Took aspirin: a.TXT."), ("b.2", "Took aspirin: b.2.txt.")]
    annotate(pipeline, folder, tmp_path / "out.pubtator")
    written = (tmp_path / "out.pubtator").read_text(encoding="utf8")
    assert "a|t|" in written and "b.2|t|" in written


def test_offsets_count_line_ends_as_they_are_but_no_byte_order_mark(pipeline, tmp_path):
    note, out = tmp_path / "note.txt", tmp_path / "out.jsonl"
    text = "Took\r\nno\raspirin.\r\n"
    note.write_text(text, encoding="utf-8-sig", newline="")
    table = tmp_path / "notes.csv"
    table.write_text(f'nr,text\r\n1,"{text}"\r\n', encoding="utf-8-sig", newline="")
    for path in (note, table):
        annotate(pipeline, path, out)
        (record,) = read(out)
        (ent,) = record["ents"]
        assert record["text"] == text
        assert text[ent["start"] : ent["end"]] == ent["text"] == "aspirin"


def test_rows_of_a_table_are_texts(pipeline, tmp_path):
    table, out = tmp_path / "notes.csv", tmp_path / "out.jsonl"
    table.write_text(',note;nr\n0,"Took aspirin\nfor a cold.";x\n'.replace(",", ";"), "utf8")
    counts = annotate(pipeline, table, out, text_field="note", id_field="nr")
    (record,) = read(out)
    assert (counts.texts, record["text"]) == (1, "Took aspirin\nfor a cold.")
    assert record["ents"][0]["kb_id"] == "C6"
    assert {key for key in record if key not in ("text", "ents")} == {"nr"}


def test_numbers_that_json_lacks_become_null(pipeline, tmp_path):
    notes, out = tmp_path / "notes.jsonl", tmp_path / "out.jsonl"
    notes.write_text('{"text": "aspirin", "dose": NaN, "most": [1e999, -Infinity, 1.5]}\n')
    annotate(pipeline, notes, out)
    (record,) = read(out)
    assert (record["dose"], record["most"]) == (None, [None, None, 1.5])


def test_documents_keep_their_entities_and_fields(pipeline, notes, tmp_path):
    doc = spacy.blank("en")("Feels giddy.")
    doc.ents = [doc.char_span(6, 11, label="Symptom")]
    source, out = tmp_path / "in.spacy", tmp_path / "out.spacy"
    DocBin(docs=[doc]).to_disk(source)
    annotate(pipeline, source, out)
    (annotated,) = DocBin().from_disk(out).get_docs(pipeline.vocab)
    (ent,) = annotated.ents
    assert ent.text == "giddy" and ent.label_ == "Symptom" and ent.kb_id_
    annotate(pipeline, notes, out)
    annotate(pipeline, out, tmp_path / "again.jsonl")
    assert read(tmp_path / "again.jsonl")[0]["id"] == 7


def test_nil_is_not_linked(pipeline, notes, tmp_path):
    pipeline.get_pipe("concept_normalizer").cfg |= nil_below(1.0)
    patterns = [{"label": "X", "pattern": "for a"}]
    pipeline.add_pipe("entity_ruler", "more", before="concept_normalizer").add_patterns(patterns)
    counts = annotate(pipeline, notes, tmp_path / "out.jsonl")
    assert counts == AnnotationCounts(texts=3, mentions=3, linked=2)


def test_linked_mentions_without_a_code_are_counted(pipeline, notes, tmp_path):
    pipeline.get_pipe("concept_normalizer").cfg["code_systems"] = ["OMIM", "UMLS"]
    with pytest.raises(ConnormError, match="CN413.*'OMIM'"):
        annotate(pipeline, notes, tmp_path / "out.jsonl")
    concepts = [Concept("D900006", "aspirin", xrefs=("ATC:N02BA01",)), Concept("D900003", "cold")]
    normalizer = pipeline.get_pipe("concept_normalizer")
    normalizer.cfg["code_systems"] = []
    normalizer.initialize(lambda: [], ontology=Ontology(concepts))
    normalizer.cfg["code_systems"] = ["ATC", "MESH"]
    counts = annotate(pipeline, notes, tmp_path / "out.jsonl")
    assert counts.without_code == {"ATC": 1}
    aspirin = read(tmp_path / "out.jsonl")[0]["ents"][0]
    assert aspirin["candidates"][0]["codes"] == {"ATC": ["N02BA01"], "MESH": ["D900006"]}


def test_a_prefix_and_labels_are_minded(notes, tmp_path, make_pipeline):
    nlp = make_pipeline(attribute_prefix="x_", labels=["Chemical"])
    annotate(nlp, notes, tmp_path / "out.jsonl")
    aspirin, cold = read(tmp_path / "out.jsonl")[0]["ents"]
    assert aspirin["kb_id"] == "C6" and aspirin["candidates"]
    assert (cold["kb_id"], cold["candidates"]) == ("", [])


def test_a_pipeline_that_finds_no_mentions_is_told(demo_index, notes, tmp_path, recwarn):
    with pytest.warns(ConnormWarning, match="CNW701"):
        annotate(demo_index, notes, tmp_path / "out.jsonl")
    recwarn.clear()
    (tmp_path / "none.jsonl").touch()
    annotate(demo_index, tmp_path / "none.jsonl", tmp_path / "out.jsonl")
    assert not [warning for warning in recwarn if warning.category is ConnormWarning]


@pytest.mark.parametrize("suffix", ["jsonl", "spacy"])
def test_lone_surrogates_are_replaced(pipeline, tmp_path, suffix):
    note = {"text": "\ud800 aspirin, \U0001f600", "ward \udc01": ["\ud83d"]}
    source, out = tmp_path / "odd.jsonl", tmp_path / f"out.{suffix}"
    source.write_text(json.dumps(note))
    with pytest.warns(ConnormWarning, match=r"CNW202.* 3\b"):
        annotate(pipeline, source, out)
    if suffix == "jsonl":
        (record,) = read(out)
        assert record["text"] == "\ufffd aspirin, \U0001f600"
        assert record["ents"][0]["start"] == 2
        assert record["ward \ufffd"] == ["\ufffd"]


@pytest.mark.parametrize(
    ("content", "code"),
    [
        ("no JSON", "CN707.*no JSON object"),
        ("[1]", "CN707.*no JSON object"),
        ('{"text": null}', "CN707.*found null"),
        ('"text"', "CN707"),
        ('{"txt": "a"}', "CN707"),
        ('{"text": 1}', "CN707"),
        ("[" * 100_000, "CN707"),
        (json.dumps({"text": "a " * 500_001}), "CN709"),
    ],
    ids=["text", "list", "null", "string", "no text", "number", "deep", "long"],
)
def test_a_bad_line_is_named_and_the_old_file_stays(pipeline, tmp_path, content, code):
    bad, out = tmp_path / "bad.jsonl", tmp_path / "out.jsonl"
    out.write_text("old")
    bad.write_text(f'{{"text": "fine"}}\n{content}\n')
    with pytest.raises(ConnormError, match=code) as raised:
        annotate(pipeline, bad, out)
    assert "line 2" in str(raised.value)
    assert out.read_text() == "old"


@pytest.mark.parametrize(
    ("source", "target", "options", "code"),
    [
        ("nowhere.jsonl", "out.jsonl", {}, "CN100"),
        ("notes.docx", "out.jsonl", {}, "CN708"),
        ("notes.jsonl", "out.jsonl", {"text_field": "note"}, "CN707.*line 1.*text, id, meta"),
        ("notes.jsonl", "out.jsonl", {"id_field": "nr"}, "CN720.*line 1.*'nr'.*id, meta"),
        ("notes.jsonl", "out.fhir.json", {"subject_field": "who"}, "CN720.*line 1.*'who'"),
        ("notes.csv", "out.jsonl", {"text_field": "note"}, "CN114.*'note'.*nr, text"),
        ("notes.csv", "out.jsonl", {"id_field": "id"}, "CN115.*line 3.*3 fields.*2"),
        ("notes.csv", "out.jsonl", {"id_field": "note_nr"}, "CN114.*'note_nr'.*nr, text"),
        ("twice.csv", "out.jsonl", {}, "CN125.*twice.csv.*'nr'"),
        ("note.txt", "out.jsonl", {"text_field": "note"}, "CN721.*note.txt.*'note'"),
        ("nowhere.txt", "out.jsonl", {}, "CN100"),
        ("empty", "out.jsonl", {}, r"CN104.*empty.*\.txt.*--engine"),
        ("empty", "out.jsonl", {"id_field": "nr"}, "CN721.*empty.*'nr'"),
        ("latin1.txt", "out.jsonl", {}, "CN107.*line 3"),
        ("bad.spacy", "out.jsonl", {"text_field": "note"}, "CN721.*bad.spacy.*'note'"),
        ("docs.spacy", "out.jsonl", {"id_field": "nr"}, "CN720.*docs.*document 1.*'nr'.*: ward"),
        ("docs.spacy", "out.fhir.json", {"subject_field": "who"}, "CN720.*document 1.*'who'"),
        ("notes.jsonl", "out.docx", {}, "CN111"),
        ("bad.spacy", "out.spacy", {}, "CN220"),
        ("notes.jsonl", "notes.jsonl/out.jsonl", {}, "CN108"),
        ("notes.jsonl", "out.jsonl", {"gpu_id": 99}, "CN713"),
        ("notes.jsonl", "out.jsonl", {"n_process": 0}, "CN006"),
        ("notes.jsonl", "out.jsonl", {"batch_size": 0}, "CN006.*batch_size"),
        ("notes.jsonl", "out.jsonl", {"component": "ner"}, "CN704"),
    ],
)
def test_bad_input(pipeline, notes, tmp_path, source, target, options, code):
    (tmp_path / "bad.spacy").write_text("no documents")
    DocBin(docs=[_with_fields(pipeline, ward="7")], store_user_data=True).to_disk(
        tmp_path / "docs.spacy"
    )
    (tmp_path / "note.txt").write_text("fine")
    (tmp_path / "empty").mkdir()
    (tmp_path / "twice.csv").write_text("nr,text,,nr,\n1,fine,,2,\n")
    (tmp_path / "latin1.txt").write_bytes("a\n\nFi\xe8vre".encode("latin1"))
    (tmp_path / "notes.csv").write_text("nr,text\n1,fine\n2,no, quotation marks\n")
    with pytest.raises(ConnormError, match=code):
        annotate(pipeline, tmp_path / source, tmp_path / target, **options)
    assert not (tmp_path / "out.jsonl").exists()


def test_a_list_of_texts_in_place_of_a_file_is_refused(pipeline, tmp_path):
    with pytest.raises(ConnormError, match="CN006.*input_path.*nlp.pipe.*type list"):
        annotate(pipeline, ["Took aspirin."], tmp_path / "out.csv")


def _with_fields(pipeline, **fields):
    doc = pipeline.make_doc("Took aspirin.")
    set_other_fields(doc, fields)
    return doc


@pytest.mark.parametrize(
    ("name", "content", "options", "told"),
    [
        ("a.jsonl", '{"text": "fine"}\n{"text": "aspirin", "ents": 1}\n', {}, "2.*'ents'"),
        ("a.csv", "text,ents\naspirin,1\n", {}, "1.*'ents'"),
        ("a.jsonl", '{"note": "aspirin", "text": 1}\n', {"text_field": "note"}, "1.*'text'"),
    ],
)
def test_fields_that_would_be_lost_are_refused(pipeline, tmp_path, name, content, options, told):
    (tmp_path / name).write_text(content)
    with pytest.raises(ConnormError, match=f"CN774.*number {told}.*jsonl"):
        annotate(pipeline, tmp_path / name, tmp_path / "out.jsonl", **options)
    assert not (tmp_path / "out.jsonl").exists()
    annotate(pipeline, tmp_path / name, tmp_path / "out.parquet", **options)


@pytest.mark.parametrize(
    ("fields", "options", "doc_id"),
    [
        ({"nr": 7}, {"id_field": "nr"}, "7"),
        ({}, {"id_field": "id"}, "corpus 1"),
    ],
)
def test_documents_have_the_ids_of_their_fields_or_corpus(
    pipeline, tmp_path, fields, options, doc_id
):
    doc, out = _with_fields(pipeline, **fields), tmp_path / "out.csv"
    doc.user_data[DOC_ID_KEY] = "corpus 1"
    DocBin(docs=[doc], store_user_data=True).to_disk(tmp_path / "docs.spacy")
    annotate(pipeline, tmp_path / "docs.spacy", out, **options)
    assert out.read_text(encoding="utf8").splitlines()[1].startswith(f"{doc_id},")


@pytest.mark.parametrize("suffix", ["bioc.json", "fhir.json", "omop.csv", "pubtator", "spacy"])
def test_processes_write_the_same_in_every_format(pipeline, notes, tmp_path, suffix):
    one, two = tmp_path / f"one.{suffix}", tmp_path / f"two.{suffix}"
    options = {"id_field": "meta", "batch_size": 1}
    assert annotate(pipeline, notes, one, **options).changes == {}
    annotate(pipeline, notes, two, n_process=2, **options)
    if suffix == "spacy":
        docs = [DocBin().from_disk(path).get_docs(pipeline.vocab) for path in (one, two)]
        assert [doc.to_json() for doc in docs[0]] == [doc.to_json() for doc in docs[1]]
    else:
        assert one.read_text(encoding="utf8") == two.read_text(encoding="utf8")


def test_what_a_format_cannot_hold_is_told(pipeline, tmp_path):
    source, out = tmp_path / "odd.jsonl", tmp_path / "out.pubtator"
    source.write_text('{"text": "Took aspirin.", "note": "a b"}\n' * 3, encoding="utf8")
    with (
        pytest.warns(ConnormWarning, match="CNW770.*ids of documents.*times: 3"),
        pytest.warns(ConnormWarning, match="CNW770.*repeated ids.*times: 2"),
    ):
        annotate(pipeline, source, out, id_field="note", n_process=2, batch_size=1)
    lines = out.read_text(encoding="utf8").splitlines()
    titles = [f"{doc_id}|t|Took aspirin." for doc_id in ("a_b", "a_b-2", "a_b-3")]
    assert [line for line in lines if "|t|" in line] == titles


def test_mentions_inside_longer_ones_are_written_if_asked_for(tmp_path):
    nlp = make_finder([Concept("C1", "heart attack"), Concept("C2", "heart")])
    (tmp_path / "note.txt").write_text("A heart attack.")
    found = []
    for nested in (False, True):
        annotate(nlp, tmp_path / "note.txt", tmp_path / "out.jsonl", nested_mentions=nested)
        (line,) = (tmp_path / "out.jsonl").read_text().splitlines()
        found.append([(ent["text"], ent["kb_id"]) for ent in json.loads(line)["ents"]])
    assert found == [
        [("heart attack", "C1")],
        [("heart", "C2"), ("heart attack", "C1")],
    ]
