import pytest
import spacy

from spacy_connorm.workflows import memory_zones
from spacy_connorm.workflows.memory_zones import MemoryZones


@pytest.fixture
def nlp():
    return spacy.blank("en")


@pytest.fixture(autouse=True)
def few_words(monkeypatch):
    monkeypatch.setattr(memory_zones, "_KEPT_WORDS", 0)
    monkeypatch.setattr(memory_zones, "_MOST_WORDS", 100)


def read(nlp, zones, text):
    with zones.open(nlp):
        return [(token.text, token.norm_, token.is_stop) for token in nlp(text)]


def words_of(nlp):
    return {lexeme.text for lexeme in nlp.vocab}


def read_new_words(nlp, zones, texts):
    for number in range(texts):
        read(nlp, zones, " ".join(f"w{number}x{each}" for each in range(30)))


def test_words_of_a_zone_are_gone_after_it(nlp):
    before = words_of(nlp)
    read(nlp, MemoryZones(), "some new words")
    assert words_of(nlp) == before
    assert "new" not in nlp.vocab.strings


def test_tables_are_made_again_after_many_words(nlp):
    zones = MemoryZones()
    known = words_of(nlp)
    read_new_words(nlp, zones, 3)
    assert words_of(nlp) == known
    read_new_words(nlp, zones, 1)
    assert words_of(nlp) == set()


def test_tables_that_were_made_again_change_no_answer(nlp):
    zones = MemoryZones()
    text = "They can't stop at the U.S. border, isn't it?"
    strings = set(nlp.vocab.strings)
    before = read(nlp, zones, text)
    for _ in range(3):
        read_new_words(nlp, zones, 5)
        assert read(nlp, zones, text) == before
    assert set(nlp.vocab.strings) == strings


def test_flags_and_norms_that_somebody_set_are_kept(nlp):
    nlp.vocab["patient"].is_stop = True
    nlp.vocab["pt"].norm_ = "patient"
    zones = MemoryZones()
    read_new_words(nlp, zones, 5)
    assert words_of(nlp) == {"patient", "pt"}
    said = [("pt", "patient", False), ("patient", "patient", True), ("rests", "rests", False)]
    assert read(nlp, zones, "pt patient rests") == said


def test_norms_of_lookups_are_not_wrapped_again(nlp):
    nlp.vocab.lookups.add_table("lexeme_norm", {"colour": "color"})
    nlp.vocab.from_bytes(nlp.vocab.to_bytes())
    getters = dict(nlp.vocab.lex_attr_getters)
    zones = MemoryZones()
    read_new_words(nlp, zones, 5)
    assert nlp.vocab.lex_attr_getters == getters
    assert read(nlp, zones, "colour") == [("colour", "color", False)]


def test_a_text_that_fails_ends_its_zone(nlp):
    zones = MemoryZones()
    with pytest.raises(ValueError, match="mine"), zones.open(nlp):
        nlp("some new words")
        raise ValueError("mine")
    assert not nlp.vocab.in_memory_zone
    assert read(nlp, zones, "new") == [("new", "new", False)]


def test_words_of_the_first_texts_are_kept(nlp, monkeypatch):
    monkeypatch.setattr(memory_zones, "_KEPT_WORDS", 20)
    zones = MemoryZones()
    before = words_of(nlp)
    read(nlp, zones, "some words")
    assert words_of(nlp) == before | {"some", "words"}
    read_new_words(nlp, zones, 1)
    kept = words_of(nlp)
    assert len(kept) == len(before) + 2 + 30
    read(nlp, zones, "not these")
    assert words_of(nlp) == kept
    read_new_words(nlp, zones, 10)
    assert words_of(nlp) == set()
    read(nlp, zones, "nor those")
    assert words_of(nlp) == set()


def test_words_of_a_text_that_fails_are_counted(nlp, monkeypatch):
    monkeypatch.setattr(memory_zones, "_KEPT_WORDS", 2)
    zones = MemoryZones()
    for text in ("some words", "new ones"):
        with pytest.raises(ValueError, match="mine"), zones.open(nlp):
            nlp(text)
            raise ValueError("mine")
    assert "words" in nlp.vocab.strings
    assert "ones" not in nlp.vocab.strings
