import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_connorm.text.cleaning import clean

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
