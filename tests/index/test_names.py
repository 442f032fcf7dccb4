"""Hashes of encoder inputs, where an older index may know them, and names in a file."""

import numpy as np
import pytest

from spacy_connorm.concepts import Concept
from spacy_connorm.index.concept_index import D, O, hash_keys
from spacy_connorm.index.names import InputHashes, NameFile

from .conftest import build

CONCEPTS = [
    Concept("A", "Heart Attack", ("heart attack", "MI")),
    Concept("B", "heart ATTACK", ("שלום 🧬",)),
]
TEXTS = ["MI", "new", "heart attack", "heart ATTACK", "Heart attack", "שלום 🧬", "new"]


@pytest.fixture
def heard():
    return []


@pytest.fixture
def inputs(heard):
    def inputs(texts):
        heard.extend(texts)
        return [text.lower().encode() for text in texts]

    return inputs


def test_texts_of_the_older_index_are_copied(tmp_path, heard, inputs):
    index = build(tmp_path / "i", concepts=CONCEPTS, synonyms=[("mi", "A")])
    found = InputHashes(inputs, index)(TEXTS)
    # Names that differ only in case share a row, which keeps one text of each concept.
    assert heard == ["new", "heart attack", "Heart attack", "new"]
    assert found.tolist() == hash_keys(text.lower().encode() for text in TEXTS).tolist()


def test_without_an_older_index_all_are_read(heard, inputs):
    found = InputHashes(inputs, None)(TEXTS)
    assert heard == TEXTS
    assert found.dtype == "uint64"
    assert found.tolist() == hash_keys(text.lower().encode() for text in TEXTS).tolist()


WRITTEN = ["b2", "שלום 🧬", "b1", "", "a" * 5000, "d2", "d1"]
PLACES = [1, 0, 1, 2, 2, 2, 0]
TARGETS = [O, O, O, O, O, D, D]


def hash_inputs(texts):
    return hash_keys(text.upper().encode() for text in texts)


@pytest.mark.parametrize("window", [1, 3, 100])
def test_ordered_by_concept_and_then_as_they_came(tmp_path, monkeypatch, window):
    monkeypatch.setattr("spacy_connorm.index.names._WINDOW", window)
    with NameFile(tmp_path / "names.txt", hash_inputs) as names:
        for number, (text, place, target) in enumerate(zip(WRITTEN, PLACES, TARGETS, strict=True)):
            names.add(text, place, target, preferred=number < 2)
        found = names.ordered(np.asarray([2, 0, 1], dtype="int32"))
        assert len(names) == 7
        texts = names.read(found.texts)
        assert texts == ["b2", "b1", "", "a" * 5000, "שלום 🧬", "d2", "d1"]
        assert found.hashes.tolist() == hash_inputs(texts).tolist()
        assert found.concepts.tolist() == [0, 0, 1, 1, 2, 1, 2]
        assert found.targets.tolist() == [O, O, O, O, O, D, D]
        assert found.preferred.tolist() == [True, False, False, False, True, False, False]
        assert names.read(found.texts[:0]) == []
    assert not list(tmp_path.iterdir())


def test_file_goes_whatever_happens(tmp_path):
    with pytest.raises(KeyError), NameFile(tmp_path / "names.txt", hash_inputs) as names:
        names.add("text", 0, O)
        raise KeyError
    assert not list(tmp_path.iterdir())
