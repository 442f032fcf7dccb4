import numpy as np
import pytest

from spacy_connorm.index.vectors.dense import DenseVectors
from spacy_connorm.index.vectors.kinds import from_raw, mean_vectors, open_vectors

from .conftest import RAW

# int8
QUANTIZED = DenseVectors.from_raw(RAW, "int8")


def test_quantized_rows_point_where_the_vectors_point():
    unit = from_raw(RAW).unit
    assert QUANTIZED.rows.dtype == "int8"
    assert np.abs(QUANTIZED.rows).max(axis=1).tolist() == [127] * 4 + [0] + [127] * 4
    np.testing.assert_allclose(QUANTIZED.unit, unit, atol=1 / 127)
    np.testing.assert_array_equal(QUANTIZED.norms, from_raw(RAW).norms)


@pytest.mark.parametrize("width", [1, 5, 384, 1024])
def test_cosine_of_a_quantized_row_with_itself_is_one(width):
    raw = np.random.default_rng(width).normal(size=(20, width)).astype("float32")
    raw[7] = 0
    vectors = DenseVectors.from_raw(raw, "int8")
    queries = vectors.queries(np.arange(20))
    expected = np.ones(20)
    expected[7] = 0
    np.testing.assert_allclose(vectors.rescore(queries, 3, np.arange(20))[3], 1, atol=1e-6)
    every = np.arange(20)
    np.testing.assert_allclose(vectors.pairs(queries, every, every), expected, atol=1e-6)


def test_cosines_are_exact_for_what_is_stored():
    queries, rows = from_raw(RAW[[0, 2, 5]]).unit, np.asarray([8, 4, 1])
    exact = queries @ QUANTIZED.unit.T
    np.testing.assert_allclose(QUANTIZED.rescore(queries, 1, rows), exact[1, rows], atol=1e-6)
    pairs = QUANTIZED.pairs(queries, np.asarray([2, 0, 0]), rows)
    np.testing.assert_allclose(pairs, exact[[2, 0, 0], rows], atol=1e-6)


@pytest.mark.parametrize("width", [1, 24, 333, 384])
@pytest.mark.parametrize("queries", [0, 1, 40])
@pytest.mark.parametrize("longest", [1, 1000])
def test_scores_are_off_by_no_more_than_the_error(longest, queries, width):
    random = np.random.default_rng(1)
    raw = random.normal(size=(700, width)).astype("float32")
    raw[13] = 0
    vectors = from_raw(raw, dtype="int8")
    asked = from_raw(random.normal(size=(queries, width)).astype("float32")).unit
    lengths = np.geomspace(1, longest, queries, dtype="float32")
    asked *= lengths[:, None]
    if longest > 1:
        asked[3:4] = 0
    dots, error = vectors.compare(asked)
    exact = vectors.unit[5:695].astype("float64") @ asked.T.astype("float64")
    assert dots(5, 695).dtype == "float32"
    assert (np.abs(dots(5, 695) - exact) <= error).all()
    assert (error < lengths * 0.02).all()
    assert dots(7, 7).shape == (0, queries)


def test_quantized_means_are_of_raw_vectors():
    means = mean_vectors(QUANTIZED, np.asarray([0, 3, 9]))
    expected = [RAW[:3].mean(axis=0), RAW[3:].mean(axis=0)]
    np.testing.assert_allclose(means, expected, atol=0.05)


def test_opened_int8_is_mapped(tmp_path):
    QUANTIZED.write(tmp_path, "texts")
    opened = open_vectors(tmp_path, "texts")
    assert opened.rows.dtype == "int8"
    assert isinstance(opened.rows.base, np.memmap)
    assert np.shares_memory(opened.take(slice(2, 5)).rows, opened.rows)
