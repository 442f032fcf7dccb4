import numpy as np
import pytest
from scipy import sparse

from spacy_connorm.index.vectors import DenseVectors, SparseVectors, from_raw, open_vectors, stack
from spacy_connorm.joined import Joined

RAW = np.random.default_rng(3).normal(size=(9, 5)).astype("float32")
RAW[4] = 0


@pytest.fixture(params=["dense", "sparse"])
def raw(request):
    return RAW if request.param == "dense" else sparse.csr_matrix(RAW)


def unit_of(vectors):
    return vectors.unit.toarray() if isinstance(vectors, SparseVectors) else vectors.unit


def test_rows_have_length_one_and_keep_their_norms(raw):
    vectors = from_raw(raw)
    np.testing.assert_allclose(vectors.norms, np.linalg.norm(RAW, axis=1), rtol=1e-6)
    np.testing.assert_allclose(unit_of(vectors) * vectors.norms[:, None], RAW, atol=1e-6)
    assert not unit_of(vectors)[4].any()


def test_opened_as_written(raw, tmp_path):
    written = from_raw(raw)
    written.write(tmp_path, "texts")
    opened = open_vectors(tmp_path, "texts")
    assert type(opened) is type(written)
    assert (len(opened), opened.width) == RAW.shape
    np.testing.assert_array_equal(unit_of(opened), unit_of(written))
    np.testing.assert_array_equal(opened.norms, written.norms)


def test_view_shares_the_memory(raw, tmp_path):
    from_raw(raw).write(tmp_path, "texts")
    vectors = open_vectors(tmp_path, "texts")
    view = vectors.view(2, 6)
    np.testing.assert_array_equal(unit_of(view), unit_of(vectors)[2:6])
    of = (lambda v: v.unit.data) if isinstance(vectors, SparseVectors) else (lambda v: v.unit)
    assert np.shares_memory(of(view), of(vectors))


def test_dots_and_rescore_are_cosines(raw):
    vectors = from_raw(raw)
    norms = np.linalg.norm(RAW, axis=1)
    cosines = RAW @ RAW.T / np.where(norms > 0, norms, 1) / np.where(norms > 0, norms, 1)[:, None]
    queries = vectors.unit[1:4]
    np.testing.assert_allclose(vectors.dots(queries, 3, 8), cosines[1:4, 3:8], atol=1e-6)
    rows = np.asarray([8, 0, 2])
    np.testing.assert_allclose(vectors.rescore(queries, 1, rows), cosines[2, rows], atol=1e-6)


def test_rows_as_queries_are_those_of_their_raw_vectors(raw, tmp_path):
    from_raw(raw).write(tmp_path, "texts")
    rows = np.asarray([8, 4, 0, 0])
    found = open_vectors(tmp_path, "texts").queries(rows)
    expected = from_raw(raw[rows]).unit
    assert type(found) is type(expected)
    dense = (each.toarray() if sparse.issparse(each) else each for each in (found, expected))
    np.testing.assert_array_equal(*dense)


def test_rows_of_half_precision_as_queries_have_length_one():
    queries = from_raw(RAW, dtype="float16").queries(np.asarray([0, 4, 8]))
    assert queries.dtype == "float32"
    np.testing.assert_allclose(np.linalg.norm(queries, axis=1), [1, 0, 1], atol=1e-6)


def test_rows_of_both_sides_as_queries_weigh_as_they_are_told():
    vectors = from_raw(Joined(RAW, sparse.csr_matrix(RAW[::-1]), 0.5))
    queries = vectors.queries(np.asarray([3, 1]), weight=0.25)
    assert queries.weight == 0.25
    np.testing.assert_array_equal(queries.dense, vectors.dense.unit[[3, 1]])
    np.testing.assert_array_equal(queries.lexical.toarray(), vectors.lexical.unit[[3, 1]].toarray())


def test_sums_are_of_raw_vectors(raw):
    incidence = sparse.csr_matrix(np.asarray([[1, 0, 1] + [0] * 6, [0] * 8 + [1]], "float32"))
    sums = from_raw(raw).sums(incidence)
    sums = sums.toarray() if sparse.issparse(sums) else sums
    np.testing.assert_allclose(sums, [RAW[0] + RAW[2], RAW[8]], atol=1e-5)


def test_half_precision_is_stored_but_scores_are_float32(tmp_path):
    vectors = from_raw(RAW, dtype="float16")
    vectors.write(tmp_path, "texts")
    opened = open_vectors(tmp_path, "texts")
    assert isinstance(opened, DenseVectors)
    assert opened.unit.dtype == "float16"
    assert opened.dots(from_raw(RAW).unit, 0, 9).dtype == "float32"


def test_stack_keeps_order(raw):
    stacked = stack([raw[:2], raw[2:]])
    np.testing.assert_array_equal(stacked.toarray() if sparse.issparse(stacked) else stacked, RAW)
