"""What two texts that mean the same must not differ in."""

import pytest

from spacy_connorm.text.opposites import are_contrary, opposites_of
from spacy_connorm.text.words import words_of


def contradict(text, other, code="en"):
    words, opposites = words_of(code), opposites_of(code)
    return are_contrary(*(opposites.stated(words.bag(each)) for each in (text, other)))


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("type 1 diabetes", "diabetes type 2"),
        ("Usher syndrome type III", "Usher syndrome type 1"),
        ("factor XI deficiency", "factor 9 deficiency"),
        ("hepatitis B", "hepatitis A"),
        ("SKF-82958", "GDF-8"),
        ("elevated potassium", "Decreased potassium"),
        ("hypercalcaemia", "hypocalcemia"),
        ("neutrophilia", "neutropenia"),
    ],
)
def test_another_number_or_an_opposite_is_contrary(text, other):
    assert contradict(text, other)
    assert contradict(other, text)


@pytest.mark.parametrize(
    ("text", "other"),
    [
        # One says more, nothing else.
        ("diabetes type 2", "diabetes"),
        ("hepatitis A or B", "hepatitis A"),
        ("left and right knee pain", "left knee pain"),
        ("acute on chronic pancreatitis", "chronic pancreatitis"),
        # The same in another writing.
        ("type II diabetes", "diabetes type 2"),
        ("high potassium", "Increased potassium"),
        # Of two things.
        ("hypocalcaemia", "hypermagnesemia"),
        ("upper lobe", "chronic cough"),
        # Not an opposite beginning.
        ("hypotenuse", "hyper"),
        ("", "type 2"),
    ],
)
def test_what_only_says_more_or_writes_otherwise_is_not(text, other):
    assert not contradict(text, other)
    assert not contradict(other, text)


def test_a_language_without_a_table_has_numbers_only():
    assert contradict("typ 1", "typ 2", code="xx")
    assert not contradict("acute", "chronic", code="xx")
