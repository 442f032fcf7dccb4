"""Probabilities from scores, by hand."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_connorm.concepts import Candidate
from spacy_connorm.linker.calibration import (
    Calibration,
    CandidateFeatures,
    features_of,
    longest_extra_word,
    margins,
    shared_letters,
    with_probabilities,
)

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


def test_concepts_that_share_a_name_are_not_rivals():
    assert list(margins(found(0.9, 0.9, 0.6))) == pytest.approx([0.3, 0.3, -0.3])
    assert list(margins(found(0.9, 0.9))) == [0.9, 0.9]


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


def test_what_a_name_shares_with_the_text_that_was_searched():
    assert shared_letters("fever", "Fever") == 1
    assert shared_letters("fever", "gout") == shared_letters("", "") == 0
    # "cold" has 4 sequences of three characters, "colds" 5, and both have " co", "col" and "old".
    assert shared_letters("cold", "colds") == 3 / 6


def test_the_longest_word_that_another_text_lacks():
    assert longest_extra_word("severe head spinning", "Spinning") == 6
    assert longest_extra_word("Spinning", "severe head spinning") == 0
    assert longest_extra_word("", "fever") == 0
    candidate = Candidate("C1", "Fever", 0.5, "Periodic fever", "O-T", searched="fever at night")
    (features,) = features_of([candidate])
    assert (features.extra, features.lacking) == (5, 8)


@pytest.mark.parametrize(
    ("searched", "score", "is_name"),
    # Encoders may not tell capitals apart, and a name in other words than the mention's has less.
    [("fever", 0.99995, 1), ("Fever", 0.93, 1), ("fevers", 0.93, 0), ("", 0.5, 0)],
)
def test_a_text_that_is_a_name(searched, score, is_name):
    candidate = Candidate("C1", "Fever", score, "Fever", "O-T", searched=searched)
    assert features_of([candidate])[0].name == is_name


def test_a_logistic_regression_is_found_again():
    generator = np.random.default_rng(0)
    features = generator.uniform(0, 1, (20_000, 6))
    weights = [-4.0, 6.0, 3.0, -2.0, 1.0, 0.5, -0.5]
    true = Calibration(*weights)
    probabilities = [true.probability(CandidateFeatures(*row)) for row in features.tolist()]
    right = generator.uniform(size=len(features)) < np.asarray(probabilities)
    assert list(Calibration.fit(features, right)) == pytest.approx([*weights, 1], abs=0.3)


def test_what_can_be_told_apart_still_has_finite_weights():
    rows = [[0.9, 0.5, 1, 1], [0.8, 0.4, 1, 0], [0.2, 0, 0, 0], [0.1, 0, 0, 0]]
    features = np.asarray([[*row, 0, 5] for row in rows])
    found = Calibration.fit(features, np.asarray([True, True, False, False]))
    assert all(math.isfinite(value) for value in found)
