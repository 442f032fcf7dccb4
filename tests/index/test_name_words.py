"""The words of the texts of an index, as numbers on disk."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_connorm.errors import ConnormError
from spacy_connorm.index.name_words import NameWords
from spacy_connorm.text.words import words_of

WORDS = words_of("en")
TEXTS = ["breast cancer", "?", "Cancers of the Breast", "sjögren syndrome"]


@given(texts=st.lists(st.sampled_from(TEXTS)))
def test_texts_have_their_bags_of_words(texts):
    names = NameWords.from_texts(texts, WORDS)
    assert names.of(range(len(texts))) == [list(WORDS.bag(text)) for text in texts]


def test_what_is_mapped_is_what_was_written(tmp_path):
    NameWords.from_texts(TEXTS, WORDS).write(tmp_path)
    mapped = NameWords.open(tmp_path, texts=4)
    assert mapped.of([3, 0]) == [["sjogren", "syndrome"], ["breast", "cancer"]]
    with pytest.raises(ConnormError, match="CN402"):
        NameWords.open(tmp_path, texts=3)


def test_words_that_the_vocabulary_lacks_are_refused(tmp_path):
    NameWords.from_texts(TEXTS, WORDS).write(tmp_path)
    path = tmp_path / "name_words.numbers.npy"
    np.save(path, np.load(path) + 4)
    with pytest.raises(ConnormError, match="CN402"):
        NameWords.open(tmp_path, texts=4)


def test_an_index_has_the_words_of_all_its_texts(index):
    texts = list(index.store.all_texts())
    bags = [list(index.words.bag(text)) for text in texts]
    assert index.name_words.of(range(len(texts))) == bags
