"""Tests of windows that the rest of the document tells to be no mentions."""

import pytest
import spacy
from finding import NGRAMS, make_finder, marked

from spacy_connorm import Concept, Ontology

NAMES = ("tumor", "necrosis", "fever", "hepatitis", "infection", "diabetes")
OTHERS = (
    "tumor necrosis zone",
    "fever of unknown origin",
    "antigens, hepatitis b surface",
    "hiv infection",
    "diabetes type 2",
)


@pytest.fixture(scope="module")
def nlp():
    """A pipeline with a background vocabulary. Tests do not change it."""
    nlp = spacy.blank("en")
    nlp.add_pipe("mention_finder")
    added = nlp.add_pipe("concept_normalizer", config=NGRAMS)
    names, others = (Ontology(Concept(name, name) for name in some) for some in (NAMES, OTHERS))
    added.initialize(lambda: [], nlp=nlp, ontology=names, background=others)
    return nlp


@pytest.mark.parametrize(
    "text",
    [
        "Tumor necrosis zone, tumor [necrosis] and a zone",
        "[Fever] of unknown origin; [tumor] with [necrosis] zone",
        "Hepatitis B surface antigens and [hepatitis]",
        "an HIV [infection], [diabetes] type 2",
    ],
)
def test_a_name_of_the_background_hides_what_is_before_its_head(nlp, text):
    assert marked(nlp, text) == text


def test_it_is_told_why(nlp):
    doc = nlp("tumor necrosis zone")
    explained = nlp.get_pipe("mention_finder").explain(doc[:1])
    assert (explained.rule, explained.is_mention) == ("part of other name", False)


def test_a_saved_pipeline_keeps_the_background(nlp, tmp_path):
    nlp.to_disk(tmp_path / "saved")
    assert not spacy.load(tmp_path / "saved")("tumor necrosis zone").ents


def test_without_a_background_the_names_are_found():
    nlp = make_finder(Concept(name, name) for name in NAMES)
    assert marked(nlp, "[tumor] [necrosis] zone") == "[tumor] [necrosis] zone"


def test_an_organ_of_a_denied_name_is_not_absent_itself():
    nlp = make_finder([Concept(name, name) for name in ("enlarged liver", "liver absent")])
    text = "An [enlarged liver] was absent; the [liver was absent]"
    assert marked(nlp, text) == text
