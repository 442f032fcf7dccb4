"""What looks like a short form."""

import pytest

from spacy_connorm.text.short_forms import drop_plural, is_never_plural, is_short_form


@pytest.mark.parametrize(
    "text",
    ["ALL", "CT", "DM1", "mRNA", "HbA1c", "Ca2+", "p53", "T-PLL", "COVID-19", "Beta2", "MEN 2a"],
)
def test_two_capitals_or_digits_are_a_short_form(text):
    assert is_short_form(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "X",
        "als",
        "Eye",
        "type1",
        "1990",
        "L-Dopa",
        "McArdle",
        "CARDIOMYOPATHIES",
        "BACK PAIN",
    ],
)
def test_words_names_and_numbers_are_not_short_forms(text):
    assert not is_short_form(text)


@pytest.mark.parametrize(
    ("plural", "short"),
    [("CVAs", "CVA"), ("CD4s", "CD4"), ("mRNAs", "mRNA"), ("AIDS", "AIDS"), ("Is", "Is")],
)
def test_a_small_s_after_capitals_and_digits_is_a_plural(plural, short):
    assert drop_plural(plural) == short


def test_short_words_in_capitals_are_never_plurals():
    assert is_never_plural("AIDS")
    assert not is_never_plural("TUMORS") and not is_never_plural("Eyes")
