import json

import pytest

from spacy_connorm.concepts import NIL, Candidate
from spacy_connorm.evaluation import Gold, Prediction, score_predictions
from spacy_connorm.evaluation.report import (
    OPEN,
    comparison_row,
    run_sections,
    score_row,
    to_json,
    to_table,
    to_tsv,
)


def predict(*concept_ids):
    found = [
        Candidate(concept_id, f"name of {concept_id}", 0.9, "text", "O-T")
        for concept_id in concept_ids
    ]
    return Prediction(found, found[0].concept_id if found else NIL)


GOLD = [
    Gold("a", frozenset("A"), in_ontology=True, seen=True),
    Gold("b", frozenset("B"), in_ontology=True, seen=False),
    Gold("b", frozenset("B"), in_ontology=True, seen=False),
    Gold("x", frozenset("X"), in_ontology=False, seen=True),
    Gold("nothing", frozenset(), in_ontology=False, seen=True),
]
PREDICTIONS = [predict("A"), predict("A", "B"), predict("A", "B"), predict(), predict()]


@pytest.fixture
def run():
    return score_predictions(GOLD, PREDICTIONS)


def test_a_row_is_flat_and_in_percent(run):
    row = score_row(run)
    expected = {
        "mentions": 4,
        "lenient@1": 75.0,
        "lenient@5": 75.0,
        "mrr": 75.0,
        "strict@1": 25.0,
        "strict@5": 75.0,
        "strict_mrr": 50.0,
        "in_ontology_mentions": 3,
        "in_ontology_lenient@1": 100.0,
        "unseen_mentions": 2,
        "unseen_strict@1": 0.0,
        "nil_mentions": 1,
        "nil_precision": 50.0,
        "nil_recall": 100.0,
        "nil_f1": 66.67,
    }
    assert {key: row[key] for key in expected} == expected
    assert row["lenient@1_low"] < 75 < row["lenient@1_high"]


def test_a_group_without_mentions_has_no_scores():
    row = score_row(score_predictions(GOLD[:1], PREDICTIONS[:1]))
    assert row["unseen_mentions"] == 0
    assert row["unseen_lenient@1"] is row["unseen_lenient@1_low"] is row["unseen_mrr"] is None


def test_groups_stand_below_and_protocols_beside_each_other(run):
    head = {"corpus": "c", "pipeline": "p", "search": "O-T"}
    accuracy, nil = run_sections([{**head, **score_row(run), "protocol": OPEN}])
    assert accuracy.title.endswith("(protocol: open)")
    assert [(row["search"], row["mentions"], row["number"]) for row in accuracy.rows] == [
        ("O-T", "all", 4),
        ("O-T", "gold id in the ontology", 3),
        ("O-T", "text seen in D", 2),
        ("O-T", "text unseen in D", 2),
    ]
    assert accuracy.rows[0]["lenient@1"] == 75.0
    assert accuracy.rows[0]["strict MRR"] == 50.0
    assert nil.rows[0]["precision"] == 50.0


def test_two_runs_are_compared(run):
    better = score_predictions(
        GOLD, [predict("A"), predict("B"), predict("B"), predict("X"), predict()]
    )
    row = comparison_row(better, run)
    assert row["lenient@1_difference"] == 25.0
    assert row["strict@1_difference"] == 75.0
    assert 0 < row["strict@1_p"] < row["lenient@1_p"]
    head = {"corpus": "c", "pipeline": "p", **score_row(run), "protocol": OPEN}
    rows = [{"search": "O-T", **head}, {"search": "D-T", **head, **row, "against": "O-T"}]
    compared = run_sections(rows)[-1]
    assert compared.title.startswith("Compared with O-T, paired bootstrap")
    assert [(row["search"], row["strict@1"]) for row in compared.rows] == [("D-T", "+75.0")]
    several = run_sections([*rows, {**rows[1], "against": "better"}])[-1]
    assert several.title.startswith("Compared with another run")
    assert [row["against"] for row in several.rows] == ["O-T", "better"]


def test_tables_are_aligned():
    rows = [{"name": "a", "n": 1234, "share": 5.0}, {"name": "long", "n": 2, "share": None}]
    assert to_table(rows).splitlines() == [
        "name       n   share",
        "----   -----   -----",
        "a      1,234     5.0",
        "long       2       -",
    ]
    assert to_table(rows, markdown=True).splitlines() == [
        "| name |     n | share |",
        "| ---- | ----: | ----: |",
        "| a    | 1,234 |   5.0 |",
        "| long |     2 |     - |",
    ]
    assert to_table([{"ids": "a|b\nc"}], markdown=True).splitlines()[2] == r"| a\|b c |"


def test_true_and_false_are_shown_as_yes_and_no():
    assert to_table([{"right": True}, {"right": False}]).splitlines()[2:] == ["yes", "no"]


def test_json_and_tsv():
    rows = [{"mention": "a\tb\nc", "rank": None, "right": False}]
    assert json.loads(to_json(rows)) == rows
    assert to_tsv(rows) == "mention\trank\tright\na b c\t\tFalse\n"
    assert to_tsv([]) == ""
