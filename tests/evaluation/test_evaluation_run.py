import json
from pathlib import Path

import pytest

from spacy_connorm.errors import ConnormError, ConnormWarning
from spacy_connorm.evaluation import evaluate
from spacy_connorm.evaluation.evaluation_run import name_pipelines


def titles(report):
    return [section.title for section in report.sections]


def test_both_protocols_stand_beside_each_other(here, capsys):
    report = evaluate("pipeline", "gold.spacy", json_path="scores.json")
    (row,) = report.rows
    expected = {
        "search": "D-T+OD-T",
        "mentions": 4,
        "lenient@1": 75.0,
        "strict@1": 25.0,
        "strict@5": 50.0,
        "in_ontology_mentions": 3,
        "in_ontology_lenient@1": 100.0,
        "unseen_mentions": 3,
        "unseen_lenient@1": 66.67,
        "nil_mentions": 1,
        "nil_recall": 100.0,
    }
    assert {key: row[key] for key in expected} == expected
    assert json.loads((here / "scores.json").read_text(encoding="utf8")) == report.rows
    scores, nil = report.sections
    assert [line["mentions"] for line in scores.rows] == [
        "all",
        "gold id in the ontology",
        "text seen in D",
        "text unseen in D",
    ]
    assert nil.title.startswith("Mentions without a concept (NIL)")
    assert report.calibrated is None
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("arguments", "options", "code"),
    [
        (["absent", "gold.spacy"], {}, "CN700"),
        (["pipeline", "absent.spacy"], {}, "CN100"),
        (["pipeline", "text.spacy"], {}, "CN220"),
        (["pipeline", "without.spacy"], {}, "CN600"),
        (["pipeline", "gold.spacy"], {"searches": ["X-T"]}, "CN118"),
        (["pipeline", "gold.spacy"], {"searches": ["O-C"]}, "CN408"),
        (["pipeline", "gold.spacy"], {"errors_path": "errors.csv"}, "CN708"),
        (["pipeline", "gold.spacy"], {"json_path": "pipeline"}, "CN105"),
        (["pipeline", "gold.spacy"], {"markdown_path": "pipeline"}, "CN105"),
        (["pipeline", "gold.spacy"], {"component": "ner"}, "CN704"),
        (["pipeline", "gold.spacy"], {"gpu_id": 99}, "CN713"),
        (["pipeline", "gold.spacy"], {"beside": ["absent"]}, "CN700"),
        (["pipeline", "gold.spacy"], {"beside": ["sites"]}, "CN601"),
        (["pipeline", "gold.spacy"], {"beside": ["pipeline"]}, "CN736"),
        (["pipeline", "gold.spacy"], {"protocol": "papers"}, "CN118"),
        (["pipeline", "gold.spacy"], {"json_path": "r", "markdown_path": "r"}, "CN124"),
        (["pipeline", "gold.spacy"], {"calibrate_path": "other"}, "CN705"),
        (["pipeline", "gold.spacy"], {"end_to_end": True, "errors_path": "r.md"}, "CN708"),
    ],
)
def test_bad_input(here, arguments, options, code):
    with pytest.raises(ConnormError, match=code):
        evaluate(*arguments, **options)


def test_the_protocol_is_named_in_every_table_and_row(here):
    report = evaluate("pipeline", "composite.spacy", protocol="biosyn", searches=["OD-T"])
    assert {row["protocol"] for row in report.rows} == {"biosyn"}
    # split by the number of gold ids; the one of OMIM counts as none
    assert (report.rows[0]["lenient@1"], report.rows[0]["strict@1"]) == (100.0, 100.0)
    caution = "(protocol: biosyn, which splits composites by the number of gold ids)"
    assert titles(report) and all(title.endswith(caution) for title in titles(report))


def test_searches_alone_are_compared_with_the_sieve(here):
    report = evaluate("pipeline", "gold.spacy", searches=["D-T", "OD-T"])
    assert [row["search"] for row in report.rows] == ["D-T+OD-T", "D-T", "OD-T"]
    assert "strict@1_p" not in report.rows[0]
    assert report.rows[1]["strict@1_difference"] == 0.0
    assert any(title.startswith("Compared with D-T+OD-T") for title in titles(report))


def test_pipelines_stand_beside_each_other_and_are_compared(here):
    report = evaluate(here / "pipeline", "gold.spacy", beside=[here / "other"])
    one, other = report.rows
    assert (one["pipeline"], one["corpus"], "against" in one) == ("pipeline", "gold", False)
    assert (other["pipeline"], other["against"]) == ("other", "pipeline D-T+OD-T")
    assert other["lenient@1_difference"] == other["lenient@1"] - one["lenient@1"]
    assert any(title.startswith("Compared with pipeline D-T+OD-T") for title in titles(report))
    assert {row["pipeline"] for row in report.mistakes} == {"pipeline", "other"}


def test_pipelines_of_one_name_are_named_by_their_paths():
    assert name_pipelines(["old/index", Path("new/index")]) == {
        "old/index": "old/index",
        "new/index": "new/index",
    }
    assert name_pipelines(["old/one", "old/two"]) == {"one": "old/one", "two": "old/two"}


def test_wrong_answers_are_listed(here):
    report = evaluate("pipeline", "gold.spacy", errors_path="errors.tsv")
    assert sorted(row["kind"] for row in report.mistakes) == [
        "abbreviation",
        "composite",
        "not in the ontology",
    ]
    lines = (here / "errors.tsv").read_text(encoding="utf8").splitlines()
    assert len(lines) == 4
    for expected in ("CVA", "costovertebral angle", "stroke; influenza", "not in the index"):
        assert sum(expected in line for line in lines) == 1


def test_rows_are_json(here):
    rows = evaluate("pipeline", "gold.spacy", beside=["other"]).rows
    assert json.loads(json.dumps(rows)) == rows


def test_ids_written_otherwise_are_told(here):
    with pytest.warns(ConnormWarning, match=r"CNW600.*'MESH:C4'.*'C1'"):
        evaluate("pipeline", "foreign.spacy")


@pytest.mark.parametrize(
    ("options", "other"),
    [
        ({"end_to_end": True, "beside": ["other"]}, "--beside"),
        ({"end_to_end": True, "searches": ["O-T"]}, "--search"),
        ({"end_to_end": True, "calibrate_path": "out"}, "--calibrate"),
        ({"end_to_end": True, "protocol": "biosyn"}, "--protocol"),
        ({"calibrate_path": "out", "beside": ["other"]}, "--beside"),
        ({"calibrate_path": "out", "protocol": "biosyn"}, "--protocol"),
    ],
)
def test_options_that_do_not_go_together(here, options, other):
    with pytest.raises(ConnormError, match=f"CN736.*{other}"):
        evaluate("pipeline", "dev.spacy", **options)
