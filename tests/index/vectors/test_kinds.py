import numpy as np
from scipy import sparse

from spacy_connorm.index.vectors.kinds import from_raw, join, mean_vectors, open_vectors
from spacy_connorm.index.vectors.sparse import SparseVectors

from .conftest import RAW, assert_same, unit_of, written


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
    view = vectors.take(slice(2, 6))
    np.testing.assert_array_equal(unit_of(view), unit_of(vectors)[2:6])
    of = (lambda v: v.unit.data) if isinstance(vectors, SparseVectors) else (lambda v: v.rows)
    assert np.shares_memory(of(view), of(vectors))


def test_comparisons_and_rescore_are_cosines(raw):
    vectors = from_raw(raw)
    norms = np.linalg.norm(RAW, axis=1)
    cosines = RAW @ RAW.T / np.where(norms > 0, norms, 1) / np.where(norms > 0, norms, 1)[:, None]
    queries = vectors.unit[1:4]
    np.testing.assert_allclose(vectors.compare(queries).dots(3, 8), cosines[3:8, 1:4], atol=1e-6)
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


def test_means_are_of_raw_vectors(raw):
    means = mean_vectors(from_raw(raw), np.asarray([0, 2, 2, 9]))
    means = means.toarray() if sparse.issparse(means) else means
    expected = [RAW[:2].mean(axis=0), np.zeros(5), RAW[2:].mean(axis=0)]
    np.testing.assert_allclose(means, expected, atol=1e-5)


def test_no_means_of_no_rows(raw):
    assert mean_vectors(from_raw(raw[:0]), np.asarray([0])).shape == (0, 5)


def test_rows_taken_and_joined_are_the_same_bit_by_bit(vectors, tmp_path):
    order = np.asarray([3, 8, 0, 1, 2, 7, 6, 5, 4])
    parts = [vectors.take(order[:4]), vectors.take(order[4:])]
    again = join(parts).take(np.argsort(order))
    assert_same(written(again, tmp_path / "again"), written(vectors, tmp_path / "once"))
