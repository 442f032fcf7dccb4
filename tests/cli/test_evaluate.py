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
        *("pipeline", "gold.spacy", "--search", "OD-T", "-s", "D-T", "--label", "mine"),
        *("--json", "scores.json", "--markdown", "scores.md", "--corpus-name", "all of it"),
    )
    assert result.exit_code == 0, result.output
    shown = words(result)
    assert "search mentions number lenient@1 lenient 95 % lenient@5" in shown
    assert "Mentions of no concept (NIL)" in shown
    assert "Compared with D-T+OD-T" in shown
    rows = json.loads((tmp_path / "scores.json").read_text(encoding="utf8"))
    assert [row["search"] for row in rows] == ["D-T+OD-T", "OD-T", "D-T"]
    assert {(row["corpus"], row["pipeline"]) for row in rows} == {("all of it", "mine")}
    assert "| OD-T " in (tmp_path / "scores.md").read_text(encoding="utf8")


def test_wrong_answers_are_counted(run, words, tmp_path):
    result = run("pipeline", "gold.spacy", "--errors", "errors.tsv")
    assert result.exit_code == 0, result.output
    shown = words(result)
    assert "Wrong answers by kind" in shown and "with examples" in shown
    assert "Listed wrong answers: errors.tsv" in shown
    assert "MI" in (tmp_path / "errors.tsv").read_text(encoding="utf8")


def test_neighbours_and_a_picture_need_no_corpus(run, words, tmp_path):
    options = ("--neighbours", "heart", "--picture", "p.svg", "--concept", "C2", "--concept", "C6")
    result = run("pipeline", *options)
    assert result.exit_code == 0, result.output
    assert "Texts near 'heart'" in words(result)
    assert "Drew 2 concepts: p.svg" in words(result)
    assert (tmp_path / "p.svg").stat().st_size > 1000


def test_a_calibration_is_shown(run, words, tmp_path):
    write("dev.spacy", DEV)
    options = ("--calibrate", "sure", "--curves", "curves.json", "--curves", "curves.svg")
    result = run("pipeline", "dev.spacy", *options)
    assert result.exit_code == 0, result.output
    shown = words(result)
    for label in ("as they were", "fitted, same mentions", "fitted, held-out mentions"):
        assert label in shown
    assert "Wrote reliability and NIL curve: curves.json" in shown
    assert "Wrote the calibrated pipeline: sure" in shown
    assert spacy.load(tmp_path / "sure").get_pipe("concept_normalizer").cfg["calibration"]


def test_bad_input(run, refused):
    for arguments, code in (
        (["absent", "gold.spacy"], "CN700"),
        (["pipeline"], "CN732"),
        (["pipeline", "gold.spacy", "--search", "O-C"], "CN408"),
        (["pipeline", "gold.spacy", "--beside", "pipeline"], "CN731"),
        (["pipeline", "gold.spacy", "--threshold", "0.9"], "CN733"),
        (["pipeline", "gold.spacy", "--protocol", "papers"], "CN118"),
        (["pipeline", "gold.spacy", "--calibrate", "out", "--protocol", "biosyn"], "CN736"),
        (["pipeline", "gold.spacy", "--add", "gold.spacy"], "CN107"),
        (["pipeline", "gold.spacy", "-w", "0.5"], "CN313"),
        (["pipeline", "gold.spacy", "--gpu-id", "99"], "CN713"),
    ):
        refused(run(*arguments), code)


def test_a_pipeline_is_scored_from_plain_text(run, words, refused, tmp_path):
    result = run("pipeline", "gold.spacy", "--end-to-end", "--errors", "errors.tsv")
    assert result.exit_code == 0, result.output
    shown = words(result)
    for part in ("From plain text, percent", "mentions, exact spans", "ids of a document, mean"):
        assert part in shown
    assert "Listed wrong answers: errors.tsv" in shown
    assert (tmp_path / "errors.tsv").read_text().startswith("pipeline\tkind\ttimes")
    refused(run("pipeline", "gold.spacy", "--end-to-end", "--grid"), "CN736")
