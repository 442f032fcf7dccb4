"""Sets of hashes: the pairs of words in names, and the names of other things."""

import numpy as np
import pytest

from spacy_connorm import ConnormError
from spacy_connorm.index.hash_sets import HashSet, hash_pair, other_names, word_pairs
from spacy_connorm.text.bag_hashes import hash_bag
from spacy_connorm.text.words import words_of

WORDS = words_of("en")


def has_pair(pairs, first, second):
    return bool(pairs.contain(np.array([hash_pair(first, second)], dtype="uint64"))[0])


def test_pairs_are_side_by_side_in_names_in_their_natural_order():
    pairs = word_pairs(["Absent ear lobes", "Failure, Heart", "loss of hair", "stage 3"], WORDS)
    assert has_pair(pairs, "ear", "lobe") and has_pair(pairs, "heart", "failure")
    assert not has_pair(pairs, "lobe", "ear") and not has_pair(pairs, "failure", "heart")
    assert not has_pair(pairs, "loss", "hair") and not has_pair(pairs, "stage", "3")


def test_other_names_have_two_to_six_words():
    names = ["Tumor Necrosis Factor", "factor", "tumor necrosis factors", "a b c d e f g of h"]
    others = other_names(names, WORDS)
    assert others.values.tolist() == [hash_bag(WORDS.bag("factor of tumor necrosis"))]


def test_a_set_is_written_and_opened(tmp_path):
    HashSet.of([3, 1, 3, (1 << 64) - 1]).write(tmp_path, "some")
    opened = HashSet.open(tmp_path, "some")
    assert len(opened) == 3 and opened.contain(np.array([1, 2], dtype="uint64")).tolist() == [
        True,
        False,
    ]
    np.save(tmp_path / "some.values.npy", np.array([1.5]))
    with pytest.raises(ConnormError, match="CN402"):
        HashSet.open(tmp_path, "some")
