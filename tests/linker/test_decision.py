"""Which interpretation answers, by hand."""

import pytest

from spacy_connorm.concepts import Candidate
from spacy_connorm.lang import load_language
from spacy_connorm.linker.decision import best_first, links_better
from spacy_connorm.linker.texts import Interpretation

CLASSES = load_language("en").words


def interpretation(*scored, kind="as written"):
    parts = tuple(
        [Candidate(concept, concept, score, "", "O-T") for concept, score in part.items()]
        for part in scored
    )
    return Interpretation("parts" if len(parts) > 1 else kind, ("",) * len(parts), parts)


@pytest.mark.parametrize(
    ("parts", "whole", "better"),
    [
        ([{"A": 0.9}, {"B": 0.74}], {"C": 0.7}, False),
        ([{"A": 0.9}, {"B": 0.76}], {"C": 0.7}, True),
        ([{"A": 0.7}, {"B": 0.7}], {"A": 0.7, "B": 0.7}, True),
        ([{"A": 0.6}, {"B": 0.5}], {"A": 0.7, "B": 0.7, "C": 0.7}, True),
        ([{"A": 0.6}, {"D": 0.5}], {"A": 0.7, "B": 0.7, "C": 0.7}, False),
        ([{"A": 0.7}, {"B": 0.7}], {"A": 0.7, "B": 0.6}, False),
        ([{"A": 0.9}, {"A": 0.9}], {"C": 0.7}, False),
        ([{"A": 0.9}, {}], {"C": 0.7}, False),
        ([{"A": 0.9}, {"B": 0.8}], {}, True),
        ([{}, {}], {}, False),
        ([{"A": 1.0}, {"B": 1.0}], {"C": 0.98}, True),
        ([{"A": 1.0}, {"B": 0.99}], {"C": 0.98}, False),
        ([{"A": 1.0}, {"B": 1.0}], {"C": 1.0}, False),
    ],
)
def test_parts_link_better_than_the_whole_by_their_scores(parts, whole, better):
    assert links_better(interpretation(*parts), interpretation(whole), CLASSES) is better


@pytest.mark.parametrize(
    ("score", "better"),
    [(0.7, True), (0.69, False)],
)
def test_unlikely_parts_keep_the_whole(score, better):
    parts = interpretation({"A": 0.9}, {"B": score})
    assert links_better(parts, interpretation({"A": 0.4}), CLASSES) is better


@pytest.mark.parametrize(
    ("text", "better"),
    [
        ("Hereditary Breast and Ovarian Cancer", False),
        ("ovarian/breast tumour", False),
        ("ovarian cancer", True),
        ("cancer", True),
    ],
)
def test_a_concept_that_names_all_parts_is_more_than_these(text, better):
    parts = interpretation({"A": 0.9}, {"B": 0.9})._replace(
        texts=("breast cancer", "ovarian cancer")
    )
    whole = Interpretation("as written", ("",), ([Candidate("C", "C", 0.7, text, "O-T")],))
    assert links_better(parts, whole, CLASSES) is better


@pytest.mark.parametrize(("score", "better"), [(0.69, True), (0.7, False)])
def test_a_concept_that_lacks_what_the_parts_share_does_not_answer(score, better):
    parts = interpretation({"A": 0.9}, {"B": 0.9})._replace(texts=("wide hands", "wide feet"))
    nearest = Candidate("C", "C", score, "Aphalangy of hands and feet", "O-T")
    whole = Interpretation("as written", ("",), ([nearest],))
    assert links_better(parts, whole, CLASSES) is better


def test_a_part_without_words_of_its_own_is_not_named_by_the_other():
    parts = interpretation({"H": 1.0}, {"N": 1.0})._replace(
        texts=("Hodgkin lymphoma", "non-Hodgkin lymphoma")
    )
    nearest = Candidate("N", "N", 0.9, "Non-Hodgkin lymphoma", "O-T")
    assert links_better(parts, Interpretation("as written", ("",), ([nearest],)), CLASSES)


def test_a_capital_a_is_not_an_article():
    parts = interpretation({"A": 1.0}, {"B": 1.0})._replace(texts=("hepatitis A", "hepatitis B"))
    nearest = Candidate("B", "B", 0.93, "hepatitis B", "O-T")
    assert links_better(parts, Interpretation("as written", ("",), ([nearest],)), CLASSES)


@pytest.mark.parametrize(("score", "chosen"), [(0.9, 2), (0.84, 1), (0.8, 1)])
def test_of_several_ways_to_take_a_mention_apart_the_first_that_is_not_clearly_worse(score, chosen):
    whole = interpretation({"C": 0.7})
    one = interpretation({"A": 0.8}, {"B": 0.9})
    other = interpretation({"A": 0.9}, {"B": 0.9}, {"D": score})
    interpretations = [whole, one, other]
    assert best_first(interpretations, CLASSES)[0] is interpretations[chosen]


def test_readings_stay_together_the_best_first():
    interpretations = [interpretation({"A": 0.5}, kind="long form"), interpretation({"B": 0.6})]
    assert best_first(interpretations, CLASSES) == interpretations[::-1]


@pytest.mark.parametrize(("nil_threshold", "chosen"), [(None, 1), (0.02, 0), (0.95, 1)])
def test_what_would_be_nil_does_not_answer_before_what_would_not(nil_threshold, chosen):
    ways = [
        Interpretation(
            kind, ("",), ([Candidate(name, name, score, name, "O-T", probability=probability)],)
        )
        for kind, name, score, probability in (
            ("reworded name", "A", 0.93, 0.9),
            ("as written", "B", 0.97, 0.01),
        )
    ]
    assert best_first(ways, CLASSES, nil_threshold)[0] is ways[chosen]


@pytest.mark.parametrize(
    ("scores", "settled"),
    [
        ({"A": 1.0, "B": 0.9}, True),
        ({"A": 0.98}, False),
        ({"A": 1.0, "B": 1.0}, False),
        ({}, False),
    ],
)
def test_one_certain_concept_settles_an_interpretation(scores, settled):
    assert interpretation(scores).is_settled is settled
