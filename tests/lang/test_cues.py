import re

import pytest

from spacy_connorm.lang import load_language
from spacy_connorm.lang.cues import is_pattern, literal, phrases, regular_expression, resolve


@pytest.mark.parametrize(
    "cue, expected",
    [
        ("(is|are) excluded", ["is excluded", "are excluded"]),
        ("thought (to be )?absent", ["thought to be absent", "thought absent"]),
        ("can't", ["can't", "can\u2019t"]),
        (r"\(-\)", ["(-)"]),
        (literal("a (b) | {c}?"), ["a (b) | {c}?"]),
    ],
)
def test_a_cue_is_its_phrases(cue, expected):
    assert not is_pattern(cue)
    assert list(phrases(cue)) == expected


@pytest.mark.parametrize(
    "cue, text, expected",
    [
        ("no( {word})*2 pills", "Took no more heart pills", "no more heart pills"),
        ("advis~", "We advised them", "advised"),
        ("^report", "Cough. Report it", "Report"),
        ("^report", "The report", None),
        ("code[before: stroke]", "A code stroke", "code"),
        ("code[not before: stroke]", "A code stroke", None),
        ("[not after:contact ]with", "In contact with her", None),
        ("go <for>", "Go for it", "for"),
        ("her's", "Her\u2019s", "Her\u2019s"),
        ("pill", "Spill pills", None),
    ],
)
def test_a_pattern_is_searched_in_a_text(cue, text, expected):
    match = re.search(regular_expression([cue]), text.lower())
    assert (match and match[match.lastindex or 0]) == (expected and expected.lower())


def test_parts_may_have_parts():
    assert resolve("{kin} has", {"kin": ["{noun}s", "in {word}"], "noun": ["aunt"]}) == (
        "((aunt)s|in {word}) has"
    )


def inflections():
    return [(row, row["example"]) for row in load_language("en").inflections]


@pytest.mark.parametrize("row, example", inflections())
def test_a_row_of_inflections_makes_the_forms_of_its_example(row, example):
    verb, forms = example.split(": ")
    made = [resolve(f"{{v+{form}}}", {"v": [verb]}, [row]) for form in ("s", "ed", "ing")]
    assert made == [f"({form})" for form in forms.split(", ")]


def test_the_first_word_of_a_verb_is_inflected():
    parts = {"exclude": ["exclude", "rule out"]}
    inflections = load_language("en").inflections
    assert resolve("{exclude+ed} it", parts, inflections) == "(excluded|ruled out) it"
    assert resolve("{exclude}", parts, inflections) == "(exclude|rule out)"


def test_alternatives_may_have_alternatives():
    assert phrases("((a|b) (c|d)|e)") == ["a c", "a d", "b c", "b d", "e"]
