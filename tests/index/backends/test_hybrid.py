"""Hybrid search against its definition: both cosines of every row, weighed and ranked."""

import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from spacy_connorm.encoders.protocol import HybridArray, stack
from spacy_connorm.errors import ConnormError
from spacy_connorm.index.backends.annoy import AnnoyIndex
from spacy_connorm.index.backends.exact import AllowedItems, ExactIndex, ExactSearcher
from spacy_connorm.index.backends.hybrid import HybridSearcher, InvertedIndex
from spacy_connorm.index.vectors import HybridVectors, from_raw, open_vectors

RNG = np.random.default_rng(11)
ROWS = 2000


def draw(rng, rows, *, weight=0.5):
    """Some rows are alike, some are nothing on one of the sides or on both."""
    dense = rng.normal(size=(rows, 8)).astype("float32")
    lexical = sparse.random(rows, 60, density=0.08, random_state=rng, dtype="float32", format="lil")
    for one, other in ((3, 30), (4, 31)):
        dense[other % rows], lexical[other % rows] = dense[one % rows], lexical[one % rows]
    dense[: rows // 20] = 0
    lexical[rows // 25 : rows // 12] = 0
    return HybridArray(dense, lexical.tocsr(), weight)


RAW = draw(RNG, ROWS)
VECTORS = from_raw(RAW)
QUERIES = stack([RAW[[3, 90, 120, 300]], draw(RNG, 60)[[0, 3, 5, 20, 40, 50]]])


def cosines(queries, raw):
    """Of both sides, in double precision."""
    for one, other in ((queries.dense, raw.dense), (queries.lexical, raw.lexical)):
        one, other = (
            np.asarray(side.todense() if sparse.issparse(side) else side, dtype="float64")
            for side in (one, other)
        )
        norms = np.outer(np.linalg.norm(one, axis=1), np.linalg.norm(other, axis=1))
        yield one @ other.T / np.where(norms > 0, norms, 1)


def definition(queries, raw, allowed=None):
    """RETURNS: Every score, best first, of the rows that may be found."""
    dense, lexical = cosines(queries, raw)
    scores = (dense + queries.weight * lexical) / (1 + queries.weight)
    if allowed is not None:
        scores = scores[:, allowed]
    return -np.sort(-scores, axis=1)


def score_of(queries, raw, items):
    dense, lexical = cosines(queries, raw)
    scores = (dense + queries.weight * lexical) / (1 + queries.weight)
    return np.take_along_axis(scores, items, axis=1)


def units(queries):
    return from_raw(queries).unit


@pytest.fixture(params=[ExactIndex(), AnnoyIndex(exact_below=0, n_trees=100, search_k=1990)])
def searcher(request, tmp_path):
    VECTORS.write(tmp_path, "texts")
    request.param.build(VECTORS, tmp_path / "OD-T.index")
    return request.param.open(open_vectors(tmp_path, "texts"), tmp_path / "OD-T.index")


@pytest.mark.parametrize("weight", [0.0, 0.3, 1.0, 50.0])
@pytest.mark.parametrize("n", [1, 10, 120, 500, 3000])
def test_the_nearest_are_those_of_the_definition(searcher, n, weight):
    queries = HybridArray(QUERIES.dense, QUERIES.lexical, weight)
    found = searcher.nearest(units(queries), n)
    expected = definition(queries, RAW)[:, :n]
    items, scores = found.items[:, :ROWS], found.scores[:, :ROWS]
    assert np.mean(np.abs(scores - expected) < 1e-6) > 0.99
    np.testing.assert_allclose(scores, score_of(queries, RAW, items), atol=1e-6)
    assert all(len({*row}) == len(row) for row in items.tolist())


@pytest.mark.parametrize("kept", [0, 3, 40, 1000])
def test_only_what_is_allowed_is_found_and_all_of_it(searcher, kept):
    allowed = np.zeros(ROWS, dtype=bool)
    allowed[RNG.permutation(ROWS)[:kept]] = True
    found = searcher.nearest(units(QUERIES), 10, AllowedItems(allowed))
    there = found.items >= 0
    assert (there.sum(axis=1) == min(10, kept)).all()
    assert allowed[found.items[there]].all()
    expected = definition(QUERIES, RAW, allowed)[:, :10]
    close = np.abs(found.scores[:, : expected.shape[1]] - expected) < 1e-6
    assert close.mean() > 0.98 if kept else not close.size


@settings(max_examples=60)
@given(
    seed=st.integers(0, 10_000),
    rows=st.integers(25, 600),
    n=st.integers(1, 40),
    weight=st.sampled_from([0.0, 0.1, 0.5, 2.0, 30.0]),
    share=st.sampled_from([None, 0.1, 0.7]),
)
def test_it_is_exact_where_the_dense_side_is(seed, rows, n, weight, share):
    rng = np.random.default_rng(seed)
    raw, queries = draw(rng, rows), draw(rng, 25, weight=weight)
    vectors = from_raw(raw)
    inverted = InvertedIndex.from_vectors(vectors.lexical)
    searcher = HybridSearcher(vectors, ExactSearcher(vectors.dense), inverted)
    allowed = None if share is None else rng.random(rows) < share
    found = searcher.nearest(units(queries), n, None if allowed is None else AllowedItems(allowed))
    expected = definition(queries, raw, allowed)[:, :n]
    scores = found.scores[:, : expected.shape[1]]
    np.testing.assert_allclose(scores, expected, atol=2e-6)
    assert (found.items[:, expected.shape[1] :] == -1).all()


def test_what_one_side_alone_would_miss_is_found():
    """The best row stands in the middle of either side's ranking."""
    rows = 4000
    angle = np.linspace(0, np.pi / 2, rows)
    dense = np.stack([np.cos(angle), np.sin(angle)], axis=1).astype("float32")
    lexical = sparse.csr_matrix(dense[:, ::-1])
    raw = HybridArray(dense, lexical, 1.0)
    vectors = from_raw(raw)
    inverted = InvertedIndex.from_vectors(vectors.lexical)
    searcher = HybridSearcher(vectors, ExactSearcher(vectors.dense), inverted)
    query = HybridArray(
        np.asarray([[1, 0]], "float32"), sparse.csr_matrix([[1.0, 0]], dtype="float32")
    )
    found = searcher.nearest(query, 1)
    assert abs(found.items[0, 0] - rows // 2) <= 1
    assert found.scores[0, 0] == pytest.approx(np.sqrt(0.5), abs=1e-4)


def test_without_weight_it_is_the_dense_search(searcher):
    queries = HybridArray(QUERIES.dense, QUERIES.lexical, 0.0)
    dense = ExactSearcher(VECTORS.dense).nearest(units(queries).dense, 5)
    found = searcher.nearest(units(queries), 5)
    np.testing.assert_allclose(found.scores, dense.scores, atol=1e-6)


def test_equal_texts_score_one(searcher):
    found = searcher.nearest(units(RAW[[300, 700]]), 1)
    np.testing.assert_allclose(found.scores, 1, atol=1e-6)
    assert found.items.tolist() == [[300], [700]]


def test_a_negative_lexical_cosine_stands_behind_none():
    dense = np.ones((40, 1), dtype="float32")
    lexical = sparse.csr_matrix(np.asarray([[-1.0]] * 30 + [[0.0]] * 10, dtype="float32"))
    vectors = from_raw(HybridArray(dense, lexical))
    inverted = InvertedIndex.from_vectors(vectors.lexical)
    searcher = HybridSearcher(vectors, ExactSearcher(vectors.dense), inverted)
    query = HybridArray(dense[:1], sparse.csr_matrix([[1.0]], dtype="float32"))
    assert searcher.nearest(query, 2).scores.tolist() == [[0.5, 0.5]]


def test_postings_are_opened_as_written(tmp_path):
    inverted = InvertedIndex.from_vectors(VECTORS.lexical)
    inverted.write(tmp_path, "lexical")
    opened = InvertedIndex.open(tmp_path, "lexical", rows=ROWS, width=VECTORS.lexical.width)
    queries = units(QUERIES).lexical
    for one, other in zip(inverted.nearest(queries, 7), opened.nearest(queries, 7), strict=True):
        np.testing.assert_array_equal(one, other)


def test_without_the_library_the_error_tells_what_to_do(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "sparse_dot_topn", None)
    with pytest.raises(ConnormError, match=r"CN126.*\[hybrid\].* = {\"@misc\": .*ExactIndex\.v1"):
        AnnoyIndex().build(VECTORS, tmp_path / "OD-T.index")
    ExactIndex().build(VECTORS, tmp_path / "OD-T.index")
    assert ExactIndex().open(VECTORS, tmp_path / "OD-T.index").nearest(units(QUERIES), 1)


def test_postings_of_nothing(tmp_path):
    vectors = from_raw(sparse.csr_matrix((5, 3), dtype="float32"))
    InvertedIndex.from_vectors(vectors).write(tmp_path, "lexical")
    opened = InvertedIndex.open(tmp_path, "lexical", rows=5, width=3)
    found = opened.nearest(sparse.csr_matrix(np.eye(2, 3, dtype="float32")), 4)
    assert (found.items == -1).all() and not found.scores.any()


def test_rows_keep_their_weight():
    part = stack([QUERIES[:2], QUERIES[[3, 4]]])
    assert (part.shape, part.weight) == ((4, 68), 0.5)
    np.testing.assert_array_equal(part.dense, QUERIES.dense[[0, 1, 3, 4]])
    assert (part.lexical != QUERIES.lexical[[0, 1, 3, 4]]).nnz == 0


def test_length_is_that_of_the_joined_vector():
    one = np.asarray([[3.0]], dtype="float32")
    raw = HybridArray(one, sparse.csr_matrix(2 * one), 0.25)
    assert HybridVectors.from_raw(raw).norms.tolist() == [pytest.approx(np.sqrt(9 + 0.25 * 36))]
    silent = HybridArray(0 * one, sparse.csr_matrix(one), 0.0)
    assert not HybridVectors.from_raw(silent).norms.any()


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_both_cosines_of_pairs(dtype):
    vectors = HybridVectors.from_raw(RAW, dtype=dtype)
    asked = np.asarray([0, 0, 3, 9, 2, 9])
    rows = np.asarray([3, 30, 300, 7, ROWS - 1, 100])
    found = vectors.parts(units(QUERIES), asked, rows)
    for cosine, expected in zip(found, cosines(QUERIES, RAW), strict=True):
        assert cosine.dtype == "float32"
        assert cosine == pytest.approx(
            expected[asked, rows], abs=1e-3 if dtype == "float16" else 1e-6
        )


def test_no_pairs_have_no_cosines():
    nothing = np.empty(0, dtype="int64")
    assert [each.shape for each in VECTORS.parts(units(QUERIES), nothing, nothing)] == [(0,), (0,)]
