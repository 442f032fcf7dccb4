"""Findings of two sentences and one note, marked by the assertion marker."""

import json

import pytest

SENTENCES = [
    ("No fever today.", "fever", "negated", "recent", "patient"),
    ("History of asthma.", "asthma", "affirmed", "historical", "patient"),
    ("He has a cough.", "cough", "affirmed", "recent", "patient"),
]
NOTE = "No fever. Mother has asthma."


@pytest.fixture
def findings(tmp_path):
    """A data folder with annotated sentences and a note."""
    for folder in ("context_sentences", "hpo_2017"):
        (tmp_path / folder).mkdir()
    with (tmp_path / "context_sentences" / "dev.jsonl").open("w") as file:
        for text, mention, negation, temporality, experiencer in SENTENCES:
            start = text.index(mention)
            row = {"text": text, "start": start, "end": start + len(mention), "mention": mention}
            marks = {"negation": negation, "temporality": temporality, "experiencer": experiencer}
            file.write(json.dumps(row | marks) + "\n")
    mentions = [
        {"start": 3, "end": 8, "negated": True, "subject": "patient"},
        {"start": 21, "end": 27, "negated": False, "subject": "mother"},
        {"start": 21, "end": 27, "negated": False, "subject": "mother"},
    ]
    note = {"id": "1", "text": NOTE, "mentions": mentions}
    (tmp_path / "hpo_2017" / "clinical_dev.jsonl").write_text(json.dumps(note) + "\n")
    return tmp_path


def test_marks_are_scored_by_assertion(rows_of, findings):
    sentences, note = rows_of("assertions.py", "--data", findings)
    assert (sentences["findings"], note["findings"]) == (3, 2)
    assert (sentences["negated_f1"], sentences["history_f1"]) == (100, 100)
    assert (note["negated_f1"], note["family_f1"], note["history_f1"]) == (100, 100, None)


def test_an_engine_that_is_not_installed_is_named(run, findings, monkeypatch, capsys):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(SystemExit):
        run("assertions.py", "--data", findings, "--engine", "medspacy")
    assert "pip install medspacy" in capsys.readouterr().err
