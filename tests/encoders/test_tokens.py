"""Batches of token ids."""

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from spacy_connorm.encoders.tokens import batches_by_length, pad


def test_rows_are_filled_up_at_their_end():
    ids, mask = pad([[5, 6, 7], [8]], 9)
    assert ids.dtype == np.int64 and mask.dtype == bool
    assert ids.tolist() == [[5, 6, 7], [8, 9, 9]]
    assert mask.tolist() == [[True, True, True], [True, False, False]]


@given(st.lists(st.lists(st.integers(0, 100), max_size=6), min_size=1, max_size=8))
def test_what_is_not_padding_are_the_rows(rows):
    ids, mask = pad(rows, -1)
    assert [row[kept].tolist() for row, kept in zip(ids, mask, strict=True)] == rows
    assert (ids[~mask] == -1).all()


@given(st.lists(st.integers(0, 30), max_size=40), st.integers(1, 60))
def test_batches_hold_each_row_once_by_length(lengths, most):
    batches = [batch.tolist() for batch in batches_by_length(lengths, most)]
    rows = [row for batch in batches for row in batch]
    assert rows == sorted(range(len(lengths)), key=lengths.__getitem__)
    for batch in batches:
        assert len(batch) == 1 or len(batch) * max(lengths[row] for row in batch) <= most
    for batch, after in pairwise(batches):
        assert (len(batch) + 1) * lengths[after[0]] > most


def test_batches_are_as_large_as_they_may_be():
    batches = batches_by_length(np.asarray([2, 3, 2, 1, 0, 9]), 6)
    assert [batch.tolist() for batch in batches] == [[4, 3, 0], [2, 1], [5]]
    assert list(batches_by_length([], 6)) == []
