import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_connorm.concepts import NIL
from spacy_connorm.evaluation.nil_curve import (
    apply_threshold,
    choose_threshold,
    curve_points,
    trace_nil_curve,
)

from .answers import gold, predict

# right, right, wrong, NIL, right, NIL, and one that finds nothing
LINKS = [gold("A"), gold("A"), gold("A"), gold(), gold("A"), gold(), gold("A")]


PREDICTIONS = [
    predict(("A", 0.9)),
    predict(("A", 0.8), ("B", 0.8)),
    predict(("B", 0.7)),
    predict(("B", 0.6)),
    predict(("A", 0.6)),
    predict(("A", 0.2)),
    predict(),
]


def test_a_curve_by_hand():
    curve = trace_nil_curve(LINKS, PREDICTIONS)
    assert curve.threshold.tolist() == [0.9, 0.8, 0.7, 0.6, 0.2]
    assert curve.written.tolist() == [1, 2, 3, 5, 6]
    assert curve.right.tolist() == [1, 2, 2, 3, 3]
    assert (curve.linked, curve.mentions) == (5, 7)
    assert curve.precision.tolist() == pytest.approx([1, 1, 2 / 3, 3 / 5, 3 / 6])
    assert curve.recall.tolist() == pytest.approx([1 / 5, 2 / 5, 2 / 5, 3 / 5, 3 / 5])
    assert curve.coverage.tolist() == pytest.approx([1 / 7, 2 / 7, 3 / 7, 5 / 7, 6 / 7])
    assert curve.f1.tolist() == pytest.approx([2 / 6, 4 / 7, 4 / 8, 6 / 10, 6 / 11])


def test_the_threshold_stands_half_way_to_what_is_not_to_pass():
    assert choose_threshold(trace_nil_curve(LINKS, PREDICTIONS)) == pytest.approx(0.4)


def test_without_anything_to_gain_there_is_no_threshold():
    assert choose_threshold(trace_nil_curve(LINKS[:2], PREDICTIONS[:2])) is None
    assert choose_threshold(trace_nil_curve(LINKS[-1:], PREDICTIONS[-1:])) is None
    assert choose_threshold(trace_nil_curve([], [])) is None


def test_of_equal_thresholds_the_lowest_is_chosen():
    listed = [predict(("A", 0.9)), predict(("A", 0.5)), predict(("B", 0.4))]
    # F1 2/4 with one right of one, 4/5 with two of two, 4/6 with two of three
    assert choose_threshold(trace_nil_curve([gold("A")] * 3, listed)) == pytest.approx(0.45)
    # one right of one among two with gold ids: 2/3; both wrong in between: 2/4, then two of three
    listed = [predict(("A", 0.9)), predict(("B", 0.5)), predict(("A", 0.4))]
    assert choose_threshold(trace_nil_curve([gold("A"), gold(), gold("A")], listed)) is None


def test_parts_pass_one_by_one():
    both = predict(("A", 0.9, 1), ("B", 0.5, 2))
    curve = trace_nil_curve([gold("A", "B")], [both])
    assert (curve.written.tolist(), curve.right.tolist()) == ([1, 1], [0, 1])
    curve = trace_nil_curve([gold("A")], [both])
    assert (curve.written.tolist(), curve.right.tolist()) == ([1, 1], [1, 0])
    assert choose_threshold(curve) == pytest.approx(0.7)


def test_what_is_written_with_another_threshold():
    written = [prediction.written for prediction in apply_threshold(PREDICTIONS, 0.65)]
    assert written == ["A", "A", "B", NIL, NIL, NIL, NIL]
    assert [prediction.written for prediction in apply_threshold(PREDICTIONS, None)] == [
        *"AABBAA",
        NIL,
    ]


SCORES = st.sampled_from([-0.5, 0.0, 0.2, 0.5, 0.9, 1.0])


ANSWER = st.lists(st.tuples(st.sampled_from("ABC"), SCORES), max_size=3)


RIGHT = st.sets(st.sampled_from("ABC"), max_size=2)


@given(st.lists(st.tuples(RIGHT, ANSWER, st.booleans()), max_size=8))
def test_every_point_is_what_scoring_anew_gives(mentions):
    golds = [gold(*right) for right, _, _ in mentions]
    predictions = [
        predict(
            *(
                (concept, score, number if is_split else 0)
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


def test_a_curve_is_shown_where_mentions_are_covered():
    listed = [predict(("A", number / 1000)) for number in range(1000)]
    shown = curve_points(trace_nil_curve([gold("A")] * 1000, listed))
    assert [row["coverage"] for row in shown] == [100, 95, 90, 80, 70, 60, 50]
    assert shown[0] == {
        "NIL below": "0.0000",
        **{"coverage": 100, "precision": 100, "recall": 100, "f1": 100},
    }
    assert shown[-1]["NIL below"] == "0.5000"
    same = [predict(("A", 0.5))] * 3
    assert len(curve_points(trace_nil_curve([gold("A")] * 3, same))) == 1
    assert curve_points(trace_nil_curve([], [])) == []
