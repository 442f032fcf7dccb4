"""Names in a file, ordered by concept."""

import numpy as np
import pytest

from spacy_connorm.index.names import NameFile
from spacy_connorm.index.rows import hash_keys
from spacy_connorm.index.search import D, O

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
        texts = list(names.read(found.texts))
        assert texts == ["b2", "b1", "", "a" * 5000, "שלום 🧬", "d2", "d1"]
        assert found.hashes.tolist() == hash_inputs(texts).tolist()
        assert found.concepts.tolist() == [0, 0, 1, 1, 2, 1, 2]
        assert found.targets.tolist() == [O, O, O, O, O, D, D]
        assert found.preferred.tolist() == [True, False, False, False, True, False, False]
        assert list(names.read(found.texts[:0])) == []
    assert not list(tmp_path.iterdir())


def test_the_file_of_names_is_deleted_after_an_error(tmp_path):
    with pytest.raises(KeyError), NameFile(tmp_path / "names.txt", hash_inputs) as names:
        names.add("text", 0, O)
        raise KeyError
    assert not list(tmp_path.iterdir())
