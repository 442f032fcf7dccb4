from itertools import pairwise

import pytest
import spacy

from spacy_connorm.lang import AssertionClasses, load_language
from spacy_connorm.text.statements import find_statements

ENGLISH = load_language("en").assertions


def statements(text):
    words = [token.text for token in spacy.blank("en")(text)]
    starts = [*find_statements(words, ENGLISH), len(words)]
    return [" ".join(words[a:b]).split() for a, b in pairwise(starts)]


@pytest.mark.parametrize(
    "text, expected",
    [
        ("No fever. Cough", ["No fever .", "Cough"]),
        ("WITHOUT CONTRAST\n\nHISTORY: ataxia", ["WITHOUT CONTRAST", "HISTORY : ataxia"]),
        ("No fever\n\nor cough", ["No fever", "or cough"]),
        ("No fever\nCough", ["No fever", "Cough"]),
        ("No fever or\nCough", ["No fever or Cough"]),
        ("No fever,\nCough", ["No fever , Cough"]),
        ("No E. coli. Fever", ["No E. coli .", "Fever"]),
        ("Lungs: no wheeze Heart: murmur", ["Lungs : no wheeze", "Heart : murmur"]),
        ("no heart murmur", ["no heart murmur"]),
        ("denies any\nshortness of breath", ["denies any shortness of breath"]),
    ],
)
def test_a_statement_ends_with_its_sentence_or_its_line(text, expected):
    assert [" ".join(statement) for statement in statements(text)] == expected


def test_the_full_stop_of_a_name_ends_nothing():
    words = ["No", "E", ".", "coli", ".", "Fever"]
    assert find_statements(words, ENGLISH) == [0, 5]
    assert find_statements(["hepatitis", "C", ".", "Fever"], ENGLISH) == [0, 3]


def test_the_full_stop_of_an_abbreviation_ends_nothing():
    words, german = ["V.a", ".", "Asthma", ".", "Fieber"], load_language("de").assertions
    assert find_statements(words, german) == [0, 4]
    assert find_statements(words, ENGLISH) == [0, 2, 4]


def test_nothing_has_no_statements():
    assert find_statements([], ENGLISH) == []


def test_a_language_without_headings_has_lines_and_sentences():
    words = ["Lungs", ":", "clear", "Heart", ":", "murmur", "and", "\n", "Fits"]
    assert find_statements(words, AssertionClasses()) == [0, 8]
    assert find_statements(words, ENGLISH) == [0, 3]
