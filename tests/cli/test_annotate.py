import json

import pytest
import spacy
from spacy.tokens import DocBin

from spacy_connorm.cli.annotate import _describe
from spacy_connorm.concepts import Candidate

NOTES = [
    {"text": "Took aspirin for a cold.", "id": 7, "meta": {"ward": "B"}},
    {"text": "Nothing to find, 😀 at all."},
    {"text": ""},
]
ASPIRIN = {"start": 5, "end": 12, "text": "aspirin", "label": "Chemical", "kb_id": "C6"}


@pytest.fixture
def folder(tmp_path, pipeline, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pipeline.to_disk("pipeline")
    lines = "\n".join(json.dumps(note) for note in NOTES)
    (tmp_path / "notes.jsonl").write_text(lines + "\n\n", encoding="utf8")
    (tmp_path / "note.txt").write_text("Took aspirin\nfor a cold.\n", encoding="utf8")
    return tmp_path


def read(path):
    return [json.loads(line) for line in path.read_text(encoding="utf8").splitlines()]


def test_json_lines_keep_their_fields(invoke, words, folder):
    result = invoke("annotate", "pipeline", "notes.jsonl", "out/annotated.jsonl")
    assert result.exit_code == 0, result.output
    assert "3 texts with 2 mentions, 2 of them linked" in words(result)
    first, *others = read(folder / "out" / "annotated.jsonl")
    aspirin, cold = first.pop("ents")
    assert first == NOTES[0]
    candidates = aspirin.pop("candidates")
    assert aspirin == ASPIRIN
    assert candidates[0]["concept_id"] == "C6"
    assert set(candidates[0]) == set(Candidate._fields)
    assert cold["kb_id"] == "C3"
    assert others == [{**note, "ents": []} for note in NOTES[1:]]


def test_processes_share_the_work(invoke, folder):
    for arguments in (["one.jsonl"], ["two.jsonl", "--n-process", "2", "--batch-size", "1"]):
        result = invoke("annotate", "pipeline", "notes.jsonl", *arguments)
        assert result.exit_code == 0, result.output
    assert read(folder / "one.jsonl") == read(folder / "two.jsonl")


def test_a_text_file_is_one_text(invoke, folder):
    assert invoke("annotate", "pipeline", "note.txt", "out.jsonl").exit_code == 0
    (record,) = read(folder / "out.jsonl")
    assert record["text"] == "Took aspirin\nfor a cold."
    assert record["ents"][0]["kb_id"] == "C6"


def test_documents_keep_their_entities(invoke, folder):
    doc = spacy.blank("en")("Feels giddy.")
    doc.ents = [doc.char_span(6, 11, label="Symptom")]
    DocBin(docs=[doc]).to_disk("in.spacy")
    assert invoke("annotate", "pipeline", "in.spacy", "out.spacy").exit_code == 0
    (annotated,) = DocBin().from_disk("out.spacy").get_docs(spacy.load("pipeline").vocab)
    (ent,) = annotated.ents
    assert ent.text == "giddy" and ent.label_ == "Symptom" and ent.kb_id_
    assert invoke("annotate", "pipeline", "notes.jsonl", "out.spacy").exit_code == 0
    assert invoke("annotate", "pipeline", "out.spacy", "again.jsonl").exit_code == 0
    assert read(folder / "again.jsonl")[0]["id"] == 7


def test_all_parts_of_a_composite_are_shown():
    candidates = [
        {"part": 1, "name": "cough", "score": 1.0},
        {"part": 1, "name": "cold", "score": 0.5},
        {"part": 2, "name": "fever", "score": 0.9},
    ]
    ent = {"kb_id": "C1|C2", "candidates": candidates}
    assert _describe(ent) == ("cough | fever", "0.90")


def test_what_is_found_is_shown(invoke, words, pipeline, folder):
    pipeline.get_pipe("concept_normalizer").cfg["nil_threshold"] = 1.0
    pipeline.add_pipe("entity_ruler", "more", before="concept_normalizer").add_patterns(
        [{"label": "X", "pattern": "for a"}, {"label": "X", "pattern": "😀"}]
    )
    pipeline.to_disk("pipeline")
    shown = words(invoke("annotate", "pipeline", "notes.jsonl", "out.jsonl", "--show"))
    assert "Took aspirin for a cold." in shown
    assert "aspirin C6 aspirin 1.00" in shown
    assert "for a NIL (nearest:" in shown
    assert "😀 NIL" in shown
    assert "4 mentions, 2 of them linked" in shown


def test_a_prefix_and_labels_are_minded(invoke, folder, make_pipeline):
    nlp = make_pipeline(attribute_prefix="x_", labels=["Chemical"])
    nlp.to_disk("prefixed")
    assert invoke("annotate", "prefixed", "notes.jsonl", "out.jsonl").exit_code == 0
    aspirin, cold = read(folder / "out.jsonl")[0]["ents"]
    assert aspirin["kb_id"] == "C6" and aspirin["candidates"]
    assert (cold["kb_id"], cold["candidates"]) == ("", [])


def test_a_pipeline_that_finds_no_mentions_is_told(invoke, folder, demo_index):
    result = invoke("annotate", demo_index, "notes.jsonl", "out.jsonl")
    assert result.exit_code == 0
    assert "CNW701" in result.output


def test_no_texts_are_no_sign_of_a_missing_component(invoke, folder):
    (folder / "none.jsonl").touch()
    result = invoke("annotate", "pipeline", "none.jsonl", "out.jsonl")
    assert result.exit_code == 0
    assert "CNW701" not in result.output


@pytest.mark.parametrize("suffix", ["jsonl", "spacy"])
def test_lone_surrogates_are_replaced(invoke, words, folder, suffix):
    note = {"text": "\ud800 aspirin, \U0001f600", "ward \udc01": ["\ud83d"]}
    (folder / "odd.jsonl").write_text(json.dumps(note))
    result = invoke("annotate", "pipeline", "odd.jsonl", f"out.{suffix}")
    assert result.exit_code == 0, result.output
    assert "CNW202" in result.output
    assert words(result).count("stay valid: 3.") == 1
    if suffix == "jsonl":
        (record,) = read(folder / "out.jsonl")
        assert record["text"] == "\ufffd aspirin, \U0001f600"
        assert record["ents"][0]["start"] == 2
        assert record["ward \ufffd"] == ["\ufffd"]


@pytest.mark.parametrize(
    ("content", "code"),
    [
        ("no JSON", "CN707"),
        ("[1]", "CN707"),
        ('"text"', "CN707"),
        ('{"txt": "a"}', "CN707"),
        ('{"text": 1}', "CN707"),
        ("[" * 100_000, "CN707"),
        (json.dumps({"text": "a " * 500_001}), "CN709"),
    ],
)
def test_a_bad_line_is_named_and_the_old_file_stays(invoke, refused, words, folder, content, code):
    (folder / "out.jsonl").write_text("old")
    (folder / "bad.jsonl").write_text(f'{{"text": "fine"}}\n{content}\n')
    result = invoke("annotate", "pipeline", "bad.jsonl", "out.jsonl")
    refused(result, code)
    assert "line 2" in words(result)
    assert (folder / "out.jsonl").read_text() == "old"


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["nowhere.jsonl", "out.jsonl"], "CN100"),
        (["nowhere.spacy", "out.jsonl"], "CN100"),
        (["notes.csv", "out.jsonl"], "CN708"),
        (["notes.jsonl", "out.csv"], "CN708"),
        (["bad.spacy", "out.spacy"], "CN706"),
        (["notes.jsonl", "note.txt/out.jsonl"], "CN108"),
        (["notes.jsonl", "out.jsonl", "--gpu-id", "99"], "CN713"),
        (["notes.jsonl", "out.jsonl", "--n-process", "0"], "CN006"),
        (["notes.jsonl", "out.jsonl", "--component", "ner"], "CN704"),
    ],
)
def test_bad_input(invoke, refused, folder, arguments, code):
    (folder / "bad.spacy").write_text("no documents")
    refused(invoke("annotate", "pipeline", *arguments), code)
    assert not (folder / "out.jsonl").exists()
