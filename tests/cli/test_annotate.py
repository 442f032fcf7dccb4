import json

import pytest
from nil_settings import nil_below

from spacy_connorm import Candidate
from spacy_connorm.cli.annotate import _mention_rows
from spacy_connorm.documents import EXPORT_FORMATS


@pytest.fixture
def folder(tmp_path, pipeline, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pipeline.get_pipe("concept_normalizer").cfg |= nil_below(1.0)
    pipeline.add_pipe("entity_ruler", "more", before="concept_normalizer").add_patterns(
        [{"label": "X", "pattern": "for a"}, {"label": "X", "pattern": "😀"}]
    )
    pipeline.to_disk("pipeline")
    notes = ["Took aspirin for a cold.", "Nothing to find, 😀 at all."]
    lines = "\n".join(json.dumps({"text": note, "note": "A7", "who": "3"}) for note in notes)
    (tmp_path / "notes.jsonl").write_text(lines, encoding="utf8")
    return tmp_path


def test_annotate_prints_counts(invoke, words, folder):
    options = ("--n-process", "1", "--batch-size", "1", "--component", "concept_normalizer")
    result = invoke("annotate", "pipeline", "notes.jsonl", "out.jsonl", *options)
    assert result.exit_code == 0, result.output
    assert "Wrote out.jsonl (texts: 2, mentions: 4, linked: 2)" in words(result)
    assert "aspirin" not in result.output
    assert len((folder / "out.jsonl").read_text(encoding="utf8").splitlines()) == 2


def test_warnings_are_shown(invoke, words, folder, demo_index):
    result = invoke("annotate", demo_index, "notes.jsonl", "out.jsonl")
    assert result.exit_code == 0
    assert "[CNW701]" in words(result)


def test_every_format_is_written_and_says_what_it_lacks(invoke, words, folder):
    for name, options, lacks in (
        ("a.csv", (), "other fields (texts: 2)"),
        ("a.pubtator", ("--id-field", "note"), "candidates"),
        ("a.xml", ("--date", "2024-05-31"), ""),
        ("a.json", ("--format", "bioc-json"), ""),
        ("a", ("--format", "brat", "--database", "MINE"), "other fields"),
        ("a.omop.csv", ("--omop-concept-ids",), "further candidates"),
        ("a.fhir.json", ("--resource", "Condition", "--system", "urn:x"), "fields"),
        ("a.ndjson", ("--format", "fhir-ndjson", "--subject-field", "who"), "texts"),
        ("a.parquet", (), ""),
    ):
        result = invoke("annotate", "pipeline", "notes.jsonl", name, *options)
        assert result.exit_code == 0, result.output
        told = words(result)
        assert f"Wrote {name} (texts: 2, mentions: 4, linked: 2)" in told
        assert ("has no place for" in told) == bool(lacks) and lacks in told
    assert "Reference T1 MINE:C6" in (folder / "a" / "1.ann").read_text(encoding="utf8")


def test_annotate_refuses_missing_files_and_options_of_other_formats(invoke, refused, folder):
    for arguments, code in (
        (["nowhere.jsonl", "out.jsonl"], "CN100"),
        (["notes.jsonl", "out.csv", "--resource", "Condition"], "CN113"),
    ):
        refused(invoke("annotate", "pipeline", *arguments), code)


def test_a_corpus_is_written_to_a_folder(invoke, words, folder):
    options = ("--engine", "local", "--text-field", "text", "--id-field", "id")
    result = invoke("annotate", "pipeline", "notes.jsonl", "out", *options)
    assert result.exit_code == 0, result.output
    assert "Wrote out (files: 1, texts: 2, mentions: 4, linked: 2)" in words(result)
    assert (folder / "out" / "notes.jsonl.parquet").is_file()
    again = invoke("annotate", "pipeline", "notes.jsonl", "out", *options)
    assert "Written earlier: 1 of 1" in words(again)


def test_options_of_files_and_of_corpora_are_not_mixed(invoke, refused, folder):
    corpus = ("annotate", "pipeline", "notes.jsonl", "out", "--engine", "local")
    refused(invoke(*corpus, "--format", "csv"), "CN736")
    refused(invoke(*corpus, "--nested-mentions"), "CN736")
    refused(invoke(*corpus, "--omop-concept-ids"), "CN736")
    refused(invoke(*corpus, "--engine", "spark"), "CN118")
    refused(invoke("annotate", "pipeline", "a.jsonl", "b.csv", "--ray-address", "auto"), "CN733")
    assert not (folder / "out").exists()


def test_the_help_names_the_formats_that_keep_other_fields(invoke, words):
    *first, last = (
        name for name, form in EXPORT_FORMATS.items() if "other fields" not in form.lacks
    )
    assert f"kept in the formats {', '.join(first)} and {last}." in words(
        invoke("annotate", "--help")
    )


def test_without_out_the_mentions_are_a_table(invoke, words, folder):
    result = invoke("annotate", "pipeline", "notes.jsonl")
    assert result.exit_code == 0, result.output
    lines = [line.split() for line in result.output.splitlines() if line]
    assert lines[0] == ["Text", "Mention", "Concept", "Name", "Probability", "Assertions"]
    assert ["1", "aspirin"] in [line[:2] for line in lines]
    named = invoke("annotate", "pipeline", "notes.jsonl", "--id-field", "note").output
    assert ["A7", "aspirin"] in [line.split()[:2] for line in named.splitlines()]
    assert [path.name for path in folder.iterdir()].count("annotated.jsonl") == 0


def test_codes_that_cannot_be_billed_are_marked_in_the_table(invoke, billing_index, tmp_path):
    (tmp_path / "note.txt").write_text("Nose fever, cold nose.")
    shown = invoke("annotate", billing_index, tmp_path / "note.txt").output.splitlines()
    marked = {
        line.split()[1]: line.rstrip().endswith("not valid") for line in shown if "A9" in line
    }
    assert "Billing" in shown[1] and marked == {"Nose": True, "cold": False}


@pytest.mark.parametrize(
    ("option", "needed"),
    [
        (("--engine", "local"), "OUT"),
        (("--format", "csv"), "OUT"),
        (("--subject-field", "who"), "OUT"),
        (("--ray-address", "auto"), "--engine"),
    ],
)
def test_what_only_a_file_can_have_is_refused_without_out(invoke, words, folder, option, needed):
    result = invoke("annotate", "pipeline", "notes.jsonl", *option)
    assert result.exit_code == 1
    told = words(result).replace("`", "")
    assert f"[CN733] {option[0]} needs {needed}." in told


def test_the_table_has_one_line_for_a_mention_and_one_name_for_each_part():
    def candidate(concept_id, name, probability, part):
        found = Candidate(concept_id, name, 1.0, name, "O-C", part=part, probability=probability)
        return found._asdict()

    # Below the answer of a part stands that of the other one.
    candidates = [
        *(candidate("C1", "a", 1.0, 1), candidate("C2", "b", 0.2, 1)),
        *(candidate("C2", "b", 0.9, 2), candidate("C1", "a", 0.4, 2)),
    ]
    ent = {"text": "a and\nb", "kb_id": "C1|C2", "candidates": candidates}
    billing = {"C1": "", "C2": "not valid"}.get
    rows = list(_mention_rows(iter([{"ents": [ent]}]), "id", billing))
    assert rows == [("1", "a and b", "C1|C2", "a | b", "0.90", "", "not valid")]
