import numpy as np
import pytest
from scipy import sparse

from spacy_connorm.encoders.raw import HybridArray, stack

RAW = np.random.default_rng(3).normal(size=(9, 5)).astype("float32")
BOTH = HybridArray(RAW, sparse.csr_matrix(np.maximum(RAW[::-1], 0)), 0.5)


@pytest.mark.parametrize("raw", [RAW, sparse.csr_matrix(RAW)], ids=["dense", "sparse"])
def test_stack_keeps_order(raw):
    stacked = stack([raw[:2], raw[2:]])
    np.testing.assert_array_equal(stacked.toarray() if sparse.issparse(stacked) else stacked, RAW)


def test_stacked_rows_keep_their_weight():
    part = stack([BOTH[:2], BOTH[[3, 4]]])
    assert (part.shape, part.weight) == ((4, 10), 0.5)
    np.testing.assert_array_equal(part.dense, RAW[[0, 1, 3, 4]])
