"""Nouns that adjectives and Latin plurals are derived from."""

import pytest

from spacy_connorm.text.derivations import base_forms, hash_base_forms
from spacy_connorm.text.word_bags import hash_word


@pytest.mark.parametrize(
    ("word", "noun"),
    [
        ("retinal", "retina"),
        ("epithelial", "epithelium"),
        ("skeletal", "skeleton"),
        ("embryonic", "embryo"),
        ("testicular", "testis"),
        ("pharyngeal", "pharynx"),
        ("cervical", "cervix"),
        ("uterine", "uterus"),
        ("ischemic", "ischemia"),
        ("epileptic", "epilepsy"),
        ("thrombotic", "thrombosis"),
        ("diabetic", "diabetes"),
        ("hypertensive", "hypertension"),
        ("dyskinetic", "dyskinesia"),
        ("autistic", "autism"),
        ("parkinsonian", "parkinsonism"),
        ("allergic", "allergy"),
        ("deficient", "deficiency"),
        ("anxious", "anxiety"),
        ("obese", "obesity"),
        ("edematous", "edema"),
        ("photosensitive", "photosensitivity"),
        ("drowsy", "drowsiness"),
        ("wheeze", "wheezing"),
        ("teste", "testis"),
        ("fibulae", "fibula"),
    ],
)
def test_the_noun_is_among_the_forms(word, noun):
    assert noun in base_forms(word)


@pytest.mark.parametrize(
    "word", ["retina", "dependent", "resistant", "oral", "anal", "of", "", "a"]
)
def test_other_words_have_no_forms_that_are_words(word):
    assert not {"dependence", "resistance", "ora", "os", "anus", "ana"} & {*base_forms(word)}
    assert word not in base_forms(word)


def test_function_words_have_no_forms():
    assert not base_forms("several")


def test_each_form_comes_once_and_has_its_hash():
    forms = base_forms("testicular")
    assert len({*forms}) == len(forms)
    assert hash_base_forms("testicular") == tuple(map(hash_word, forms))
