"""Findings of two sentences and one note, marked by the assertion marker."""

import json

import pytest

SENTENCES = [
    ("No fever today.", "fever", "negated", "recent", "patient"),
    ("History of asthma.", "asthma", "affirmed", "historical", "patient"),
    ("He has a cough.", "cough", "affirmed", "recent", "patient"),
]
NOTE = "No fever. Mother has asthma."
TRANSLATED = [
    ("fr", "Pas de fièvre.", "fièvre", "negated"),
    ("fr", "Son père a un asthme.", "asthme", "family"),
    ("es", "Antecedente de ictus.", "ictus", "past"),
    ("es", "Fiebre.", "Fiebre", "present"),
]


@pytest.fixture
def findings(tmp_path):
    """A data folder with annotated sentences and a note."""
    for folder in ("context_sentences", "hpo_2017", "hpo_translations"):
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
    with (tmp_path / "hpo_translations" / "notes_dev.jsonl").open("w") as file:
        for code, text, mention, assertion in TRANSLATED:
            start = text.index(mention)
            mention = {"start": start, "end": start + len(mention), "assertion": assertion}
            file.write(json.dumps({"lang": code, "text": text, "mentions": [mention]}) + "\n")
    return tmp_path


def test_marks_are_scored_by_assertion(rows_of, findings):
    sentences, note, french, spanish = rows_of("assertions.py", "--data", findings)
    assert (sentences["findings"], note["findings"]) == (3, 2)
    assert (sentences["negated_f1"], sentences["history_f1"]) == (100, 100)
    assert (note["negated_f1"], note["family_f1"], note["history_f1"]) == (100, 100, None)
    assert (french["negated_f1"], french["family_f1"]) == (100, 100)
    assert (spanish["findings"], spanish["history_f1"]) == (2, 100)


def test_an_engine_that_is_not_installed_is_named(run, findings, monkeypatch, capsys):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(SystemExit):
        run("assertions.py", "--data", findings, "--engine", "medspacy")
    assert "pip install medspacy" in capsys.readouterr().err
