"""When `AnnoyIndex` asks its forest, and what it does without annoy."""

import json
import sys

import numpy as np
import pytest

from spacy_connorm.errors import ConnormError, ConnormWarning
from spacy_connorm.index.backends import annoy as backend
from spacy_connorm.index.backends.annoy import AnnoyIndex, AnnoySearcher
from spacy_connorm.index.backends.annoy_costs import AnnoyCosts, measure_costs
from spacy_connorm.index.backends.exact import ExactSearcher
from spacy_connorm.index.vectors.base import from_raw

RNG = np.random.default_rng(3)
VECTORS = from_raw(RNG.normal(size=(3000, 16)).astype("float32"))
QUERIES = from_raw(RNG.normal(size=(40, 16)).astype("float32")).unit


@pytest.fixture
def path(tmp_path):
    return tmp_path / "O-T.index"


@pytest.fixture
def asked(monkeypatch):
    """How many queries the forest was asked for, call by call."""
    calls, propose = [], backend._propose
    monkeypatch.setattr(
        backend,
        "_propose",
        lambda forest, queries, *rest: (
            calls.append(len(queries)),
            propose(forest, queries, *rest),
        )[1],
    )
    return calls


def without_annoy(monkeypatch):
    monkeypatch.setitem(sys.modules, "annoy", None)


def costs_file(path):
    return path.with_name("O-T.index.costs.json")


def test_batches_are_searched_exactly_where_that_is_cheaper(path, asked):
    settings = AnnoyIndex(n_trees=3, search_k=1000)
    settings.build(VECTORS, path)
    AnnoyCosts(1000, exact_batch=0.010, exact_query=0.001, forest_query=0.003).write(
        costs_file(path)
    )
    searcher = settings.open(VECTORS, path)
    asked.clear()
    # 10 ms + 3 x 1 ms are more than a quarter above 3 x 3 ms, but 10 ms + 4 x 1 ms are less than
    # that above 4 x 3 ms.
    searcher.nearest(QUERIES[:3], 5)
    assert asked == [3]
    exact = searcher.nearest(QUERIES[:4], 5)
    assert asked == [3]
    expected = ExactSearcher(VECTORS).nearest(QUERIES[:4], 5)
    np.testing.assert_array_equal(exact.items, expected.items)


def test_a_forest_that_costs_more_is_never_asked(path, asked):
    settings = AnnoyIndex(n_trees=3, search_k=1000)
    settings.build(VECTORS, path)
    AnnoyCosts(1000, exact_batch=0.001, exact_query=0.001, forest_query=0.003).write(
        costs_file(path)
    )
    asked.clear()
    settings.open(VECTORS, path).nearest(QUERIES[:1], 5)
    assert asked == []


@pytest.mark.parametrize(("recall", "nodes"), [(0.1, 1000), (0.5, 4000), (0.9, 8000)])
def test_as_many_nodes_as_the_recall_needs(recall, nodes):
    many = from_raw(RNG.normal(size=(9000, 16)).astype("float32"))

    def propose(queries, count, search_k):
        """Proposes all of the nearest ten if it inspects 6,000 nodes, or more."""
        kept = round(10 * min(1.0, search_k / 6000))
        return list(ExactSearcher(many).nearest(queries, 10).items[:, :kept])

    options = {"recall": recall, "oversample": 2, "seed": 0}
    assert measure_costs(many, propose, search_k=None, **options).search_k == nodes
    assert measure_costs(many, propose, search_k=77, **options).search_k == 77


def test_a_recall_that_is_not_reached_inspects_everything():
    costs = measure_costs(
        VECTORS,
        lambda queries, count, search_k: [np.empty(0, "int64")] * len(queries),
        search_k=None,
        recall=0.99,
        oversample=2,
        seed=0,
    )
    assert costs.search_k >= len(VECTORS)


def test_the_measured_number_of_nodes_is_used(path):
    AnnoyIndex(n_trees=5).build(VECTORS, path)
    kept = json.loads(costs_file(path).read_text())
    assert AnnoyIndex().open(VECTORS, path).search_k == kept["search_k"]
    assert AnnoyIndex(search_k=123).open(VECTORS, path).search_k == 123


def test_forests_of_older_versions_have_no_costs(path, asked):
    settings = AnnoyIndex(n_trees=3, search_k=1000)
    settings.build(VECTORS, path)
    costs_file(path).unlink()
    searcher = settings.open(VECTORS, path)
    assert searcher.costs is None
    asked.clear()
    searcher.nearest(QUERIES, 5)
    assert asked == [40]
    assert AnnoyIndex().open(VECTORS, path).search_k == 20_000


@pytest.mark.parametrize(
    "text",
    [
        *("", "[]", "{}"),
        '{"search_k": 0, "exact_batch": 1, "exact_query": 1, "forest_query": 1}',
        '{"search_k": 9, "exact_batch": NaN, "exact_query": 1, "forest_query": 1}',
    ],
)
def test_damaged_costs_are_refused(path, text):
    AnnoyIndex(n_trees=2).build(VECTORS, path)
    costs_file(path).write_text(text)
    with pytest.raises(ConnormError, match=r"CN403.*O-T.index.costs.json"):
        AnnoyIndex().open(VECTORS, path)


def test_without_annoy_the_search_is_exact(path, monkeypatch):
    without_annoy(monkeypatch)
    AnnoyIndex().build(VECTORS, path)
    assert not costs_file(path).exists()
    found = AnnoyIndex().open(VECTORS, path).nearest(QUERIES, 5)
    expected = ExactSearcher(VECTORS).nearest(QUERIES, 5)
    np.testing.assert_array_equal(found.items, expected.items)
    np.testing.assert_array_equal(found.scores, expected.scores)
    monkeypatch.undo()
    # What was built without annoy stays exact where annoy is installed.
    assert isinstance(AnnoyIndex().open(VECTORS, path), ExactSearcher)


def test_a_forest_is_left_alone_where_annoy_is_not_installed(path, monkeypatch):
    AnnoyIndex(n_trees=2).build(VECTORS, path)
    before = path.read_bytes()
    assert isinstance(AnnoyIndex().open(VECTORS, path), AnnoySearcher)
    without_annoy(monkeypatch)
    searcher = AnnoyIndex().open(VECTORS, path)
    assert isinstance(searcher, ExactSearcher)
    searcher.verify(path)
    assert path.read_bytes() == before


def test_without_annoy_many_names_get_a_warning(path, monkeypatch):
    without_annoy(monkeypatch)
    monkeypatch.setattr(backend, "_MANY", 2999)
    with pytest.warns(ConnormWarning, match=r"CNW403.*3000 vectors.*\[annoy\].*IvfIndex"):
        AnnoyIndex().build(VECTORS, path)
    with pytest.warns(ConnormWarning, match="CNW403"):
        AnnoyIndex().open(VECTORS, path)


def test_few_vectors_get_no_forest(path, recwarn):
    AnnoyIndex(exact_below=3001).build(VECTORS, path)
    assert path.stat().st_size < 100 and not costs_file(path).exists()
    searcher = AnnoyIndex(exact_below=3001).open(VECTORS, path)
    assert isinstance(searcher, ExactSearcher)
    expected = ExactSearcher(VECTORS).nearest(QUERIES, 5)
    np.testing.assert_array_equal(searcher.nearest(QUERIES, 5).items, expected.items)
    # The file decides, whatever the settings say that it is opened with.
    assert isinstance(AnnoyIndex().open(VECTORS, path), ExactSearcher)
    AnnoyIndex(exact_below=3000, n_trees=2).build(VECTORS, path)
    assert isinstance(AnnoyIndex(exact_below=3001).open(VECTORS, path), AnnoySearcher)
    assert not recwarn


def test_a_negative_number_of_vectors():
    with pytest.raises(ConnormError, match="CN006.*exact_below"):
        AnnoyIndex(exact_below=-1)


@pytest.mark.parametrize("recall", [0, -0.5, 1.01, float("nan")])
def test_a_recall_that_cannot_be(recall):
    with pytest.raises(ConnormError, match="CN006.*recall"):
        AnnoyIndex(recall=recall)
