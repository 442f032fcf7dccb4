import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_connorm.concepts import NIL
from spacy_connorm.evaluation import Gold, Prediction
from spacy_connorm.evaluation.metrics import strict_rank
from spacy_connorm.evaluation.tuning import (
    FOLDS,
    Outcome,
    apply_tuning,
    best_score,
    choose_thresholds,
    cross_validate,
    judge,
    measure_reliability,
    outcome_row,
    read_calibration_data,
    tune,
)
from spacy_connorm.linker.calibration import CandidateFeatures, with_probabilities
from spacy_connorm.linker.sieve import Sieve

from .answers import candidate, gold, predict

GOLD = [gold("A")] * 4 + [gold()]


FOUND = {
    "D-T": [
        *(
            predict((concept_id, score))
            for concept_id, score in (("A", 0.9), ("A", 0.7), ("B", 0.4))
        ),
        predict(),
        predict(("A", 1.0)),
    ],
    "OD-T": [predict((concept_id, 0.9)) for concept_id in "BBAAA"],
}


SEARCHES = ["D-T", "OD-T"]


@pytest.mark.parametrize(
    ("current", "chosen"),
    # anything over 0.4 and up to 0.7 is right four times: half-way down at most
    [(0.95, 0.7), (0.6, 0.6), (0.2, 0.55)],
)
def test_the_best_threshold_nearest_to_the_present_one(current, chosen):
    assert choose_thresholds(GOLD, FOUND, SEARCHES, [current]) == pytest.approx([chosen])


def test_a_search_that_never_helps_answers_above_all_its_scores():
    found = {"D-T": [predict(("B", 0.8))] * 5, "OD-T": [predict(("A", 0.5))] * 5}
    (threshold,) = choose_thresholds(GOLD, found, SEARCHES, [0.1])
    assert 0.8 < threshold <= 1


def test_a_search_that_always_helps_answers_always():
    found = {"D-T": [predict(("A", -0.8))] * 5, "OD-T": [predict(("B", 0.5))] * 5}
    (threshold,) = choose_thresholds(GOLD, found, SEARCHES, [0.95])
    assert -1 <= threshold <= -0.8


def test_ties_count_leniently_where_strictly_nothing_differs():
    tied = Prediction([candidate("B", 0.8), candidate("A", 0.8)], "B")
    found = {"D-T": [tied], "OD-T": [predict(("B", 0.9))]}
    assert choose_thresholds([gold("A")], found, SEARCHES, [0.95]) == [0.8]


def test_what_rounding_puts_above_1_needs_no_threshold_above_1():
    found = {"D-T": [predict(("A", 1.000001))], "OD-T": [predict(("B", 0.9))]}
    (threshold,) = choose_thresholds([gold("A")], found, SEARCHES, [0.95])
    assert threshold == 0.95
    found["D-T"].append(predict(("B", 1.0)))
    found["OD-T"].append(predict(("A", 0.9)))
    (threshold,) = choose_thresholds([gold("A")] * 2, found, SEARCHES, [1.0])
    assert threshold <= 1


def test_one_search_has_no_threshold():
    assert choose_thresholds(GOLD, FOUND, ["OD-T"], []) == []


def test_three_searches_have_two():
    found = {**FOUND, "O-T": [predict(("A", 0.1))] * 5}
    thresholds = choose_thresholds(GOLD, found, [*SEARCHES, "O-T"], [0.95, 0.95])
    answered = Sieve([*SEARCHES, "O-T"], thresholds).choose(found, best_score)
    assert [prediction.written for prediction in answered] == ["A"] * 5


def test_a_mention_goes_to_the_first_search_that_reaches_its_threshold():
    answered = Sieve(SEARCHES, [0.7]).choose(FOUND, best_score)
    assert answered == [*FOUND["D-T"][:2], *FOUND["OD-T"][2:4], FOUND["D-T"][4]]


def test_a_split_mention_is_as_good_as_its_worst_part():
    parts = [candidate("A", 0.9, 1), candidate("B", 0.6, 2), candidate("C", 0.5, 2)]
    assert best_score(Prediction(parts, "A|B")) == 0.6
    assert best_score(predict()) < -1


ANSWERS = st.lists(
    st.tuples(
        st.tuples(st.sampled_from("AB"), st.sampled_from([-1.0, 0.0, 0.5, 0.75, 1.0])),
        st.tuples(st.sampled_from("AB"), st.sampled_from([0.2, 0.9])),
    ),
    min_size=1,
    max_size=8,
)


@given(ANSWERS, st.floats(-1, 1))
def test_no_other_threshold_is_better(answers, current):
    golds = [gold("A")] * len(answers)
    found = {
        "D-T": [predict(first) for first, _ in answers],
        "OD-T": [predict(second) for _, second in answers],
    }

    def right(threshold):
        answered = Sieve(SEARCHES, [threshold]).choose(found, best_score)
        return sum(strict_rank(prediction, gold("A")) == 1 for prediction in answered)

    (chosen,) = choose_thresholds(golds, found, SEARCHES, [current])
    assert -1 <= chosen <= 1
    assert right(chosen) == max(map(right, (-1.0, -0.5, 0.2, 0.6, 0.9, 1.0)))
    assert right(chosen) > right(current) or chosen == current


SIEVE = Sieve(["D-T", "OD-T"], [0.95])


def corpus(*, nil=True):
    """Mentions that D-T answers rightly from 0.6 on and OD-T otherwise, if it scores over 0.5; of
    the others half are of no concept."""
    gold, first, second = [], [], []
    for number in range(120):
        score = round(number / 119, 6)  # as searches give them
        is_nil = nil and score < 0.5 and number % 2 == 0
        gold.append(Gold(f"text {number}", frozenset(() if is_nil else "A"), in_ontology=True))
        first.append(predict(("A" if score >= 0.6 else "B", score)))
        second.append(predict(("A" if 0.5 <= score < 0.6 else "B", score)))
    return gold, {"D-T": first, "OD-T": second}


def test_settings_are_found():
    tuning = tune(*corpus(), SIEVE)
    assert tuning.sieve.searches == SIEVE.searches
    assert tuning.sieve.thresholds[0] == pytest.approx(0.6, abs=0.01)
    assert tuning.calibration.score > 0
    scores = [0.49, 0.51]
    below, above = (
        with_probabilities([candidate("A", score)], tuning.calibration)[0].probability
        for score in scores
    )
    assert below < tuning.nil_threshold < above


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
    outcome = cross_validate(gold, found, SIEVE)
    assert sorted(mention.text for mention in outcome.gold) == sorted(
        mention.text for mention in gold
    )
    assert len(outcome.probabilities) == len(outcome.right) == 120
    own, held = (
        outcome_row(each) for each in (apply_tuning(tune(gold, found, SIEVE), gold, found), outcome)
    )
    assert held["log_loss"] > own["log_loss"]
    assert held["concept_f"] <= own["concept_f"]


def test_mentions_are_held_out_with_all_of_the_same_text(monkeypatch):
    gold, found = corpus()
    gold = [*gold, *(mention._replace(text=mention.text.upper()) for mention in gold)]
    found = {search: [*listed, *listed] for search, listed in found.items()}
    tuned = []

    def note(kept, found, sieve):
        tuned.append({mention.text.lower() for mention in kept})
        return tune(kept, found, sieve)

    monkeypatch.setattr("spacy_connorm.evaluation.tuning.tune", note)
    cross_validate(gold, found, SIEVE)
    texts = {mention.text.lower() for mention in gold}
    held_out = [texts - kept for kept in tuned]
    assert len(held_out) == FOLDS
    assert set().union(*held_out) == texts
    # Mentions of one text are in one fold, else fewer texts would be missing among the others.
    assert sum(map(len, held_out)) == len(texts)


def test_an_outcome_of_nothing():
    row = outcome_row(Outcome([], [], np.empty(0), np.empty(0, dtype="bool")))
    assert set(row.values()) == {0, None}


def test_a_nil_that_is_written_is_not_covered():
    gold = [Gold("a", frozenset("A"), in_ontology=True)] * 2
    written = [predict(("A", 0.9)), predict(("A", 0.1))._replace(written=NIL)]
    row = outcome_row(Outcome(gold, written, np.asarray([0.9, 0.5]), np.asarray([True, True])))
    assert (row["coverage"], row["concept_p"], row["concept_r"]) == (50.0, 100.0, 50.0)


def test_cosines_are_never_wholly_sure():
    cosines = [candidate("A", score)._replace(probability=None) for score in (1.0, 0.5, -0.2)]
    predictions = [Prediction([cosine], "A") for cosine in cosines]
    found = judge([gold("A")] * 3, predictions).probabilities
    assert found.tolist() == pytest.approx([0.999, 0.5, 0.001])


def test_probabilities_are_those_that_the_pipeline_gives():
    """Those of initials are lower than the calibration says."""
    predictions = [Prediction([candidate("A", 0.9)._replace(probability=0.25)], "A")]
    assert judge([gold("A")], predictions).probabilities.tolist() == [0.25]


def test_answers_are_the_first_candidates_of_mentions_and_parts():
    predictions = [
        Prediction([candidate("A", 0.9), candidate("B", 0.7)], "A"),
        Prediction([candidate("A", 0.8, 1), candidate("B", 0.6, 2), candidate("C", 0.5, 2)], "A|B"),
        Prediction([], NIL),
        Prediction([candidate("A", 0.3)], NIL),
    ]
    annotated = [gold("A"), gold("A", "C"), gold("A"), gold()]
    features, right = read_calibration_data(annotated, predictions)
    scores_and_margins = [[0.9, 0.2], [0.8, 0.8], [0.6, 0.1], [0.3, 0.3]]
    np.testing.assert_allclose([each[:2] for each in features], scores_and_margins)
    assert {type(each) for each in features} == {CandidateFeatures}
    assert right.tolist() == [True, True, False, False]


def test_there_may_be_no_answer():
    features, right = read_calibration_data([gold("A")], [Prediction([], NIL)])
    assert features == [] and right.tolist() == []
    outcome = judge([gold("A")], [Prediction([], NIL)])
    assert measure_reliability(outcome.probabilities, outcome.right) == (None, None)


def test_reliability_by_hand():
    probabilities = np.asarray([0.95, 1.0, 0.9, 0.25, 0.2])
    right = np.asarray([True, True, False, False, True])
    log_loss, error = measure_reliability(probabilities, right)
    assert log_loss == pytest.approx(
        -(math.log(0.95) + math.log(1) + math.log(0.1) + math.log(0.75) + math.log(0.2)) / 5
    )
    assert error == pytest.approx((2 * (0.5 - 0.225) + 3 * (0.95 - 2 / 3)) / 5)


def test_being_wholly_sure_and_wrong_costs_much_but_not_everything():
    assert 100 < measure_reliability(np.asarray([1.0]), np.asarray([False]))[0] < math.inf
