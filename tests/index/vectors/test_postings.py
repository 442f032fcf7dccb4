"""The postings of sparse vectors give the search of all rows, and read no more than they say."""

from functools import partial

import numpy as np
import pytest
from scipy import sparse

from spacy_connorm.encoders.ngram import NgramEncoder
from spacy_connorm.encoders.protocol import encode_inputs, encoder_inputs, fitted
from spacy_connorm.errors import ConnormError
from spacy_connorm.index.vectors.kinds import from_raw, scaled
from spacy_connorm.index.vectors.postings import Postings

ROWS, WIDTH = 1500, 80


@pytest.fixture(autouse=True, params=[12, WIDTH])
def most_common(request, monkeypatch):
    """How many features are common: some of them, or all."""
    monkeypatch.setattr("spacy_connorm.index.vectors.postings._COMMON", request.param)
    return request.param


def draw(seed, rows=ROWS, *, values=None, share=0.08):
    """Sparse rows whose first features are common, as letters are."""
    rng = np.random.default_rng(seed)
    chances = np.minimum(share * WIDTH * 0.5 / np.arange(1, WIDTH + 1) ** 0.7, 0.95)
    numbers = rng.choice(values, (rows, WIDTH)) if values else rng.normal(size=(rows, WIDTH))
    return sparse.csr_matrix(np.where(rng.random((rows, WIDTH)) < chances, numbers, 0), dtype="f4")


MATRICES = {
    "any values": draw(1),
    "no negative ones": abs(draw(2)),
    "many ties": draw(3, values=[1, 1, 2]),
    "rows that are repeated": sparse.vstack([draw(4, 50, values=[1, 2])] * 30, format="csr"),
    "some rows are empty": draw(5, share=0.01),
    "all features are common": draw(6, share=50),
}


def best(vectors, postings, queries, count, penalties=None):
    return postings.best(queries, count, partial(vectors.rescore, queries), penalties)


def ranked(rows, scores, count):
    order = np.lexsort((rows, -scores))[:count]
    return rows[order].tolist(), scores[order].tolist()


@pytest.mark.parametrize("metric", ["cosine", "dot"])
@pytest.mark.parametrize("count", [1, 7, 90, ROWS])
@pytest.mark.parametrize("raw", MATRICES.values(), ids=MATRICES)
def test_the_best_rows_are_those_of_the_whole_product(raw, count, metric):
    vectors = scaled(from_raw(raw), metric)
    postings = Postings.from_vectors(vectors)
    queries = sparse.vstack([draw(7, 12), raw[:3], sparse.csr_matrix((1, WIDTH))], format="csr")
    everything = vectors.compare(queries.astype("float32")).dots(0, ROWS)
    allowed = np.random.default_rng(8).random(ROWS) < 0.7
    penalties = np.where(allowed, np.float32(0), np.float32(-np.inf))
    for query, found in enumerate(best(vectors, postings, queries, count)):
        expected = ranked(np.arange(ROWS), everything[:, query], count)
        assert ranked(*found, count) == expected
    if count <= np.count_nonzero(allowed):
        for query, found in enumerate(best(vectors, postings, queries, count, penalties)):
            rows = np.flatnonzero(allowed)
            expected = ranked(rows, everything[rows, query], count)
            assert ranked(*found, count) == expected


def test_only_the_postings_of_rare_features_are_read_and_only_rows_within_reach_compared():
    raw = abs(draw(9, 6000))
    vectors = from_raw(raw)
    postings, queries = Postings.from_vectors(vectors), from_raw(abs(draw(10, 40))).unit
    in_rows = np.bincount(raw.indices, minlength=WIDTH)
    is_rare = np.ones(WIDTH, dtype="bool")
    is_rare[postings.features] = False
    assert in_rows[is_rare].max(initial=0) <= in_rows[~is_rare].min()
    everything = vectors.compare(queries).dots(0, len(vectors))
    assert (np.diff(postings.rows.indptr) == np.where(is_rare, in_rows, 0)).all()
    for query, (rows, _) in enumerate(best(vectors, postings, queries, 5)):
        # Levels add less than a fiftieth of a score, and others of their groups are compared, too.
        fifth = np.sort(everything[:, query])[-5]
        assert len(rows) <= np.count_nonzero(everything[:, query] >= fifth - 0.02) + 7 * 16
        assert len(np.unique(rows)) == len(rows)


def test_few_names_are_compared_with_a_mention():
    rng = np.random.default_rng(13)
    words = ["".join(rng.choice(list("aaeeiioumnrstlcdpbgh"), 7)) for _ in range(400)]
    names = sorted({" ".join(rng.choice(words, 3)) for _ in range(4000)})
    encoder = fitted(NgramEncoder(), names)
    vectors = from_raw(encode_inputs(encoder, encoder_inputs(encoder, names)))
    mentions = [" ".join(rng.choice(words, 2)) for _ in range(30)]
    queries = from_raw(encode_inputs(encoder, encoder_inputs(encoder, mentions))).unit
    postings = Postings.from_vectors(vectors)
    found = best(vectors, postings, queries, 10)
    assert sum(len(rows) for rows, _ in found) < 0.05 * len(names) * len(mentions)
    in_rows = np.bincount(vectors.unit.indices, minlength=vectors.width)
    read = np.diff(postings.rows.indptr)[queries.indices].sum()
    assert read < 0.5 * in_rows[queries.indices].sum()


def test_a_row_that_is_not_a_number_is_compared():
    raw = abs(draw(11))
    raw.data[raw.indptr[40] : raw.indptr[41]] = np.nan
    vectors = from_raw(raw)
    queries = from_raw(raw[41:42]).unit
    ((rows, scores),) = best(vectors, Postings.from_vectors(vectors), queries, 3)
    assert np.isnan(scores[rows == 40]).all()


@pytest.fixture
def folder(tmp_path, most_common):
    if most_common == WIDTH:
        pytest.skip("no feature is rare")
    Postings.from_vectors(from_raw(draw(12, 60))).write(tmp_path, "p")
    return tmp_path


def test_postings_are_opened_as_written(folder):
    opened = Postings.open(folder, "p", rows=60, width=WIDTH)
    written = Postings.from_vectors(from_raw(draw(12, 60)))
    np.testing.assert_array_equal(opened.rows.toarray(), written.rows.toarray())
    for name in ("features", "levels", "longest"):
        np.testing.assert_array_equal(getattr(opened, name), getattr(written, name))


def spoil(folder, part, change):
    array = np.load(folder / f"p.{part}.npy")
    np.save(folder / f"p.{part}.npy", change(array))


@pytest.mark.parametrize(
    ("part", "change"),
    [
        ("indices", lambda array: np.where(array == array.max(), 60, array)),
        ("indices", lambda array: array[:-1]),
        ("indptr", lambda array: array[::-1]),
        ("levels", lambda array: array[:, :-1]),
        ("features", lambda array: array + WIDTH),
        ("longest", lambda array: np.full_like(array, np.nan)),
    ],
)
def test_postings_that_would_write_memory_of_others(folder, part, change):
    spoil(folder, part, change)
    with pytest.raises(ConnormError, match=rf"CN402.*p\.{part}"):
        Postings.open(folder, "p", rows=60, width=WIDTH)
