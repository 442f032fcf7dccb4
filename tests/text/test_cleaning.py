"""Cleaning, and characters with several forms."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_connorm.text.cleaning import are_opposite, clean

ANY_TEXT = st.text(st.characters(categories=None, exclude_categories=()))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ""),
        ("heart attack", "heart attack"),
        ("  heart \t\r\n attack ", "heart attack"),
        (" \t\n", ""),
        ("heart\u00a0\u2003attack\u2028", "heart attack"),
        ("heart\x00attack\x7f\x9b", "heart attack"),
        ("\ud83dheart \udc00attack", "heart attack"),
        ("x" * 10_000, "x" * 10_000),
    ],
)
def test_clean_puts_one_space_for_what_is_not_text(text, expected):
    assert clean(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "β-thalassémie",
        "نوبة قلبية",
        "\u200fאוטם שריר הלב\u200e",
        "👩‍⚕️ visit",
        "می‌خواهم",
        "ﬁbrosis",
    ],
)
def test_clean_leaves_other_scripts_marks_and_emoji_alone(text):
    assert clean(text) is text


@given(ANY_TEXT)
def test_cleaned_text_is_clean(text):
    cleaned = clean(text)
    assert clean(cleaned) is cleaned
    assert cleaned.encode("utf8").decode("utf8") == cleaned
    assert "\x00" not in cleaned and cleaned == " ".join(cleaned.split())


@pytest.mark.parametrize(
    ("text", "other", "opposite"),
    [
        ("ER- breast cancer", "ER+ Breast Cancer", True),
        ("CD4+ T cell", "cd4- t cell", True),
        ("CD4+/CD8-", "CD8+", True),
        ("CD4+ T cell", "CD4 T cell", False),
        ("CD4+ T cell", "CD4+ cell", False),
        ("CD4+ T cell", "CD8- T cell", False),
        ("HSV-1", "HSV+1", False),
        ("T- and B-cell", "T-cell", False),
        ("", "CD4-", False),
    ],
)
def test_a_plus_is_the_reverse_of_a_minus(text, other, opposite):
    assert are_opposite(text, other) is opposite
    assert are_opposite(other, text) is opposite
