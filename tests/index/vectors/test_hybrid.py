from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from spacy_connorm.encoders.raw import HybridArray
from spacy_connorm.index.backends.exact import ExactSearcher
from spacy_connorm.index.vectors.kinds import from_raw

from .conftest import RAW, ROUNDED


def test_rows_of_both_sides_as_queries():
    vectors = from_raw(HybridArray(RAW, sparse.csr_matrix(RAW[::-1]), 0.5))
    queries = vectors.queries(np.asarray([3, 1]))
    np.testing.assert_array_equal(queries.dense, vectors.dense.unit[[3, 1]])
    np.testing.assert_array_equal(queries.lexical.toarray(), vectors.lexical.unit[[3, 1]].toarray())


BOTH = HybridArray(RAW, sparse.csr_matrix(np.maximum(RAW[::-1], 0)), 0.5)


def cosines(raw):
    norms = np.linalg.norm(raw, axis=1)
    return raw @ raw.T / np.maximum(np.outer(norms, norms), 1e-12)


@pytest.mark.parametrize("dtype", ["float32", "int8"])
def test_both_cosines_of_pairs(dtype):
    vectors = from_raw(BOTH, dtype=dtype)
    asked, rows = np.asarray([0, 0, 3, 4, 2]), np.asarray([3, 8, 3, 7, 0])
    asked_vectors = from_raw(BOTH).queries(np.arange(9))
    for found, raw in zip(
        vectors.parts(asked_vectors, asked, rows), (RAW, BOTH.lexical.toarray()), strict=True
    ):
        assert found.dtype == "float32"
        tolerance = ROUNDED[dtype]
        np.testing.assert_allclose(found, cosines(raw)[asked, rows], atol=tolerance)
    nothing = np.empty(0, dtype="int64")
    assert [len(each) for each in vectors.parts(asked_vectors, nothing, nothing)] == [0, 0]


def test_both_sides_are_searched_as_they_are_weighed():
    vectors = from_raw(BOTH)
    asked = replace(vectors.queries(np.arange(9)), weight=0.5)
    expected = (cosines(RAW) + 0.5 * cosines(BOTH.lexical.toarray())) / 1.5
    found = ExactSearcher(vectors).nearest(asked, 4)
    np.testing.assert_allclose(found.scores, -np.sort(-expected, axis=1)[:, :4], atol=1e-6)


def test_length_is_that_of_the_joined_vector():
    one = np.asarray([[3.0]], dtype="float32")
    raw = HybridArray(one, sparse.csr_matrix(2 * one), 0.25)
    assert from_raw(raw).norms.tolist() == [pytest.approx(np.sqrt(9 + 0.25 * 36))]
    assert not from_raw(HybridArray(0 * one, sparse.csr_matrix(one), 0.0)).norms.any()
