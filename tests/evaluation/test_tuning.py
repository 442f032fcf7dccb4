"""All settings at once, in sample and held out."""

import numpy as np
import pytest

from spacy_connorm.concepts import NIL, Candidate
from spacy_connorm.evaluation import Gold, Prediction
from spacy_connorm.evaluation.folds import make_folds
from spacy_connorm.evaluation.tuning import Outcome, apply_tuning, cross_validate, outcome_row, tune
from spacy_connorm.linker.sieve import Sieve

SIEVE = Sieve(["D-T", "OD-T"], [0.95])


def predict(concept_id, score):
    return Prediction([Candidate(concept_id, "", score, "", "O-T")], concept_id)


def marked(prediction, number):
    """The answer, which tells when it was given."""
    (candidate,) = prediction.candidates
    return prediction._replace(candidates=[candidate._replace(name=str(number))])


def corpus(*, nil=True):
    """Mentions that D-T answers rightly from 0.6 on and OD-T otherwise, if it scores over 0.5; of
    the others half are of no concept."""
    gold, first, second = [], [], []
    for number in range(120):
        score = round(number / 119, 6)  # as searches give them
        is_nil = nil and score < 0.5 and number % 2 == 0
        gold.append(Gold(f"text {number}", frozenset(() if is_nil else "A"), in_ontology=True))
        first.append(predict("A" if score >= 0.6 else "B", score))
        second.append(predict("A" if 0.5 <= score < 0.6 else "B", score))
    return gold, {"D-T": first, "OD-T": second}


def test_settings_are_found():
    tuning = tune(*corpus(), SIEVE)
    assert tuning.sieve.searches == SIEVE.searches
    assert tuning.sieve.thresholds[0] == pytest.approx(0.6, abs=0.01)
    assert tuning.nil_threshold == pytest.approx(0.5, abs=0.01)
    assert tuning.calibration.score > 0


def test_without_nil_there_is_no_nil_threshold():
    assert tune(*corpus(nil=False), SIEVE).nil_threshold is None


def test_what_comes_of_settings():
    gold, found = corpus()
    tuning = tune(gold, found, SIEVE)
    row = outcome_row(apply_tuning(tuning, gold, found))
    expected = {"mentions": 120, "coverage": 50.0, "nil_mentions": 30}
    assert {key: row[key] for key in expected} == expected
    assert (row["strict@1"], row["concept_p"], row["concept_f"]) == (66.67, 100.0, 80.0)
    assert (row["nil_precision"], row["nil_recall"]) == (50.0, 100.0)
    assert row["log_loss"] < 0.1


def test_held_out_mentions_are_each_answered_once_and_no_better():
    gold, found = corpus()
    folds = make_folds([each.text for each in gold])
    outcome = cross_validate(gold, lambda kept: found, SIEVE, folds)
    assert sorted(each.text for each in outcome.gold) == sorted(each.text for each in gold)
    assert len(outcome.probabilities) == len(outcome.right) == 120
    own, held = (
        outcome_row(each) for each in (apply_tuning(tune(gold, found, SIEVE), gold, found), outcome)
    )
    assert held["log_loss"] > own["log_loss"]
    assert held["concept_f"] <= own["concept_f"]


def test_what_is_chosen_before_never_sees_the_held_out_mentions():
    gold, found = corpus()
    folds = make_folds([each.text for each in gold])
    seen = []

    def find(kept):
        seen.append(kept)
        return {search: [marked(each, len(seen)) for each in found[search]] for search in found}

    outcome = cross_validate(gold, find, SIEVE, folds)
    assert [kept.tolist() for kept in seen] == [fold.kept.tolist() for fold in folds]
    assert (np.sum(seen, axis=0) == len(folds) - 1).all()
    turns = [int(each.candidates[0].name) for each in outcome.predictions]
    sizes = [int(fold.held_out.sum()) for fold in folds]
    assert turns == np.repeat(np.arange(1, len(folds) + 1), sizes).tolist()


def test_an_outcome_of_nothing():
    row = outcome_row(Outcome([], [], np.empty(0), np.empty(0, dtype="bool")))
    assert set(row.values()) == {0, None}


def test_a_nil_that_is_written_is_not_covered():
    gold = [Gold("a", frozenset("A"), in_ontology=True)] * 2
    written = [predict("A", 0.9), predict("A", 0.1)._replace(written=NIL)]
    row = outcome_row(Outcome(gold, written, np.asarray([0.9, 0.5]), np.asarray([True, True])))
    assert (row["coverage"], row["concept_p"], row["concept_r"]) == (50.0, 100.0, 50.0)
