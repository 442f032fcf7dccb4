"""A language without a folder: names are found as they are written, and no rule of English acts."""

import pytest
import spacy
from finding import NGRAMS, marked

from spacy_connorm import Concept, Ontology
from spacy_connorm.lang import load_language
from spacy_connorm.lang.language import NEUTRAL
from spacy_connorm.text.words import words_of

CONCEPTS = [
    Concept("C1", "kidney stone"),
    Concept("C2", "hypertension artérielle", aliases=("HTA",)),
    Concept("C3", "more"),
    Concept("C4", "ovarian cancer"),
    Concept("C5", "breast cancer"),
    Concept("C6", "anemia"),
]


@pytest.fixture(scope="module", params=["sv", NEUTRAL])
def nlp(request):
    """A pipeline of a language without a folder. Tests do not change it."""
    nlp = spacy.blank(request.param)
    for name in ("abbreviation_resolver", "mention_finder"):
        nlp.add_pipe(name)
    normalizer = nlp.add_pipe("concept_normalizer", config=NGRAMS)
    normalizer.initialize(lambda: [], nlp=nlp, ontology=Ontology(CONCEPTS))
    return nlp


@pytest.mark.parametrize(
    "text",
    [
        "a [Kidney stone], kidney stones and renal stones",
        "stone of the kidney",
        "une [hypertension artérielle] ([HTA]), une [HTA]",
        "[more] and [more]",
        "breast and [ovarian cancer]",
        "[anemia] and anaemia",
    ],
)
def test_names_are_found_as_they_are_written(nlp, text):
    assert marked(nlp, text) == text


def test_it_has_no_words():
    words = words_of(NEUTRAL)
    assert words.bag("Cancers of the breasts") == ("breasts", "cancers", "of", "the")
    assert not words.is_head("hepatitis") and not words.is_modifier("ovarian")
    assert not words.forms.of("renal").hashes.size


def test_a_folder_is_named_by_a_code():
    assert not load_language("../en").meanings
    assert load_language("en").meanings
