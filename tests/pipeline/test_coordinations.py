"""Coordinated mentions are found whole, and split by the normalizer."""

import pytest
import spacy

from spacy_connorm import Concept, Ontology
from spacy_connorm.pipeline.coordinations import join_coordinations
from spacy_connorm.pipeline.found_mentions import FoundMention

NAMES = ("breast cancer", "ovarian cancer", "lung cancer", "cancer of the colon", "colon cancer")
OTHERS = ("cough", "renal failure", "heart failure", "type 1 diabetes", "type 2 diabetes")


@pytest.fixture(scope="module")
def nlp():
    nlp = spacy.blank("en")
    nlp.add_pipe("mention_finder")
    normalizer = nlp.add_pipe(
        "concept_normalizer",
        config={
            "encoder": {"@architectures": "spacy-connorm.NgramEncoder.v1"},
            "index": {"@misc": "spacy-connorm.ExactIndex.v1"},
        },
    )
    concepts = [Concept(name, name) for name in NAMES + OTHERS]
    normalizer.initialize(lambda: [], nlp=nlp, ontology=Ontology(concepts))
    return nlp


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("breast and ovarian cancer", ["breast and ovarian cancer"]),
        ("Her breast, ovarian and lung cancers.", ["breast, ovarian and lung cancers"]),
        ("cancer of the breast or ovary", ["cancer of the breast"]),
        ("cancer of the colon and lung", ["cancer of the colon and lung"]),
        ("type 1 and type 2 diabetes", ["type 1 and type 2 diabetes"]),
        ("renal/heart failure", ["renal/heart failure"]),
        ("cough and lung cancer", ["cough", "lung cancer"]),
        ("severe and lung cancer", ["lung cancer"]),
        ("fish and chips, lung cancer", ["lung cancer"]),
        ("breast, lung cancer", ["lung cancer"]),
        ("and lung cancer and", ["lung cancer"]),
        ("cancer of the colon and in a node", ["cancer of the colon"]),
        ("cancer of the colon and with pain", ["cancer of the colon"]),
        ("a cancer and ovarian cysts", []),
        ("shock, failure or renal stones", []),
        ("", []),
    ],
)
def test_each_part_must_be_a_name(nlp, text, expected):
    assert [ent.text for ent in nlp(text).ents] == expected


def test_the_normalizer_splits_them(nlp):
    (ent,) = nlp("Breast and ovarian cancer").ents
    assert ent.kb_id_ == "breast cancer|ovarian cancer"
    explanation = nlp.get_pipe("mention_finder").explain(ent)
    assert explanation.is_mention and not explanation.reason


def test_it_can_be_switched_off(nlp):
    finder = nlp.get_pipe("mention_finder")
    finder.cfg["coordinations"] = False
    try:
        assert [ent.text for ent in nlp("breast and ovarian cancer").ents] == ["ovarian cancer"]
    finally:
        finder.cfg["coordinations"] = True


def test_neighbours_are_not_taken_twice():
    doc = spacy.blank("en")("b c and d and b c")
    mentions = [FoundMention(0, 2, 1.0, "X"), FoundMention(5, 7, 1.0, "X")]
    (joined,) = join_coordinations([doc], [mentions], lambda text: True)
    assert [(each.start, each.end) for each in joined] == [(0, 4), (5, 7)]
