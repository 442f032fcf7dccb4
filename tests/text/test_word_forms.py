"""Endings that replace each other."""

from spacy_connorm.text.word_forms import EndingPair, OtherEndings

PAIRS = [EndingPair("ed", "ing", 0.8), EndingPair("", "ly"), EndingPair("e", "is")]


def relatives_of(word):
    return {other: pair.certainty for other, pair in OtherEndings(PAIRS).relatives_of(word)}


def test_endings_replace_each_other_in_both_directions():
    assert relatives_of("bowed") == {"bowing": 0.8, "bowedly": 1.0}
    assert relatives_of("bowing") == {"bowed": 0.8, "bowingly": 1.0}
    assert relatives_of("widely")["wide"] == 1.0


def test_short_beginnings_with_short_endings_are_other_words():
    assert "ear" not in relatives_of("early")
    assert "coris" not in relatives_of("core")
    assert relatives_of("") == {}
