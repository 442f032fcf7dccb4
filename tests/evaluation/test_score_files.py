import json

import pytest

from spacy_connorm.errors import ConnormError
from spacy_connorm.evaluation import evaluate


def test_corpora_stand_in_one_table(here):
    evaluate("pipeline", "gold.spacy", grid=True, json_path="first.json")
    rows = evaluate("pipeline", "small.spacy", grid=True, add=["first.json"]).rows
    assert [row["corpus"] for row in rows] == ["gold"] * 14 + ["small"] * 14
    for row, other in zip(rows[:14], rows[14:], strict=True):
        ranks = [each["lenient@1_rank"] for each in (row, other)]
        assert row["lenient@1_average_rank"] == other["lenient@1_average_rank"] == sum(ranks) / 2


def test_no_row_stands_twice_in_a_table(here):
    evaluate("pipeline", "gold.spacy", json_path="once.json")
    with pytest.raises(ConnormError, match="CN602"):
        evaluate("pipeline", "gold.spacy", add=["once.json"])


@pytest.mark.parametrize("name", ["errors.tsv", "errors.jsonl", "errors.md"])
def test_wrong_answers_are_listed(here, name):
    report = evaluate("pipeline", "gold.spacy", errors_path=name)
    assert sorted(row["kind"] for row in report.mistakes["pipeline"]) == [
        *("abbreviation", "composite", "not in the ontology")
    ]
    text = (here / name).read_text(encoding="utf8")
    if name.endswith(".md"):
        for title in ("## pipeline, D-T+OD-T", "### not in the ontology: 1", "### abbreviation: 1"):
            assert title in text
    else:
        lines = text.splitlines()
        assert len(lines) == (4 if name.endswith(".tsv") else 3)
        for expected in ("CVA", "costovertebral angle", "stroke; influenza", "not in the index"):
            assert sum(expected in line for line in lines) == 1


def test_protocols_are_not_mixed(here):
    evaluate("pipeline", "gold.spacy", protocol="biosyn", json_path="biosyn.json")
    with pytest.raises(ConnormError, match="CN610"):
        evaluate("pipeline", "gold.spacy", labels=["open"], add=["biosyn.json"])


def test_rows_are_json(here):
    rows = evaluate("pipeline", "gold.spacy", beside=["other"]).rows
    assert json.loads(json.dumps(rows)) == rows
