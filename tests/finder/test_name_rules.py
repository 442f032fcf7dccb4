"""Tests of windows that have the words of a name but are not mentions."""

import pytest

from .name_pipeline import build


@pytest.fixture(scope="module")
def nlp():
    """A pipeline with names of organisms. Tests do not change it."""
    nlp = build(
        [
            "Data",
            "Rena",
            "Homo sapiens",
            "mouse",
            "blues",
            "more",
            "heart attacks",
            "back",
            "whiting",
        ]
    )
    nlp.get_pipe("mention_finder").cfg["match_capitals"] = True
    return nlp


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Data is a genus.", ["Data"]),
        ("Data are missing (unpublished data).", []),
        ("Renal and renal", []),
        ("Data and Data are genera, not data.", ["Data", "Data"]),
        ("pain in the back", ["back"]),
        ("Rena is a genus of snakes.", ["Rena"]),
        ("homo sapiens, Homo sapiens", ["Homo sapiens"]),
        ("Mouse, mice and mouse", ["Mouse", "mice", "mouse"]),
        ("a blue or white one, and three blues", ["blues"]),
        ("more and More; MORE", ["MORE"]),
        ("one heart attack", ["heart attack"]),
    ],
)
def test_everyday_words_are_not_scientific_names(nlp, text, expected):
    assert [ent.text for ent in nlp(text).ents] == expected
