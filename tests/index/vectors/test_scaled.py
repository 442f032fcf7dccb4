"""Searches by inner product, compared with NumPy on the vectors that the encoder gives."""

from dataclasses import replace

import numpy as np
import pytest

from spacy_connorm.errors import ConnormError
from spacy_connorm.index.backends.annoy import AnnoyIndex, AnnoySearcher
from spacy_connorm.index.backends.exact import ExactIndex
from spacy_connorm.index.backends.ivf import IvfIndex, IvfSearcher
from spacy_connorm.index.concept_index import ConceptIndex
from spacy_connorm.index.overlay import Synonym, SynonymOverlay
from spacy_connorm.index.search import SEARCHES, Search, rounded
from spacy_connorm.index.searching import run_search
from spacy_connorm.index.vectors.base import from_raw
from spacy_connorm.index.vectors.scaled import lifted, lifted_queries, scaled
from spacy_connorm.index.verification import verify_index

from ..conftest import DENSE, HYBRID, LISTS, SPARSE, build, encode

RNG = np.random.default_rng(7)
MENTIONS = ["mention 3", "a new one", "alias 7 1", "shared", "name 21", "unheard of", "other"]
# The most that a component of a unit vector can be off, by dtype.
ROUNDED = {"float32": 1e-5, "float16": 1e-3, "int8": 2e-2}
BACKENDS = [
    ExactIndex(metric="dot"),
    ExactIndex(metric="dot", dtype="float16"),
    ExactIndex(metric="dot", dtype="int8"),
    AnnoyIndex(exact_below=0, metric="dot", n_trees=20, search_k=2000),
    AnnoyIndex(metric="dot", dtype="int8", exact_below=10_000),
    replace(LISTS, metric="dot"),
    replace(LISTS, metric="dot", dtype="float16"),
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
    vectors = index.as_compared(from_raw(encoder.encode(MENTIONS)))
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
    verify_index(index, report=lambda rows: None)


@pytest.mark.parametrize(
    "backend",
    [
        AnnoyIndex(exact_below=0, metric="dot", n_trees=50, search_k=2500),
        AnnoyIndex(exact_below=0, metric="dot", n_trees=50, search_k=2500, dtype="int8"),
        IvfIndex(metric="dot", lists=20, probes=9, oversample=8, exact_below=100),
        IvfIndex(metric="dot", lists=20, probes=9, oversample=8, exact_below=100, dtype="float16"),
    ],
    ids=lambda each: f"{type(each).__name__}-{each.dtype}",
)
def test_approximate_searches_propose_by_inner_product(tmp_path, backend):
    raw = RNG.normal(size=(3000, 13)).astype("float32") * RNG.uniform(0.1, 9, size=(3000, 1))
    raw[7] = 0
    asked = RNG.normal(size=(30, 13)).astype("float32") * 3
    vectors = scaled(from_raw(raw.astype("float32"), dtype=backend.dtype), "dot")
    backend.build(vectors, tmp_path / "OD-T.index")
    searcher = backend.open(vectors, tmp_path / "OD-T.index")
    searcher.verify(tmp_path / "OD-T.index")
    assert isinstance(searcher, AnnoySearcher | IvfSearcher)
    exact = asked @ raw.T
    hits = 0
    for query, vector in enumerate(asked):
        found = searcher.nearest(vector[None], 10)
        tolerance = ROUNDED[backend.dtype] * np.abs(exact).max()
        np.testing.assert_allclose(found.scores[0], exact[query, found.items[0]], atol=tolerance)
        hits += len({*found.items[0].tolist()} & {*np.argsort(-exact[query])[:10].tolist()})
    assert hits / 300 > 0.9


def test_lifted_vectors_keep_the_order_of_inner_products():
    raw = (RNG.normal(size=(200, 6)) * RNG.uniform(0, 5, size=(200, 1))).astype("float32")
    vectors = lifted(scaled(from_raw(raw), "dot"))
    rows, query = vectors.queries(np.arange(200)), RNG.normal(size=(1, 6)).astype("float32")
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)
    assert vectors.width == rows.shape[1] == 8
    by_angle = np.argsort(-(lifted_queries(vectors, query) @ rows.T)[0])
    products = (query @ raw.T)[0]
    np.testing.assert_allclose(products[by_angle], -np.sort(-products), atol=1e-4)


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


@pytest.mark.filterwarnings("ignore:.*CNW401")
def test_an_index_of_before_there_were_metrics_has_cosines(tmp_path):
    index = build(tmp_path / "index")
    assert index.manifest["backend"].pop("metric") == "cosine"
    old = ConceptIndex(index.folder, ExactIndex(), manifest=index.manifest)
    assert old.metric == "cosine" and not old.compared.is_scaled


@pytest.mark.filterwarnings("ignore:.*CNW401")
@pytest.mark.parametrize("metric", ["euclid", None, 3])
def test_an_index_of_an_unknown_metric(tmp_path, metric):
    index = build(tmp_path / "index")
    index.manifest["backend"]["metric"] = metric
    with pytest.raises(ConnormError, match="CN402.*metric"):
        ConceptIndex(index.folder, ExactIndex(), manifest=index.manifest)


@pytest.mark.parametrize("backend", [ExactIndex, AnnoyIndex, IvfIndex])
def test_a_metric_that_there_is_not(backend):
    with pytest.raises(ConnormError, match='CN006.*`metric` must be "cosine" or "dot"'):
        backend(metric="euclidean")


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
    older = build(tmp_path / "older", backend=replace(LISTS, metric=before))
    newer = build(tmp_path / "newer", backend=replace(LISTS, metric=after), known=older)
    counts = newer.manifest["counts"]
    assert counts["copied_rows"] == counts["rows"] and newer.metric == after
    fresh = build(tmp_path / "fresh", backend=replace(LISTS, metric=after))
    asked = queries(fresh, DENSE)
    for search in (Search.O_T, Search.OD_C):
        found = newer.searcher(search).nearest(asked, 5)
        np.testing.assert_array_equal(found.items, fresh.searcher(search).nearest(asked, 5).items)
    verify_index(newer, report=lambda rows: None)
