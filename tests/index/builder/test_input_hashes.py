"""Hashes of encoder inputs: texts of an older index are not read again."""

import pytest

from spacy_connorm.concepts import Concept
from spacy_connorm.index.builder.input_hashes import InputHashes
from spacy_connorm.index.keys import hash_keys

from ..conftest import build

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
