"""Fitted probabilities and how they are judged, by hand."""

import math

import numpy as np
import pytest

from spacy_connorm.concepts import NIL, Candidate
from spacy_connorm.evaluation import Gold, Prediction
from spacy_connorm.evaluation.reliability import (
    Bin,
    CalibrationData,
    cosines_as_probabilities,
    fit_calibration,
    measure_reliability,
    predict_probabilities,
    read_calibration_data,
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
