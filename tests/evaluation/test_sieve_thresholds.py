"""Thresholds of sieves, by hand and against trying all."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_connorm.concepts import NIL, Candidate
from spacy_connorm.evaluation import Gold, Prediction
from spacy_connorm.evaluation.protocol import strict_rank
from spacy_connorm.evaluation.sieve_thresholds import best_score, choose_thresholds
from spacy_connorm.linker.sieve import Sieve


def candidate(concept_id, score, part=0):
    return Candidate(concept_id, "", score, "", "O-T", part=part)


def predict(*answers):
    found = [candidate(*answer) for answer in answers]
    return Prediction(found, found[0].concept_id if found else NIL)


def gold(*concept_ids):
    return Gold("mention", frozenset(concept_ids), in_ontology=True)


GOLD = [gold("A")] * 4 + [gold()]
FOUND = {
    "D-T": [
        predict(("A", 0.9)),
        predict(("A", 0.7)),
        predict(("B", 0.4)),
        predict(),
        predict(("A", 1.0)),
    ],
    "OD-T": [
        predict(("B", 0.9)),
        predict(("B", 0.9)),
        predict(("A", 0.9)),
        predict(("A", 0.9)),
        predict(("A", 0.9)),
    ],
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
    assert [each.written for each in answered] == ["A"] * 5


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
        return sum(strict_rank(each, gold("A")) == 1 for each in answered)

    (chosen,) = choose_thresholds(golds, found, SEARCHES, [current])
    assert -1 <= chosen <= 1
    assert right(chosen) == max(map(right, (-1.0, -0.5, 0.2, 0.6, 0.9, 1.0)))
    assert right(chosen) > right(current) or chosen == current
