import json

import pytest
import spacy
from spacy.tokens import DocBin

GOLD = [("heart attack", "C2"), ("cold", "C4"), ("MI", "C1"), ("gout", "")]
# Names with a number that no concept has: some are of no concept, some of another one.
DEV = [
    *((f"heart attack {number}", "C2") for number in range(12)),
    *((f"dizziness type {number}", "C5") for number in range(12)),
    *((f"common luck {number}", "") for number in range(12)),
    *((f"acid {number} of a disease", "C1") for number in range(12)),
]


def write(path, mentions):
    nlp, docs = spacy.blank("en"), []
    for text, kb_id in mentions:
        doc = nlp.make_doc(text)
        doc.ents = [doc.char_span(0, len(text), label="Disease", kb_id=kb_id)]
        docs.append(doc)
    DocBin(docs=docs).to_disk(path)


@pytest.fixture
def run(invoke, tmp_path, monkeypatch, pipeline):
    monkeypatch.chdir(tmp_path)
    pipeline.to_disk("pipeline")
    write("gold.spacy", GOLD)
    return lambda *arguments: invoke("evaluate", *arguments)


def test_tables_are_printed_and_written(run, words, tmp_path):
    result = run(
        "pipeline",
        "gold.spacy",
        "--search",
        "OD-T",
        "-s",
        "D-T",
        "--json",
        "scores.json",
        "--markdown",
        "scores.md",
    )
    assert result.exit_code == 0, result.output
    shown = words(result)
    assert "search mentions number lenient@1 lenient 95 % lenient@5" in shown
    assert "Mentions without a concept (NIL)" in shown
    assert "Compared with D-T+OD-T" in shown
    rows = json.loads((tmp_path / "scores.json").read_text(encoding="utf8"))
    assert [row["search"] for row in rows] == ["D-T+OD-T", "OD-T", "D-T"]
    assert {(row["corpus"], row["pipeline"]) for row in rows} == {("gold", "pipeline")}
    assert "| OD-T " in (tmp_path / "scores.md").read_text(encoding="utf8")


def test_wrong_answers_are_counted(run, words, tmp_path):
    result = run("pipeline", "gold.spacy", "--errors", "errors.tsv")
    assert result.exit_code == 0, result.output
    shown = words(result)
    assert "Wrong answers by kind" in shown
    assert "Listed wrong answers: errors.tsv" in shown
    assert "MI" in (tmp_path / "errors.tsv").read_text(encoding="utf8")


def test_a_calibration_is_shown(run, words, tmp_path):
    write("dev.spacy", DEV)
    result = run("pipeline", "dev.spacy", "--calibrate", "sure")
    assert result.exit_code == 0, result.output
    shown = words(result)
    for label in ("as they were", "fitted, same mentions", "fitted, held-out mentions"):
        assert label in shown
    assert "Other NIL thresholds" in shown
    assert "Wrote the calibrated pipeline: sure" in shown
    assert spacy.load(tmp_path / "sure").get_pipe("concept_normalizer").cfg["calibration"]


def test_evaluate_refuses_a_missing_pipeline(run, refused):
    refused(run("absent", "gold.spacy"), "CN700")


def test_a_pipeline_is_scored_from_plain_text(run, words, refused, tmp_path):
    result = run("pipeline", "gold.spacy", "--end-to-end", "--errors", "errors.tsv")
    assert result.exit_code == 0, result.output
    shown = words(result)
    for part in ("From plain text, percent", "mentions, exact spans", "ids of a document, mean"):
        assert part in shown
    assert "Listed wrong answers: errors.tsv" in shown
    assert (tmp_path / "errors.tsv").read_text().startswith("pipeline\tkind\ttimes")
    refused(run("pipeline", "gold.spacy", "--end-to-end", "-s", "O-T"), "CN736")
