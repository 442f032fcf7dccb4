"""Texts that were written for the benchmarks, and what paraphrases add to them."""

import json
import tomllib
from pathlib import Path

import numpy as np
import pytest

from spacy_connorm.finder.distinctive_words import WordFeatures
from spacy_connorm.finder.paraphrases import Paraphrase, ParaphraseFeatures

TEXTS = Path(__file__).parents[2] / "benchmarks" / "_texts"


def test_every_gold_id_and_text_is_there(modules):
    from _common.written_texts import SETS, WrittenTexts

    from spacy_connorm import read_ontology

    assert {path.stem for path in TEXTS.iterdir()} == set(SETS)
    for name in SETS:
        known = {concept.concept_id for concept in read_ontology(TEXTS / f"{name}.csv")}
        for line in (TEXTS / f"{name}.jsonl").read_text(encoding="utf8").splitlines():
            row = json.loads(line)
            assert all(gold["id"] in known for gold in row["gold"]), row["text"]
            assert all(gold["text"] in row["text"] for gold in row["gold"]), row["text"]
        assert WrittenTexts(name).texts


def test_marks_say_how_a_finding_is_stated(modules):
    from _common.written_texts import is_marked

    assert is_marked("present", frozenset())
    assert not is_marked("present", frozenset(["negated"]))
    assert is_marked("absent", frozenset(["negated"]))
    assert is_marked("hypothetical", frozenset(["possible"]))
    assert not is_marked("hypothetical", frozenset())


def test_texts_are_scored_with_and_without_paraphrases(rows_of, tmp_path, capsys):
    rows = rows_of("texts.py", "--set", "nursing", "--show", "--work", tmp_path)
    assert "missed" in capsys.readouterr().out
    (exact,) = rows_of("texts.py", "--set", "nursing", "--min-paraphrase", "1", "--work", tmp_path)
    (row,) = rows
    assert row["ids"] == exact["ids"] > 100
    assert 60 < exact["recall"] < row["recall"] < 100
    assert row["marks right"] > 80


def test_weights_are_fitted_to_what_comes_near_a_name(rows_of, tmp_path, capsys):
    given = ("--set", "nursing", "--encoder", "ngrams", "--cut", "0.3", "0.9", "--weights")
    rows = rows_of("paraphrases.py", *given, "--work", tmp_path)
    printed = capsys.readouterr().out
    weights = tomllib.loads(printed[printed.index("[paraphrases]") :].partition("|")[0])
    assert {table: [*numbers] for table, numbers in weights.items()} == {
        "paraphrases": ["intercept", *ParaphraseFeatures._fields],
        "words": ["intercept", *WordFeatures._fields],
    }
    assert weights["paraphrases"]["score"] > 0
    by = {(row["of"], row["from"]): row for row in rows}
    assert len(by) == len(rows) == 8
    assert by["its texts", 0.3]["right"] > by["its texts", 0.9]["right"] >= 0
    assert by["sentences without a finding", 0.9]["right"] == 0


@pytest.fixture
def paraphrases(modules):
    import paraphrases

    return paraphrases


def test_the_most_probable_of_overlapping_ones_is_chosen(paraphrases):
    weights = {ParaphraseFeatures: np.array([0, 1.0, 0, 0, 0, 0, 0])}
    near = [
        Paraphrase(start, end, number, ParaphraseFeatures(score, *[0] * 5))
        for start, end, number, score in ((0, 3, "A", 2.0), (2, 4, "B", 3.0), (4, 6, "C", -1.0))
    ]
    doc = paraphrases.ReadDoc(6, {"B"}, set(), near)
    assert paraphrases.chosen_ids(doc, weights, 0.5) == {"B"}
    assert paraphrases.chosen_ids(doc, weights, 0.1) == {"B", "C"}
