"""Rows of texts by their words."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_connorm.errors import ConnormError
from spacy_connorm.index.word_bags import WordBags
from spacy_connorm.text.word_bags import hash_bags, hash_word, word_bag

TEXTS = ["breast cancer", "Cancer of the breast", "lung cancer", "?", "Breast cancer", "cancer"]
ROWS = np.asarray([0, 1, 2, 3, 0, 4])
NAMES = st.lists(st.sampled_from(["one two", "two one", "one", "Two", "!", "three two one"]))


@pytest.fixture
def bags() -> WordBags:
    return WordBags.from_texts(TEXTS, ROWS)


def test_texts_with_the_same_words_are_found_together(bags):
    asked = [word_bag(text) for text in ("breast cancers", "lung cancer", "lung", "")]
    assert [rows.tolist() for rows in bags.rows_of(hash_bags(asked))] == [[0, 1], [2], [], []]
    assert bags.rows_of(hash_bags([])) == []


def test_the_hash_of_a_bag_is_the_sum_of_its_words(bags):
    (value,) = hash_bags([("breast", "cancer")]).tolist()
    assert value == (hash_word("breast") + hash_word("cancer")) % 2**64
    assert bags.rows_of(np.asarray([value], dtype="uint64"))[0].tolist() == [0, 1]
    assert bags.sizes.tolist() == [1, 2]
    words = np.sort(
        np.asarray([hash_word(word) for word in ("breast", "lung", "cancer")], "uint64")
    )
    assert bags.words.tolist() == words.tolist()


@given(texts=NAMES, asked=NAMES)
def test_rows_are_those_of_a_plain_comparison(texts, asked):
    bags = WordBags.from_texts(texts, np.arange(len(texts)))
    found = bags.rows_of(hash_bags([word_bag(text) for text in asked]))
    for text, rows in zip(asked, found, strict=True):
        words = word_bag(text)
        assert rows.tolist() == [r for r, each in enumerate(texts) if words == word_bag(each) != ()]


def test_what_is_mapped_is_what_was_written(tmp_path, bags):
    bags.write(tmp_path)
    mapped = WordBags.open(tmp_path, rows=5)
    assert mapped is not None and mapped.are_same(bags)
    assert not mapped.are_same(WordBags.from_texts(TEXTS[:2], ROWS[:2]))
    with pytest.raises(ConnormError, match="CN402.*rows"):
        WordBags.open(tmp_path, rows=4)


def test_an_index_has_the_bags_of_all_its_texts(index):
    (rows,) = index.word_bags.rows_of(hash_bags([word_bag("7, NAME")]))
    texts = index.store.texts(index.members.start[rows].tolist())
    assert {text.lower() for text in texts.values()} == {"name 7"}
