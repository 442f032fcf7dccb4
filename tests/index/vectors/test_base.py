from itertools import pairwise

import numpy as np
import pytest
from scipy import sparse

from spacy_connorm.encoders.vectors import HybridArray, stack
from spacy_connorm.index.vectors import dense
from spacy_connorm.index.vectors.arrays import ArrayWriter
from spacy_connorm.index.vectors.base import (
    DenseVectors,
    QuantizedVectors,
    SparseVectors,
    VectorWriter,
    from_raw,
    join,
    open_vectors,
)

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


def test_rows_of_half_precision_as_queries_have_length_one():
    queries = from_raw(RAW, dtype="float16").queries(np.asarray([0, 4, 8]))
    assert queries.dtype == "float32"
    np.testing.assert_allclose(np.linalg.norm(queries, axis=1), [1, 0, 1], atol=1e-6)


def test_rows_of_both_sides_as_queries_weigh_as_they_are_told():
    vectors = from_raw(HybridArray(RAW, sparse.csr_matrix(RAW[::-1]), 0.5))
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
    assert opened.compare(from_raw(RAW).unit).dots(0, 9).dtype == "float32"


def test_stack_keeps_order(raw):
    stacked = stack([raw[:2], raw[2:]])
    np.testing.assert_array_equal(stacked.toarray() if sparse.issparse(stacked) else stacked, RAW)


KINDS = {
    "float32": from_raw(RAW),
    "float16": from_raw(RAW, dtype="float16"),
    "int8": from_raw(RAW, dtype="int8"),
    "sparse": from_raw(sparse.csr_matrix(RAW)),
    "hybrid": from_raw(HybridArray(RAW, sparse.csr_matrix(RAW[::-1]))),
    "hybrid int8": from_raw(HybridArray(RAW, sparse.csr_matrix(RAW[::-1])), dtype="int8"),
}


@pytest.fixture(params=KINDS.values(), ids=KINDS)
def vectors(request):
    return request.param


def files(folder):
    return {path.name: np.load(path) for path in folder.iterdir()}


def written(vectors, folder):
    folder.mkdir()
    vectors.write(folder, "v")
    return files(folder)


def assert_same(one, other):
    assert one.keys() == other.keys()
    for name, array in one.items():
        np.testing.assert_array_equal(array, other[name])
        assert array.dtype == other[name].dtype


@pytest.mark.parametrize("sizes", [[9], [4, 5], [1] * 9, [0, 9]])
def test_written_in_blocks_as_at_once(vectors, tmp_path, sizes):
    (tmp_path / "blocks").mkdir()
    writer, ends = VectorWriter(tmp_path / "blocks", "v"), np.cumsum([0, *sizes])
    for start, stop in pairwise(ends):
        writer.append(vectors.take(np.arange(start, stop)))
    writer.close()
    assert_same(files(tmp_path / "blocks"), written(vectors, tmp_path / "once"))
    assert type(open_vectors(tmp_path / "blocks", "v")) is type(vectors)


def test_rows_taken_and_joined_are_the_same_bit_by_bit(vectors, tmp_path):
    order = np.asarray([3, 8, 0, 1, 2, 7, 6, 5, 4])
    parts = [vectors.take(order[:4]), vectors.take(order[4:])]
    again = join(parts).take(np.argsort(order))
    assert_same(written(again, tmp_path / "again"), written(vectors, tmp_path / "once"))


def test_large_array_is_written_in_blocks_with_a_header_that_fits(tmp_path):
    writer = ArrayWriter(tmp_path / "a.npy")
    for start in range(0, 10_000, 999):
        writer.append(np.arange(start, min(start + 999, 10_000))[:, None])
    writer.close()
    found = np.load(tmp_path / "a.npy", mmap_mode="r")
    assert found.offset % 64 == 0
    np.testing.assert_array_equal(found, np.arange(10_000)[:, None])


# int8


QUANTIZED = QuantizedVectors.from_raw(RAW)


def test_quantized_rows_point_where_the_vectors_point():
    unit = from_raw(RAW).unit
    assert QUANTIZED.codes.dtype == "int8"
    assert np.abs(QUANTIZED.codes).max(axis=1).tolist() == [
        127,
        127,
        127,
        127,
        0,
        127,
        127,
        127,
        127,
    ]
    np.testing.assert_allclose(QUANTIZED.unit, unit, atol=1 / 127)
    np.testing.assert_array_equal(QUANTIZED.norms, from_raw(RAW).norms)


@pytest.mark.parametrize("width", [1, 5, 384, 1024])
def test_cosine_of_a_quantized_row_with_itself_is_one(width):
    raw = np.random.default_rng(width).normal(size=(20, width)).astype("float32")
    raw[7] = 0
    vectors = QuantizedVectors.from_raw(raw)
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


@pytest.mark.parametrize("kernels", [True, False], ids=["numkong", "numpy"])
@pytest.mark.parametrize("width", [1, 24, 333, 384])
@pytest.mark.parametrize("queries", [0, 1, 40])
def test_scores_are_off_by_no_more_than_the_error(queries, width, kernels, monkeypatch):
    if not kernels:
        monkeypatch.setattr(dense, "_load_kernels", lambda: None)
    random = np.random.default_rng(1)
    raw = random.normal(size=(700, width)).astype("float32")
    raw[13] = 0
    vectors = from_raw(raw, dtype="int8")
    asked = from_raw(random.normal(size=(queries, width)).astype("float32")).unit
    asked[3:4] = 0
    dots, error = vectors.compare(asked)
    exact = vectors.unit[5:695].astype("float64") @ asked.T.astype("float64")
    assert dots(5, 695).dtype == "float32"
    assert (np.abs(dots(5, 695) - exact) <= error).all()
    assert (error < (0.02 if kernels else 1e-4)).all()
    assert dots(7, 7).shape == (0, queries)


def test_quantized_sums_are_of_raw_vectors():
    incidence = sparse.csr_matrix(np.asarray([[1, 0, 1] + [0] * 6, [0] * 8 + [1]], "float32"))
    sums = QUANTIZED.sums(incidence)
    np.testing.assert_allclose(sums, [RAW[0] + RAW[2], RAW[8]], atol=0.05)


def test_opened_int8_is_mapped(tmp_path):
    QUANTIZED.write(tmp_path, "texts")
    opened = open_vectors(tmp_path, "texts")
    assert isinstance(opened, QuantizedVectors)
    assert isinstance(opened.codes.base, np.memmap)
    assert np.shares_memory(opened.view(2, 5).codes, opened.codes)
