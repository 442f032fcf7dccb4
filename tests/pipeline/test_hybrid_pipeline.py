"""A pipeline whose scores weigh meaning and spelling."""

from itertools import chain

import pytest
import spacy

from spacy_connorm.linker.sieve import Sieve

SEARCHES = ["O-T", "O-C", "D-T", "D-C", "OD-T", "OD-C"]
MENTIONS = ["MI", "cold", "head spinning", "heart attak", "vertgo", "aspirine", "q"]


def weigh(candidate, weight):
    return (candidate.dense + weight * candidate.lexical) / (1 + weight)


def with_weight(settings, weight):
    return {**settings, "encoder": {**settings["encoder"], "lexical_weight": weight}}


@pytest.fixture
def normalizer(changed, hybrid):
    every = {"@misc": "spacy-connorm.Sieve.v1", "searches": SEARCHES, "thresholds": [0.9] * 5}
    return changed(**hybrid, sieve=every, compare_words=False)


@pytest.mark.parametrize("search", SEARCHES)
def test_candidates_tell_both_cosines(normalizer, search):
    found = normalizer.candidates(MENTIONS, search=search, top_k=10)
    assert any(found)
    for candidate in (candidate for candidates in found for candidate in candidates):
        assert candidate.score == pytest.approx(weigh(candidate, 0.5), abs=2e-5)
        assert -1 <= candidate.dense <= 1 and 0 <= candidate.lexical <= 1


@pytest.mark.parametrize("search", ["D-T", "OD-T"])
def test_added_synonyms_score_one_on_both_sides(normalizer, search):
    (candidates,) = normalizer.candidates(["head spinning"], search=search, top_k=3)
    best = candidates[0]
    assert (best.concept_id, best.text) == ("C5", "head spinning")
    assert (best.score, best.dense, best.lexical) == pytest.approx((1, 1, 1), abs=2e-5)


def test_other_encoders_have_one_cosine(make_normalizer, hashes):
    for settings in ({}, hashes):
        (candidates,) = make_normalizer(**settings).candidates(["MI"], top_k=3)
        assert {(candidate.dense, candidate.lexical) for candidate in candidates} == {(None, None)}


def test_explanations_tell_both_cosines(normalizer):
    explanation = normalizer.explain("heart attak", top_k=2)
    for step in explanation.steps:
        for candidate in step.candidates:
            assert candidate.score == pytest.approx(weigh(candidate, 0.5), abs=2e-5)


def test_filters_act_on_both_sides(normalizer):
    for candidates in normalizer.candidates(MENTIONS, search="OD-T", top_k=5, types=["Chemical"]):
        assert [candidate.concept_id for candidate in candidates] == ["C6"]


def test_weight_nothing_is_the_dense_encoder_alone(make_normalizer, hybrid, hashes):
    alone = make_normalizer(**hashes, compare_words=False)
    both = make_normalizer(**with_weight(hybrid, 0), compare_words=False)
    for search in ("O-T", "OD-T"):
        for one, other in zip(
            alone.candidates(MENTIONS, search=search, top_k=6),
            both.candidates(MENTIONS, search=search, top_k=6),
            strict=True,
        ):
            assert [each[:2] for each in one] == [each[:2] for each in other]
            scores = [each.score for each in other]
            assert scores == pytest.approx([each.score for each in one], abs=2e-5)
            assert scores == pytest.approx([each.dense for each in other], abs=2e-5)


def test_great_weight_is_the_lexical_encoder_alone(make_normalizer, hybrid):
    alone = make_normalizer()
    both = make_normalizer(**with_weight(hybrid, 1e6))
    found = zip(
        alone.candidates(MENTIONS, search="O-T", top_k=1),
        both.candidates(MENTIONS, search="O-T", top_k=1),
        strict=True,
    )
    for one, other in found:
        if one:
            assert other[0].concept_id == one[0].concept_id
            assert other[0].score == pytest.approx(one[0].score, abs=1e-5)


def test_what_spelling_knows_nothing_of_is_found_by_meaning(make_normalizer, hybrid):
    (candidates,) = make_normalizer(**hybrid).candidates(["\u96ea"], search="O-T", top_k=3)
    assert len(candidates) == 3
    assert {candidate.lexical for candidate in candidates} == {0}


def test_each_search_answers_the_same_after_saving_and_loading(
    normalizer, blank_normalizer, hybrid, tmp_path
):
    searched = {
        search: normalizer.candidates(MENTIONS, search=search, top_k=4) for search in SEARCHES
    }
    normalizer.to_disk(tmp_path / "saved")
    block = {"@misc": "spacy-connorm.Sieve.v1", "searches": SEARCHES, "thresholds": [0.9] * 5}
    for loaded in (
        blank_normalizer(**hybrid, sieve=block).from_disk(tmp_path / "saved"),
        blank_normalizer(**hybrid, sieve=block).from_bytes(normalizer.to_bytes()),
    ):
        for search, found in searched.items():
            again = loaded.candidates(MENTIONS, search=search, top_k=4)
            for one, other in zip(chain(*again), chain(*found), strict=True):
                assert one[:2] == other[:2]
                assert one.score == pytest.approx(other.score, abs=2e-5)
                assert one.dense == pytest.approx(other.dense, abs=2e-5)


def test_the_weight_can_be_set_where_a_pipeline_is_loaded(make_pipeline, hybrid, tmp_path):
    make_pipeline(**hybrid).to_disk(tmp_path / "pipeline")
    weight = {"components.concept_normalizer.encoder.lexical_weight": 3}
    nlp = spacy.load(tmp_path / "pipeline", config=weight)
    normalizer = nlp.get_pipe("concept_normalizer")
    (candidates,) = normalizer.candidates(["heart attak"], search="O-T", top_k=1)
    assert candidates[0].score == pytest.approx(weigh(candidates[0], 3), abs=2e-5)


def test_a_search_that_was_not_built_is_exact(make_normalizer, hybrid):
    normalizer = make_normalizer(**hybrid)
    assert normalizer.lookup.sieve == Sieve(thresholds=[0.98])
    (candidates,) = normalizer.candidates(["heart attack"], search="O-T", top_k=1)
    assert candidates[0].concept_id == "C2"
    assert candidates[0].lexical == pytest.approx(1, abs=1e-6)
