"""Which interpretation answers, and probabilities from scores, by hand."""

import math
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_connorm.concepts import Candidate
from spacy_connorm.errors import ConnormError
from spacy_connorm.lang import load_language
from spacy_connorm.linker.interpretations import (
    Calibration,
    Interpretation,
    best_first,
    is_settled,
    links_better,
    margins,
    with_probabilities,
)
from spacy_connorm.linker.linking import Query, candidates_of
from spacy_connorm.linker.sieve import Sieve
from spacy_connorm.text.words import words_of

CALIBRATION = Calibration(intercept=-6.0, score=8.0, margin=5.0)

CLASSES = load_language("en").words


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
    assert [each._replace(probability=None) for each in after] == before
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
        each.probability
        for each in with_probabilities(found(*sorted(scores, reverse=True)), CALIBRATION)
    ]
    assert probabilities == sorted(probabilities, reverse=True)


class Texts:
    """Scores of concepts by text, as an index would give them; everything else is unknown. Stands
    in for a retriever.
    """

    has_cosines = True
    index = SimpleNamespace(words=words_of("en"))

    def __init__(self, found, *, data=()):
        self.found = found
        self.data = set(data)
        self.asked = []

    def find_known_texts(self, texts, target):
        return {
            text for text in texts if text in self.data or (target == "OD" and text in self.found)
        }


@pytest.fixture(autouse=True)
def retrieve(monkeypatch):
    """Answers from `Texts`, without any index."""

    def retrieve(texts, asked, query):
        texts.asked.extend(asked)
        found = {
            text: [
                Candidate(concept, concept, score, concept, "OD-T", searched=text)
                for concept, score in texts.found.get(text, {}).items()
            ]
            for text in asked
        }
        calibration = query.calibration
        return {
            text: with_probabilities(each, calibration) if calibration else each
            for text, each in found.items()
        }

    monkeypatch.setattr("spacy_connorm.linker.linking.retrieve", retrieve)


def find(texts, mentions, long_forms=None, **settings):
    query = Query(Sieve(), **{"top_k": 5, **settings})
    return candidates_of(texts, mentions, query, long_forms=long_forms)


def read(texts, mention, long_form="", **settings):
    (found,) = find(texts, [mention], [long_form], **settings)
    return [(each.concept_id, each.searched, each.part) for each in found]


def interpretation(*scored, kind="as written"):
    parts = tuple(
        [Candidate(concept, concept, score, "", "O-T") for concept, score in part.items()]
        for part in scored
    )
    return Interpretation("parts" if len(parts) > 1 else kind, ("",) * len(parts), parts)


# Long forms
def test_the_long_form_is_searched_where_there_is_one():
    texts = Texts({"CRC": {"C1": 0.9}, "colorectal cancer": {"C2": 0.5}})
    assert read(texts, "CRC", "colorectal cancer") == [("C2", "colorectal cancer", 0)]
    assert texts.asked == ["colorectal cancer"]


def test_a_short_form_without_a_definition_is_searched_as_it_is():
    assert read(Texts({"CRC": {"C1": 0.9}}), "CRC") == [("C1", "CRC", 0)]


@pytest.mark.parametrize(
    ("short", "long", "winner"), [(1.0, 0.9, "AAPC"), (0.8, 0.9, "polyposis"), (1, 1, "polyposis")]
)
def test_of_a_short_form_in_the_data_the_better_text_answers(short, long, winner):
    texts = Texts({"AAPC": {"C1": short}, "polyposis": {"C2": long}}, data=["AAPC"])
    ((_, searched, _),) = read(texts, "AAPC", "polyposis")
    assert searched == winner


@pytest.mark.parametrize(
    ("mention", "count"), [("GALC activity", 2), ("GALC/GALC", 2), ("GALC-1", 2), ("GALC", 1)]
)
def test_what_the_ontology_says_of_more_than_a_short_form_is_heard(mention, count):
    texts = Texts({mention: {"C1": 1.0}, "galactocerebrosidase": {"C2": 0.9}})
    read(texts, mention, "galactocerebrosidase")
    assert len(texts.asked) == count


def test_one_text_with_and_without_a_definition():
    texts = Texts({"CRC": {"C1": 0.9}, "colorectal cancer": {"C2": 0.5}})
    one, other = find(texts, ["CRC"] * 2, ["colorectal cancer", ""], top_k=1)
    assert (one[0].concept_id, other[0].concept_id) == ("C2", "C1")


# Parts
CANCERS = {
    "breast and ovarian cancer": {"B": 0.7, "O": 0.6},
    "breast cancer": {"B": 1.0, "T": 0.5},
    "ovarian cancer": {"O": 0.9},
}


def test_parts_answer_where_they_link_better():
    assert read(Texts(CANCERS), "breast and ovarian cancer") == [
        ("B", "breast cancer", 1),
        ("T", "breast cancer", 1),
        ("O", "ovarian cancer", 2),
    ]


def test_parts_can_be_left_alone():
    texts = Texts(CANCERS)
    found = read(texts, "breast and ovarian cancer", split_composites=False)
    assert [searched for _, searched, _ in found] == ["breast and ovarian cancer"] * 2
    assert texts.asked == ["breast and ovarian cancer"]


def test_parts_of_the_long_form():
    texts = Texts(CANCERS)
    found = read(texts, "BOC", "breast and ovarian cancer")
    assert {part for _, _, part in found} == {1, 2}


def test_a_text_that_the_index_has_is_not_taken_apart():
    texts = Texts({**CANCERS, "breast and ovarian cancer": {"BO": 1.0, "B": 0.7}})
    assert read(texts, "breast and ovarian cancer")[0] == ("BO", "breast and ovarian cancer", 0)
    assert texts.asked == ["breast and ovarian cancer"]


def test_a_composite_that_was_annotated_with_all_ids_is_taken_apart():
    known = {"breast and ovarian cancer": {"B": 1.0, "O": 1.0}, "ovarian cancer": {"O": 1.0}}
    found = read(Texts({**CANCERS, **known}), "breast and ovarian cancer")
    assert [(concept, part) for concept, _, part in found] == [("B", 1), ("T", 1), ("O", 2)]


@pytest.mark.parametrize("calibration", [None, Calibration(intercept=-2, score=3, margin=10)])
@pytest.mark.parametrize("top_k", [1, 2])
def test_what_answers_does_not_depend_on_how_many_candidates_are_kept(top_k, calibration):
    known = {"breast and ovarian cancer": {"B": 1.0, "O": 1.0}}
    settings = {"top_k": top_k, "calibration": calibration}
    found = read(Texts({**CANCERS, **known}), "breast and ovarian cancer", **settings)
    kept = [("B", "breast cancer", 1), ("T", "breast cancer", 1)][:top_k]
    assert found == [*kept, ("O", "breast and ovarian cancer", 2)]


def test_a_known_composite_is_as_certain_as_its_text():
    known = {"breast/ovarian ca": {"B": 1.0, "O": 1.0}}
    parts = {"breast ca": {"B": 0.6, "T": 0.5}, "ovarian ca": {"O": 0.7}}
    (found,) = find(Texts(known | parts), ["breast/ovarian ca"])
    assert [(each.concept_id, each.score, each.part) for each in found] == [
        ("B", 1.0, 1),
        ("T", 0.5, 1),
        ("O", 1.0, 2),
    ]
    assert [each.searched == "breast/ovarian ca" for each in found] == [True, False, True]


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
def test_when_parts_link_better(parts, whole, better):
    assert links_better(interpretation(*parts), interpretation(whole), CLASSES) is better


@pytest.mark.parametrize(
    ("scores", "probability", "better"),
    [
        ((0.9, 0.7), None, True),
        ((0.9, 0.69), None, False),
        ((0.9, 0.69), 0.5, True),
        ((0.9, 0.9), 0.49, False),
    ],
)
def test_unlikely_parts_keep_the_whole(scores, probability, better):
    parts = interpretation({"A": scores[0]}, {"B": scores[1]})
    first, last = parts.parts
    parts = parts._replace(parts=(first, [last[0]._replace(probability=probability)]))
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


def test_a_part_without_words_of_its_own_is_not_named_by_the_other():
    parts = interpretation({"H": 1.0}, {"N": 1.0})._replace(
        texts=("Hodgkin lymphoma", "non-Hodgkin lymphoma")
    )
    nearest = Candidate("N", "N", 0.9, "Non-Hodgkin lymphoma", "O-T")
    assert links_better(parts, Interpretation("as written", ("",), ([nearest],)), CLASSES)


@pytest.mark.parametrize(("score", "chosen"), [(0.9, 2), (0.84, 1), (0.8, 1)])
def test_of_several_ways_to_take_a_mention_apart_the_first_that_is_not_clearly_worse(score, chosen):
    whole = interpretation({"C": 0.7})
    one = interpretation({"A": 0.8}, {"B": 0.9})
    other = interpretation({"A": 0.9}, {"B": 0.9}, {"D": score})
    interpretations = [whole, one, other]
    assert best_first(interpretations, CLASSES)[0] is interpretations[chosen]


def test_names_that_differ_by_a_word_are_parts_although_the_whole_is_near():
    names = {"medial condyle": {"M": 1.0}, "lateral condyle": {"L": 1.0}}
    texts = Texts({**names, "medial and lateral condyle": {"M": 0.97, "L": 0.9}})
    assert read(texts, "medial and lateral condyle") == [
        ("M", "medial condyle", 1),
        ("L", "lateral condyle", 2),
    ]


def test_readings_stay_together_the_best_first():
    interpretations = [interpretation({"A": 0.5}, kind="long form"), interpretation({"B": 0.6})]
    assert best_first(interpretations, CLASSES) == interpretations[::-1]


@pytest.mark.parametrize(
    ("scores", "settled"),
    [
        ({"A": 1.0, "B": 0.9}, True),
        ({"A": 0.98}, False),
        ({"A": 1.0, "B": 1.0}, False),
        ({}, False),
    ],
)
def test_what_parts_cannot_better(scores, settled):
    assert is_settled(interpretation(scores)) is settled


# Calibration
def test_probabilities_do_not_depend_on_how_many_candidates_are_kept():
    texts = Texts({"fever": {"A": 0.9, "B": 0.85}})
    calibration = Calibration(intercept=-2, score=3, margin=10)
    found = [find(texts, ["fever"], top_k=top_k, calibration=calibration)[0] for top_k in (1, 2)]
    assert [len(each) for each in found] == [1, 2]
    assert found[0][0] == found[1][0]
    assert found[0][0].probability == pytest.approx(calibration.probability(0.9, 0.05))


def test_no_candidate_for_nothing():
    assert read(Texts({}), "") == []


@pytest.mark.parametrize(
    ("mentions", "long_forms"), [("fever", [""]), (["fever"], "x"), ([None], [""]), (["a"], [])]
)
def test_what_is_no_list_of_texts_is_refused(mentions, long_forms):
    with pytest.raises(ConnormError, match="CN006"):
        find(Texts({}), mentions, long_forms)
