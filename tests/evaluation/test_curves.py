import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_connorm.concepts import NIL, Candidate
from spacy_connorm.evaluation import Gold, Prediction
from spacy_connorm.evaluation.curves import (
    Bin,
    CalibrationData,
    apply_threshold,
    choose_threshold,
    cosines_as_probabilities,
    curve_points,
    fit_calibration,
    measure_reliability,
    predict_probabilities,
    read_calibration_data,
    trace_nil_curve,
)
from spacy_connorm.linker.calibration import Calibration


def candidate(concept_id, score, part=0):
    return Candidate(concept_id, "", score, "", "O-T", part=part)


def gold(*concept_ids):
    return Gold("mention", frozenset(concept_ids), in_ontology=True)


def test_answers_are_the_first_candidates_of_mentions_and_parts():
    predictions = [
        Prediction([candidate("A", 0.9), candidate("B", 0.7)], "A"),
        Prediction([candidate("A", 0.8, 1), candidate("B", 0.6, 2), candidate("C", 0.5, 2)], "A|B"),
        Prediction([], NIL),
        Prediction([candidate("A", 0.3)], NIL),
    ]
    answers = read_calibration_data([gold("A"), gold("A", "C"), gold("A"), gold()], predictions)
    expected = [[0.9, 0.2], [0.8, 0.8], [0.6, 0.1], [0.3, 0.3]]
    np.testing.assert_allclose(answers.features, expected)
    assert answers.right.tolist() == [True, True, False, False]


def test_there_may_be_no_answer():
    answers = read_calibration_data([gold("A")], [Prediction([], NIL)])
    assert answers.features.shape == (0, 2)
    assert measure_reliability(cosines_as_probabilities(answers), answers.right) == (None, None, [])


def test_a_logistic_regression_is_found_again():
    generator = np.random.default_rng(0)
    features = generator.uniform(0, 1, (20_000, 2))
    true = Calibration(intercept=-4.0, score=6.0, margin=3.0)
    probabilities = predict_probabilities(
        CalibrationData(features, np.zeros(len(features), dtype="bool")), true
    )
    right = generator.uniform(size=len(features)) < probabilities
    found = fit_calibration(CalibrationData(features, right))
    assert list(found.to_dict().values()) == pytest.approx([-4, 6, 3], abs=0.3)


def test_what_can_be_told_apart_still_has_finite_weights():
    features = np.asarray([[0.9, 0.5], [0.8, 0.4], [0.2, 0.0], [0.1, 0.0]])
    found = fit_calibration(CalibrationData(features, np.asarray([True, True, False, False])))
    assert all(math.isfinite(value) for value in found.to_dict().values())


def test_reliability_by_hand():
    probabilities = np.asarray([0.95, 1.0, 0.9, 0.25, 0.2])
    right = np.asarray([True, True, False, False, True])
    found = measure_reliability(probabilities, right)
    assert found.log_loss == pytest.approx(
        -(math.log(0.95) + math.log(1) + math.log(0.1) + math.log(0.75) + math.log(0.2)) / 5
    )
    low, high = found.bins
    assert low == pytest.approx(Bin(0.2, 0.3, 2, 0.225, 1 / 2))
    assert high == pytest.approx(Bin(0.9, 1.0, 3, 2.85 / 3, 2 / 3))
    assert found.error == pytest.approx((2 * (0.5 - 0.225) + 3 * (0.95 - 2 / 3)) / 5)


def test_being_wholly_sure_and_wrong_costs_much_but_not_everything():
    assert 100 < measure_reliability(np.asarray([1.0]), np.asarray([False])).log_loss < math.inf


def test_cosines_are_never_wholly_sure():
    features = np.asarray([[1.0, 0.0], [0.5, 0.0], [-0.2, 0.0]])
    answers = CalibrationData(features, np.asarray([True, True, False]))
    assert cosines_as_probabilities(answers).tolist() == pytest.approx([0.999, 0.5, 0.001])


def predict(*candidates):
    return Prediction(candidates, candidates[0].concept_id if candidates else NIL)


# right, right, wrong, NIL, right, NIL, and one that finds nothing
GOLD = [gold("A"), gold("A"), gold("A"), gold(), gold("A"), gold(), gold("A")]
PREDICTIONS = [
    predict(candidate("A", 0.9)),
    predict(candidate("A", 0.8), candidate("B", 0.8)),
    predict(candidate("B", 0.7)),
    predict(candidate("B", 0.6)),
    predict(candidate("A", 0.6)),
    predict(candidate("A", 0.2)),
    predict(),
]


def test_a_curve_by_hand():
    curve = trace_nil_curve(GOLD, PREDICTIONS)
    assert curve.threshold.tolist() == [0.9, 0.8, 0.7, 0.6, 0.2]
    assert curve.written.tolist() == [1, 2, 3, 5, 6]
    assert curve.right.tolist() == [1, 2, 2, 3, 3]
    assert (curve.linked, curve.mentions) == (5, 7)
    assert curve.precision.tolist() == pytest.approx([1, 1, 2 / 3, 3 / 5, 3 / 6])
    assert curve.recall.tolist() == pytest.approx([1 / 5, 2 / 5, 2 / 5, 3 / 5, 3 / 5])
    assert curve.coverage.tolist() == pytest.approx([1 / 7, 2 / 7, 3 / 7, 5 / 7, 6 / 7])
    assert curve.f1.tolist() == pytest.approx([2 / 6, 4 / 7, 4 / 8, 6 / 10, 6 / 11])


def test_the_threshold_stands_half_way_to_what_is_not_to_pass():
    assert choose_threshold(trace_nil_curve(GOLD, PREDICTIONS)) == pytest.approx(0.4)


def test_without_anything_to_gain_there_is_no_threshold():
    assert choose_threshold(trace_nil_curve(GOLD[:2], PREDICTIONS[:2])) is None
    assert choose_threshold(trace_nil_curve(GOLD[-1:], PREDICTIONS[-1:])) is None
    assert choose_threshold(trace_nil_curve([], [])) is None


def test_of_equal_thresholds_the_lowest_is_chosen():
    listed = [
        predict(candidate("A", 0.9)),
        predict(candidate("A", 0.5)),
        predict(candidate("B", 0.4)),
    ]
    # F1 2/4 with one right of one, 4/5 with two of two, 4/6 with two of three
    assert choose_threshold(
        trace_nil_curve([gold("A"), gold("A"), gold("A")], listed)
    ) == pytest.approx(0.45)
    # one right of one among two with gold ids: 2/3; both wrong in between: 2/4, then two of three
    wrong = [gold("A"), gold("A"), gold()]
    scores = [candidate("A", 0.9), candidate("B", 0.5), candidate("A", 0.4)]
    assert (
        choose_threshold(
            trace_nil_curve([wrong[0], wrong[2], wrong[1]], list(map(predict, scores)))
        )
        is None
    )


def test_what_rounding_puts_above_1_needs_no_threshold_above_1():
    listed = [predict(candidate("A", 1.000001)), predict(candidate("B", 1.0))]
    curve = trace_nil_curve([gold("A"), gold()], listed)
    assert (curve.threshold.tolist(), curve.written.tolist()) == ([1.0], [2])


def test_parts_pass_one_by_one():
    both = predict(candidate("A", 0.9, 1), candidate("B", 0.5, 2))
    curve = trace_nil_curve([gold("A", "B")], [both])
    assert (curve.written.tolist(), curve.right.tolist()) == ([1, 1], [0, 1])
    curve = trace_nil_curve([gold("A")], [both])
    assert (curve.written.tolist(), curve.right.tolist()) == ([1, 1], [1, 0])
    assert choose_threshold(curve) == pytest.approx(0.7)


def test_what_is_written_with_another_threshold():
    written = [each.written for each in apply_threshold(PREDICTIONS, 0.65)]
    assert written == ["A", "A", "B", NIL, NIL, NIL, NIL]
    assert [each.written for each in apply_threshold(PREDICTIONS, None)] == [*"AABBAA", NIL]


SCORES = st.sampled_from([-0.5, 0.0, 0.2, 0.5, 0.9, 1.0])
ANSWER = st.lists(st.tuples(st.sampled_from("ABC"), SCORES), max_size=3)
RIGHT = st.sets(st.sampled_from("ABC"), max_size=2)


@given(st.lists(st.tuples(RIGHT, ANSWER, st.booleans()), max_size=8))
def test_every_point_is_what_scoring_anew_gives(mentions):
    golds = [gold(*right) for right, _, _ in mentions]
    predictions = [
        predict(
            *(
                candidate(concept, score, number if is_split else 0)
                for number, (concept, score) in enumerate(
                    answer if is_split else sorted(answer, key=lambda each: -each[1]), start=1
                )
            )
        )
        for _, answer, is_split in mentions
    ]
    curve = trace_nil_curve(golds, predictions)
    for threshold, written, right in zip(curve.threshold, curve.written, curve.right, strict=True):
        anew = apply_threshold(predictions, threshold)
        assert written == sum(each.written != NIL for each in anew)
        assert right == sum(
            bool(each.concept_ids) and prediction.written_ids == each.concept_ids
            for each, prediction in zip(golds, anew, strict=True)
        )


def test_long_curves_are_thinned_out_and_keep_their_ends():
    listed = [predict(candidate("A", number / 1000)) for number in range(1000)]
    shown = curve_points(trace_nil_curve([gold("A")] * 1000, listed), limit=50)
    assert len(shown) == 50
    assert (shown[0]["threshold"], shown[-1]["threshold"]) == (0.999, 0.0)
    assert shown[-1] == {"threshold": 0, "precision": 1, "recall": 1, "f1": 1, "coverage": 1}
    assert curve_points(trace_nil_curve([], [])) == []
