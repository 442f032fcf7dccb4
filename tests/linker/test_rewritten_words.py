"""Mentions that become names when words in them are replaced."""

import pytest

from spacy_connorm import Concept, Ontology
from spacy_connorm.errors import ConnormError
from spacy_connorm.text.substitutions import Substitution

# None of these words is like those that it stands for.
SUBSTITUTIONS = [
    Substitution(("cardiac",), ("heart",), 99, 0),
    Substitution(("illness",), ("disease",), 9, 0),
    Substitution(("arrest",), ("attack",), 9, 0),
]


@pytest.fixture(params=["ngrams", "hashes", "hybrid"])
def make(request, make_normalizer, ontology, hashes, hybrid):
    """A function that makes a normalizer with a table."""
    config = {"ngrams": {}, "hashes": hashes, "hybrid": hybrid}[request.param]

    def make(**settings):
        normalizer = make_normalizer(**{**config, **settings})
        normalizer.initialize(lambda: [], ontology=ontology, substitutions=SUBSTITUTIONS)
        return normalizer

    return make


def first(normalizer, mention, **limits):
    ((best, *_),) = normalizer.candidates([mention], **limits)
    return best


def test_mentions_in_other_words_are_found(make):
    normalizer = make(rewriting_weight=1.0)
    best = first(normalizer, "cardiac illness")
    assert (best.concept_id, best.text) == ("C1", "heart disease")
    assert best.score == pytest.approx(0.99 * 0.9, abs=0.15)
    assert first(normalizer, "Arrest, Cardiac").concept_id == "C2"


def test_scores_are_raised_by_the_weight(make):
    plain, raised = (first_of(make(rewriting_weight=weight)) for weight in (0.0, 0.5))
    expected = plain["C1"] + 0.5 * 0.99 * 0.9 * (1 - plain["C1"])
    assert raised["C1"] == pytest.approx(expected, abs=1e-4)
    del plain["C1"], raised["C1"]
    assert plain == raised


def first_of(normalizer):
    (found,) = normalizer.candidates(["cardiac illness"])
    return {each.concept_id: each.score for each in found}


def test_a_minus_is_no_other_form_of_a_plus(make_normalizer):
    def score(weight, mention):
        normalizer = make_normalizer(rewriting_weight=weight)
        normalizer.initialize(lambda: [], ontology=Ontology([Concept("C1", "ER+ breast cancer")]))
        return first(normalizer, mention).score

    assert score(1.0, "breast cancer, ER+") > score(0.0, "breast cancer, ER+")
    assert score(1.0, "breast cancer, ER-") == score(0.0, "breast cancer, ER-")


def test_names_and_filters_are_as_without(make):
    normalizer = make(rewriting_weight=1.0)
    assert first(normalizer, "heart attack").score == pytest.approx(1, abs=1e-4)
    assert first(normalizer, "cardiac illness", types=["Symptom"]).concept_id == "C5"
    normalizer.remove_synonyms([("heart disease", "C1")])
    assert all(each.score < 0.85 for each in normalizer.candidates(["cardiac illness"])[0])


def test_changing_the_weight_changes_answers(make):
    normalizer = make(rewriting_weight=1.0)
    raised = first_of(normalizer)
    normalizer.lookup.tune({"rewriting_weight": 0.0})
    assert first_of(normalizer)["C1"] < raised["C1"]


def test_the_table_is_saved(make, make_normalizer, tmp_path):
    normalizer = make(rewriting_weight=1.0)
    normalizer.to_disk(tmp_path / "saved")
    other = make()
    few = [other.lookup.index.concept(concept_id) for concept_id in ("C3", "C4")]
    other.initialize(lambda: [], ontology=Ontology(few))
    assert other.lookup.index.rewriting is None
    other.from_disk(tmp_path / "saved")
    assert first_of(other) == first_of(normalizer)


@pytest.mark.parametrize("weight", [-0.1, 1.1, "1"])
def test_weights_are_shares(blank_pipeline, weight):
    with pytest.raises((ConnormError, ValueError), match="rewriting_weight"):
        blank_pipeline(rewriting_weight=weight).get_pipe("concept_normalizer")
