"""Vectors on disk; searches by inner product, compared with NumPy."""

import warnings
from dataclasses import replace

import numpy as np
import pytest

from spacy_connorm.encoders.raw import HybridArray
from spacy_connorm.errors import ConnormError
from spacy_connorm.files.folders import seal
from spacy_connorm.index.backends.exact import ExactIndex, ExactSearcher
from spacy_connorm.index.concept_index import ConceptIndex
from spacy_connorm.index.hits import run_search
from spacy_connorm.index.overlay import Synonym, SynonymOverlay
from spacy_connorm.index.search import SEARCHES, Search
from spacy_connorm.index.vectors.kinds import from_raw, scaled

from ..conftest import DENSE, HYBRID, SPARSE, build, encode
from ..soundness import require_sound
from .conftest import ROUNDED

RNG = np.random.default_rng(7)


MENTIONS = ["mention 3", "a new one", "alias 7 1", "shared", "name 21", "unheard of", "other"]


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


def mean(raw):
    if isinstance(raw, HybridArray):
        return HybridArray(mean(raw.dense), mean(raw.lexical), raw.weight)
    rows = [raw[place : place + 1] for place in range(raw.shape[0])]
    return sum(rows[1:], rows[0]) / len(rows)


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
            means.append(mean(encoder.encode(own)))
        return np.hstack([both_sides(encoder.encode(MENTIONS)) @ both_sides(m).T for m in means])
    return both_sides(encoder.encode(MENTIONS)) @ both_sides(raw).T


def queries(index, encoder):
    vectors = scaled(from_raw(encoder.encode(MENTIONS)), index.metric)
    raw = vectors.queries(np.arange(len(MENTIONS)))
    return replace(raw, weight=encoder.encode(["x"]).weight) if hasattr(raw, "weight") else raw


@pytest.mark.filterwarnings("ignore:.*CNW401")
@pytest.mark.parametrize("encoder", [DENSE, SPARSE, HYBRID], ids=lambda value: value.name)
@pytest.mark.parametrize(
    "backend", BACKENDS, ids=lambda value: f"{type(value).__name__}-{value.dtype}"
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
    assert -hit.distance == pytest.approx(float(vector @ vector) * 20, rel=1e-4)
    own = ["quite new", *(f"mention {number}" for number in (5, 25, 45, 65))]
    mean = encode(own).mean(axis=0)
    (hit,) = (
        hit
        for hit in run_search(Search.D_C, index, overlay, asked, top_k=60)[0]
        if hit.concept == 5
    )
    assert -hit.distance == pytest.approx(float(mean @ vector) * 20, rel=1e-4)


def test_vectors_that_are_not_finite_are_refused(tmp_path):
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
    facts = {
        key: index.manifest[key] for key in ("index_format", "searches", "encoder", "language")
    }
    seal(index.folder, {**facts, "backend": {"metric": metric}})
    with pytest.raises(ConnormError, match="CN402.*metric"):
        ConceptIndex(index.folder, ExactIndex())


def test_a_metric_that_there_is_not():
    with pytest.raises(ConnormError, match="CN118.*metric.*euclidean"):
        ExactIndex(metric="euclidean")


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
