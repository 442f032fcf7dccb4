import math

import numpy as np
import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st

from spacy_connorm.concepts import NIL, Candidate
from spacy_connorm.errors import ConnormError, ConnormWarning
from spacy_connorm.evaluation import Gold, Prediction, calibrate, evaluate
from spacy_connorm.evaluation.calibration import (
    CalibrationData,
    Outcome,
    apply_threshold,
    apply_tuning,
    best_score,
    choose_threshold,
    choose_thresholds,
    cross_validate,
    curve_points,
    fit_calibration,
    judge,
    make_folds,
    measure_reliability,
    outcome_row,
    read_calibration_data,
    trace_nil_curve,
    tune,
)
from spacy_connorm.evaluation.metrics import strict_rank
from spacy_connorm.linker.interpretations import Calibration
from spacy_connorm.linker.sieve import Sieve

TEXTS = st.lists(st.sampled_from([f"text {number}" for number in range(30)]), min_size=1)


@given(TEXTS)
def test_each_mention_is_held_out_once(texts):
    folds = make_folds(texts, folds=5)
    assert (np.sum(folds, axis=0) == 1).all()


@given(TEXTS)
def test_no_text_is_on_both_sides(texts):
    for fold in make_folds([*texts, *(text.upper() for text in texts)], folds=5):
        kept = {text for text, mine in zip([*texts, *texts], ~fold, strict=True) if mine}
        held = {text for text, mine in zip([*texts, *texts], fold, strict=True) if mine}
        assert not kept & held


def test_folds_hold_about_as_many_texts_and_are_the_same_again():
    texts = [f"text {number}" for number in range(103)]
    folds = make_folds(texts)
    assert sorted(int(fold.sum()) for fold in folds) == [10] * 7 + [11] * 3
    assert np.array_equal(folds, make_folds(texts))
    assert not np.array_equal(folds, make_folds(texts, seed=1))


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
        *(
            predict((concept_id, score))
            for concept_id, score in (("A", 0.9), ("A", 0.7), ("B", 0.4))
        ),
        *(predict(), predict(("A", 1.0))),
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
    outcome = cross_validate(gold, found, SIEVE)
    assert sorted(each.text for each in outcome.gold) == sorted(each.text for each in gold)
    assert len(outcome.probabilities) == len(outcome.right) == 120
    own, held = (
        outcome_row(each) for each in (apply_tuning(tune(gold, found, SIEVE), gold, found), outcome)
    )
    assert held["log_loss"] > own["log_loss"]
    assert held["concept_f"] <= own["concept_f"]


def test_what_is_held_out_is_not_tuned_on(monkeypatch):
    gold, found = corpus()
    folds, tuned = make_folds([each.text for each in gold]), []

    def note(kept, found, sieve):
        tuned.append({each.text for each in kept})
        return tune(kept, found, sieve)

    monkeypatch.setattr("spacy_connorm.evaluation.calibration.tune", note)
    outcome = cross_validate(gold, found, SIEVE)
    texts = np.asarray([each.text for each in gold])
    assert tuned == [set(texts[~fold].tolist()) for fold in folds]
    assert [each.text for each in outcome.gold] == np.concatenate(
        [texts[fold] for fold in folds]
    ).tolist()


def test_an_outcome_of_nothing():
    row = outcome_row(Outcome([], [], np.empty(0), np.empty(0, dtype="bool")))
    assert set(row.values()) == {0, None}


def test_a_nil_that_is_written_is_not_covered():
    gold = [Gold("a", frozenset("A"), in_ontology=True)] * 2
    written = [predict(("A", 0.9)), predict(("A", 0.1))._replace(written=NIL)]
    row = outcome_row(Outcome(gold, written, np.asarray([0.9, 0.5]), np.asarray([True, True])))
    assert (row["coverage"], row["concept_p"], row["concept_r"]) == (50.0, 100.0, 50.0)


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
    outcome = judge([gold("A")], [Prediction([], NIL)], None)
    assert measure_reliability(outcome.probabilities, outcome.right) == (None, None)


def test_a_logistic_regression_is_found_again():
    generator = np.random.default_rng(0)
    features = generator.uniform(0, 1, (20_000, 2))
    true = Calibration(intercept=-4.0, score=6.0, margin=3.0)
    probabilities = np.asarray([true.probability(*pair) for pair in features.tolist()])
    right = generator.uniform(size=len(features)) < probabilities
    found = fit_calibration(CalibrationData(features, right))
    assert list(found) == pytest.approx([-4, 6, 3], abs=0.3)


def test_what_can_be_told_apart_still_has_finite_weights():
    features = np.asarray([[0.9, 0.5], [0.8, 0.4], [0.2, 0.0], [0.1, 0.0]])
    found = fit_calibration(CalibrationData(features, np.asarray([True, True, False, False])))
    assert all(math.isfinite(value) for value in found)


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


def test_cosines_are_never_wholly_sure():
    predictions = [Prediction([candidate("A", score)], "A") for score in (1.0, 0.5, -0.2)]
    found = judge([gold("A")] * 3, predictions, None).probabilities
    assert found.tolist() == pytest.approx([0.999, 0.5, 0.001])


# right, right, wrong, NIL, right, NIL, and one that finds nothing
LINKS = [gold("A"), gold("A"), gold("A"), gold(), gold("A"), gold(), gold("A")]
PREDICTIONS = [
    *(predict(("A", 0.9)), predict(("A", 0.8), ("B", 0.8)), predict(("B", 0.7))),
    *(predict(("B", 0.6)), predict(("A", 0.6)), predict(("A", 0.2)), predict()),
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


def test_what_rounding_puts_above_1_needs_no_nil_threshold_above_1():
    listed = [predict(("A", 1.000001)), predict(("B", 1.0))]
    curve = trace_nil_curve([gold("A"), gold()], listed)
    assert (curve.threshold.tolist(), curve.written.tolist()) == ([1.0], [2])


def test_parts_pass_one_by_one():
    both = predict(("A", 0.9, 1), ("B", 0.5, 2))
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


def normalizer(path):
    return spacy.load(path).get_pipe("concept_normalizer")


@pytest.fixture(scope="module")
def calibrated(folder):
    return calibrate(folder / "pipeline", folder / "dev.spacy", folder / "calibrated")


def test_a_calibrated_pipeline_has_its_settings_in_both_places(calibrated, here):
    nlp = spacy.load("calibrated")
    component = nlp.get_pipe("concept_normalizer")
    config = nlp.config["components"]["concept_normalizer"]
    assert component.cfg["nil_threshold"] == pytest.approx(config["nil_threshold"])
    assert config["nil_threshold"] == pytest.approx(calibrated.tuning.nil_threshold)
    assert config["nil_threshold"] > 0.3
    assert component.cfg["calibration"] == pytest.approx(config["calibration"])
    assert component.lookup.sieve.thresholds == tuple(config["sieve"]["thresholds"])
    (candidates,) = component.candidates(["heart attack"], top_k=1)
    assert 0.5 < candidates[0].probability <= 1
    assert normalizer("pipeline").cfg["calibration"] is None


def test_what_was_fitted_is_shown_before_and_after_and_held_out(calibrated):
    settings, outcomes, _ = calibrated.sections
    assert (
        "calibrated on dev.spacy" in settings.title and "calibrated on dev.spacy" in outcomes.title
    )
    (nil,) = [row for row in settings.rows if row["setting"] == "nil_threshold"]
    assert nil["as it was"] == "0.3000" and float(nil["fitted"]) > 0.3
    assert [row["settings"] for row in outcomes.rows] == [
        *("as they were", "fitted, same mentions", "fitted, held-out mentions")
    ]
    assert list(calibrated.outcomes) == [row["settings"] for row in outcomes.rows]


def test_other_thresholds_are_shown(calibrated):
    points = calibrated.sections[-1].rows
    assert points[0]["coverage"] == 100.0
    assert points[0]["precision"] < points[-1]["precision"]
    before, same, _ = (row for row in calibrated.sections[1].rows)
    assert float(same["log loss"]) < float(before["log loss"])
    assert same["concept f"] >= before["concept f"]


def test_a_calibrated_pipeline_can_be_calibrated_again_in_its_place(calibrated, here):
    again = calibrate("calibrated", "dev.spacy", "again")
    assert again.tuning == calibrated.tuning
    calibrate("pipeline", "dev.spacy", "again")
    assert normalizer("calibrated").cfg == normalizer("again").cfg


def test_an_evaluation_shows_and_keeps_what_it_calibrates(calibrated, here):
    report = evaluate(
        "pipeline", "dev.spacy", calibrate_path="beside", markdown_path="calibrated.md"
    )
    assert report.calibrated.tuning == calibrated.tuning
    assert report.sections[-3:] == calibrated.sections
    text = (here / "calibrated.md").read_text(encoding="utf8")
    assert "fitted, held-out mentions" in text
    assert normalizer("beside").cfg == normalizer("calibrated").cfg


def test_nothing_is_written_without_a_path(here, capsys):
    before = sorted(path.name for path in here.iterdir())
    calibrated = calibrate("pipeline", "dev.spacy")
    assert calibrated.tuning.nil_threshold > 0.3
    assert sorted(path.name for path in here.iterdir()) == before
    assert capsys.readouterr() == ("", "")


def test_without_nil_the_threshold_is_null_and_says_so(here, dev_mentions, write_corpus):
    write_corpus("linked.spacy", [each for each in dev_mentions if each[2]])
    calibrated = calibrate("pipeline", "linked.spacy", "linked")
    assert calibrated.tuning.nil_threshold is None
    (nil,) = [row for row in calibrated.sections[0].rows if row["setting"] == "nil_threshold"]
    assert nil["fitted"] == "null: no mention is NIL"
    assert normalizer("linked").cfg["nil_threshold"] is None


def test_calibrating_on_what_is_indexed_is_told(here, dev_mentions):
    nlp = spacy.load("pipeline")
    nlp.get_pipe("concept_normalizer").add_synonyms(
        [
            (text, "C3" if place % 2 else kb_id)
            for place, (text, _, kb_id) in enumerate(dev_mentions)
            if kb_id
        ]
    )
    nlp.to_disk("indexed")
    with pytest.warns(ConnormWarning, match=r"CNW610.*has 100 % .* already"):
        calibrate("indexed", "dev.spacy")


@pytest.mark.parametrize(
    ("corpus", "output", "options", "code"),
    [
        ("gold.spacy", "out", {}, "CN611"),
        ("without.spacy", "out", {}, "CN600"),
        ("dev.spacy", "other", {}, "CN705"),
        ("dev.spacy", "out", {"component": "ner"}, "CN704"),
    ],
)
def test_bad_input(here, corpus, output, options, code):
    with pytest.raises(ConnormError, match=code):
        calibrate("pipeline", corpus, output, **options)
    assert not (here / "out").exists()
