"""Vectors on disk; searches by inner product, compared with NumPy."""

import warnings
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from scipy import sparse

from spacy_connorm.encoders.protocol import HybridArray, stack
from spacy_connorm.errors import ConnormError
from spacy_connorm.files.folders import seal
from spacy_connorm.index.backends.annoy import AnnoyIndex
from spacy_connorm.index.backends.exact import ExactIndex, ExactSearcher
from spacy_connorm.index.backends.ivf import IvfIndex
from spacy_connorm.index.concept_index import SEARCHES, ConceptIndex, Search
from spacy_connorm.index.overlay import Synonym, SynonymOverlay
from spacy_connorm.index.search import rounded, run_search
from spacy_connorm.index.vectors import (
    DenseVectors,
    SparseVectors,
    VectorWriter,
    from_raw,
    join,
    open_csr,
    open_vectors,
    scaled,
    write_csr,
)

from .conftest import DENSE, HYBRID, SPARSE, build, encode
from .soundness import require_sound


@pytest.fixture
def matrix(tmp_path):
    written = sparse.csr_matrix(np.asarray([[0, 1, 2], [0, 0, 0], [3, 0, 4]], dtype="float32"))
    write_csr(written, tmp_path, "m")
    return written


def test_a_matrix_is_opened_as_written(matrix, tmp_path):
    opened = open_csr(tmp_path, "m", rows=3, width=3)
    np.testing.assert_array_equal(opened.toarray(), matrix.toarray())


@pytest.mark.parametrize(
    ("part", "values"),
    [
        *(("indices", [1, 2, 0, 3]), ("indices", [1, 2, -1, 2]), ("indices", [1, 2, 0])),
        *(("indptr", [1, 2, 2, 4]), ("indptr", [0, 2, 2, 5]), ("indptr", [0, 3, 2, 4])),
        ("indptr", [0, 4]),
    ],
)
def test_a_matrix_that_would_read_memory_of_others(matrix, tmp_path, part, values):
    np.save(tmp_path / f"m.{part}.npy", np.asarray(values, dtype="int32"))
    with pytest.raises(ConnormError, match="CN402"):
        open_csr(tmp_path, "m", rows=3, width=3)


def test_indices_of_another_dtype_than_offsets(matrix, tmp_path):
    np.save(tmp_path / "m.indices.npy", matrix.indices.astype("int64"))
    with pytest.raises(ConnormError, match=r"CN402.*indices.*int64, not int32"):
        open_csr(tmp_path, "m", rows=3, width=3)


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


def test_rows_of_both_sides_as_queries():
    vectors = from_raw(HybridArray(RAW, sparse.csr_matrix(RAW[::-1]), 0.5))
    queries = vectors.queries(np.asarray([3, 1]))
    np.testing.assert_array_equal(queries.dense, vectors.dense.unit[[3, 1]])
    np.testing.assert_array_equal(queries.lexical.toarray(), vectors.lexical.unit[[3, 1]].toarray())


def test_sums_are_of_raw_vectors(raw):
    incidence = sparse.csr_matrix(np.asarray([[1, 0, 1] + [0] * 6, [0] * 8 + [1]], "float32"))
    sums = from_raw(raw).sums(incidence)
    sums = sums.toarray() if sparse.issparse(sums) else sums
    np.testing.assert_allclose(sums, [RAW[0] + RAW[2], RAW[8]], atol=1e-5)


def test_stack_keeps_order(raw):
    stacked = stack([raw[:2], raw[2:]])
    np.testing.assert_array_equal(stacked.toarray() if sparse.issparse(stacked) else stacked, RAW)


KINDS = {
    "float32": from_raw(RAW),
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
    writer, ends = VectorWriter(tmp_path / "blocks", "v", 9), np.cumsum([0, *sizes])
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


def test_quantized_sums_are_of_raw_vectors():
    incidence = sparse.csr_matrix(np.asarray([[1, 0, 1] + [0] * 6, [0] * 8 + [1]], "float32"))
    sums = QUANTIZED.sums(incidence)
    np.testing.assert_allclose(sums, [RAW[0] + RAW[2], RAW[8]], atol=0.05)


def test_opened_int8_is_mapped(tmp_path):
    QUANTIZED.write(tmp_path, "texts")
    opened = open_vectors(tmp_path, "texts")
    assert opened.rows.dtype == "int8"
    assert isinstance(opened.rows.base, np.memmap)
    assert np.shares_memory(opened.view(2, 5).rows, opened.rows)


RNG = np.random.default_rng(7)
MENTIONS = ["mention 3", "a new one", "alias 7 1", "shared", "name 21", "unheard of", "other"]
# The most that a component of a unit vector can be off, by dtype.
ROUNDED = {"float32": 1e-5, "int8": 2e-2}
BACKENDS = [
    ExactIndex(metric="dot"),
    ExactIndex(metric="dot", dtype="int8"),
]


def both_sides(raw):
    """Dense vectors as they are, and lexical ones at length one, side by side."""
    if not hasattr(raw, "lexical"):
        return raw.toarray() if hasattr(raw, "toarray") else raw
    lexical = raw.lexical.toarray()
    norms = np.linalg.norm(lexical, axis=1, keepdims=True)
    lexical /= np.where(norms > 0, norms, 1)
    return np.hstack([raw.dense, lexical * np.sqrt(raw.weight)])


def definition(index, search, encoder):
    """RETURNS: For each mention its inner product with each item of a search."""
    members = index.members
    first, last = members.rows_of(search.target)
    mine = np.flatnonzero(members.target & search.target)
    texts = index.store.texts(range(len(members.concept)))
    if search.representation == "T":
        raw = encoder.encode([texts[members.start[row]] for row in range(first, last)])
    else:
        means = []
        for concept in index.concepts_of(search):
            own = [texts[each] for each in mine if members.concept[each] == concept]
            parts = encoder.encode(own)
            total = parts[0:1]
            for place in range(1, len(own)):
                total = total + parts[place : place + 1]
            means.append(total / len(own))
        return np.hstack([both_sides(encoder.encode(MENTIONS)) @ both_sides(m).T for m in means])
    return both_sides(encoder.encode(MENTIONS)) @ both_sides(raw).T


def queries(index, encoder):
    vectors = scaled(from_raw(encoder.encode(MENTIONS)), index.metric)
    raw = vectors.queries(np.arange(len(MENTIONS)))
    return replace(raw, weight=encoder.encode(["x"]).weight) if hasattr(raw, "weight") else raw


@pytest.mark.filterwarnings("ignore:.*CNW401")
@pytest.mark.parametrize("encoder", [DENSE, SPARSE, HYBRID], ids=lambda each: each.name)
@pytest.mark.parametrize(
    "backend", BACKENDS, ids=lambda each: f"{type(each).__name__}-{each.dtype}"
)
def test_each_search_finds_the_largest_inner_products(tmp_path, backend, encoder):
    index = build(tmp_path / "index", encoder=encoder, backend=backend)
    assert index.metric == "dot"
    for search in SEARCHES:
        expected = definition(index, search, encoder)
        found = index.searcher(search).nearest(queries(index, encoder), 10)
        largest = -np.sort(-expected, axis=1)[:, :10]
        tolerance = ROUNDED[backend.dtype] * np.abs(expected).max()
        np.testing.assert_allclose(
            found.scores, largest[:, : found.scores.shape[1]], atol=tolerance
        )
        own = np.take_along_axis(expected, found.items, axis=1)
        np.testing.assert_allclose(found.scores, own, atol=tolerance)
    require_sound(index)


@pytest.mark.filterwarnings("ignore:.*CNW401")
def test_synonyms_that_are_added_are_compared_as_those_of_the_index(tmp_path):
    index = build(tmp_path / "index", backend=ExactIndex(metric="dot"))
    overlay = SynonymOverlay(index).with_synonyms(
        [Synonym(b"quite new", "quite new", 5)], encode(["quite new"]), count=1
    )
    (vector,) = encode(["quite new"])
    asked = np.asarray([vector * 20])
    (hit,) = (
        hit for hit in run_search(Search.OD_T, index, overlay, asked, top_k=60)[0] if hit.text
    )
    assert (hit.text, hit.concept) == ("quite new", 5)
    assert hit.score == pytest.approx(float(vector @ vector) * 20, rel=1e-4)
    own = ["quite new", *(f"mention {number}" for number in (5, 25, 45, 65))]
    mean = encode(own).mean(axis=0)
    (hit,) = (
        hit
        for hit in run_search(Search.D_C, index, overlay, asked, top_k=60)[0]
        if hit.concept == 5
    )
    assert hit.score == pytest.approx(float(mean @ vector) * 20, rel=1e-4)


def test_a_score_that_is_no_number(tmp_path):
    with pytest.warns(UserWarning, match="CNW401"):
        index = build(tmp_path / "index", backend=ExactIndex(metric="dot"))
    overlay = SynonymOverlay(index)
    for bad in (np.nan, np.inf):
        vectors = np.full((1, 12), bad, dtype="float32")
        with np.errstate(all="ignore"), pytest.raises(ConnormError, match="CN420"):
            run_search(Search.O_T, index, overlay, vectors, top_k=3)


@pytest.mark.parametrize("bad", [np.inf, -np.inf, 3e38, np.nan])
def test_numpy_does_not_warn_of_damaged_vectors(bad):
    damaged = from_raw(np.eye(20, 12, dtype="float32"))
    damaged.rows[3, :2] = bad, -bad
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scores = ExactSearcher(damaged).nearest(np.full((1, 12), 2, dtype="float32"), 3).scores
    # A search refuses them.
    assert not (scores <= 1.1).all()


@pytest.mark.filterwarnings("ignore:.*CNW401")
@pytest.mark.parametrize("metric", ["euclid", None, 3])
def test_an_index_of_an_unknown_metric(tmp_path, metric):
    index = build(tmp_path / "index")
    facts = {key: index.manifest[key] for key in ("searches", "encoder", "counts")}
    seal(index.folder, {**facts, "backend": {"metric": metric}})
    with pytest.raises(ConnormError, match="CN402.*metric"):
        ConceptIndex(index.folder, ExactIndex())


def test_a_metric_that_there_is_not():
    with pytest.raises(ConnormError, match="CN118.*metric.*euclidean"):
        ExactIndex(metric="euclidean")


@pytest.mark.parametrize("backend", [ExactIndex, AnnoyIndex, IvfIndex])
def test_a_dtype_that_there_is_not(backend):
    with pytest.raises(ConnormError, match="CN118.*dtype.*float16"):
        backend(dtype="float16")


def test_rounding_of_large_scores():
    scores = np.asarray([1.234567, -0.5, 12.34567, 330.12345, -2e7, -np.inf], dtype="float32")
    expected = [1.23457, -0.5, 12.3457, 330.123, -2e7, -np.inf]
    assert rounded(scores).tolist() == expected
    # Noise of float32 does not part what is equal.
    noisy = np.float32(330.5) * (1 + np.float32(1e-7) * np.arange(-3, 4))
    assert len({*rounded(noisy).tolist()}) == 1
    ordered = np.sort(RNG.uniform(-1e4, 1e4, 1000)).astype("float32")
    assert (np.diff(rounded(ordered)) >= 0).all()


@pytest.mark.filterwarnings("ignore:.*CNW401")
@pytest.mark.parametrize(
    ("before", "after"), [("dot", "cosine"), ("cosine", "dot"), ("dot", "dot")]
)
def test_vectors_of_an_index_of_another_metric_are_copied(tmp_path, before, after):
    older = build(tmp_path / "older", backend=ExactIndex(metric=before))
    newer = build(tmp_path / "newer", backend=ExactIndex(metric=after), known=older)
    counts = newer.manifest["counts"]
    assert counts["copied_rows"] == counts["rows"] and newer.metric == after
    fresh = build(tmp_path / "fresh", backend=ExactIndex(metric=after))
    asked = queries(fresh, DENSE)
    for search in (Search.O_T, Search.OD_C):
        found = newer.searcher(search).nearest(asked, 5)
        np.testing.assert_array_equal(found.items, fresh.searcher(search).nearest(asked, 5).items)
    require_sound(newer)


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


def test_stacked_rows_keep_their_weight():
    part = stack([BOTH[:2], BOTH[[3, 4]]])
    assert (part.shape, part.weight) == ((4, 10), 0.5)
    np.testing.assert_array_equal(part.dense, RAW[[0, 1, 3, 4]])


def test_length_is_that_of_the_joined_vector():
    one = np.asarray([[3.0]], dtype="float32")
    raw = HybridArray(one, sparse.csr_matrix(2 * one), 0.25)
    assert from_raw(raw).norms.tolist() == [pytest.approx(np.sqrt(9 + 0.25 * 36))]
    assert not from_raw(HybridArray(0 * one, sparse.csr_matrix(one), 0.0)).norms.any()
