"""Probabilities from scores, by hand."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_connorm.concepts import Candidate
from spacy_connorm.linker.calibration import Calibration, margins, with_probabilities

CALIBRATION = Calibration(intercept=-6.0, score=8.0, margin=5.0)


def found(*scores, part=0):
    return [
        Candidate(f"C{place}", "", score, "", "O-T", part=part)
        for place, score in enumerate(scores)
    ]


def logistic(value):
    return 1 / (1 + math.exp(-value))


def test_the_margin_is_the_distance_to_the_best_rival():
    assert list(margins(found(0.9, 0.7, 0.6))) == pytest.approx([0.2, -0.2, -0.3])
    assert list(margins(found(0.9, 0.9, 0.6))) == pytest.approx([0, 0, -0.3])


def test_a_candidate_alone_is_held_against_nothing():
    assert list(margins(found(0.9))) == [0.9]
    assert list(margins([])) == []


def test_parts_have_rivals_of_their_own():
    parts = [*found(0.9, 0.7, part=1), *found(0.5, 0.4, part=2), *found(0.3, part=3)]
    assert list(margins(parts)) == pytest.approx([0.2, -0.2, 0.1, -0.1, 0.3])


def test_probabilities_by_hand():
    first, second = with_probabilities(found(0.9, 0.7), CALIBRATION)
    assert first.probability == pytest.approx(logistic(-6 + 8 * 0.9 + 5 * 0.2))
    assert second.probability == pytest.approx(logistic(-6 + 8 * 0.7 - 5 * 0.2))


def test_nothing_else_of_a_candidate_changes():
    before = found(0.9, 0.7)
    after = with_probabilities(before, CALIBRATION)
    assert [candidate._replace(probability=None) for candidate in after] == before
    assert with_probabilities([], CALIBRATION) == []


NUMBERS = st.floats(-1e9, 1e9)


@given(NUMBERS, NUMBERS, NUMBERS, st.lists(st.floats(-1, 1)))
def test_probabilities_lie_between_0_and_1(intercept, score, margin, scores):
    candidates = found(*sorted(scores, reverse=True))
    for candidate in with_probabilities(candidates, Calibration(intercept, score, margin)):
        assert 0 <= candidate.probability <= 1


@given(st.lists(st.floats(-1, 1), min_size=1))
def test_with_weights_over_0_the_order_stays(scores):
    probabilities = [
        candidate.probability
        for candidate in with_probabilities(found(*sorted(scores, reverse=True)), CALIBRATION)
    ]
    assert probabilities == sorted(probabilities, reverse=True)
