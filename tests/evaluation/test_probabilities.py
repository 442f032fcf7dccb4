import math

import numpy as np
import pytest

from spacy_connorm.concepts import NIL
from spacy_connorm.evaluation import Prediction
from spacy_connorm.evaluation.probabilities import (
    measure_reliability,
    read_calibration_data,
)
from spacy_connorm.evaluation.tuning import judge
from spacy_connorm.linker.calibration import CandidateFeatures

from .answers import candidate, gold


def test_answers_are_the_first_candidates_of_mentions_and_parts():
    predictions = [
        Prediction([candidate("A", 0.9), candidate("B", 0.7)], "A"),
        Prediction([candidate("A", 0.8, 1), candidate("B", 0.6, 2), candidate("C", 0.5, 2)], "A|B"),
        Prediction([], NIL),
        Prediction([candidate("A", 0.3)], NIL),
    ]
    answers = read_calibration_data([gold("A"), gold("A", "C"), gold("A"), gold()], predictions)
    scores_and_margins = [[0.9, 0.2], [0.8, 0.8], [0.6, 0.1], [0.3, 0.3]]
    np.testing.assert_allclose(answers.features[:, :2], scores_and_margins)
    assert answers.features.shape == (4, len(CandidateFeatures._fields))
    assert answers.right.tolist() == [True, True, False, False]


def test_there_may_be_no_answer():
    answers = read_calibration_data([gold("A")], [Prediction([], NIL)])
    assert answers.features.shape == (0, len(CandidateFeatures._fields))
    outcome = judge([gold("A")], [Prediction([], NIL)], None)
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
