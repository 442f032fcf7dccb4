"""What `AnnoyIndex` does without annoy and for few names, and its files, which Annoy reads as they
are.
"""

import sys

import numpy as np
import pytest

from spacy_connorm.errors import ConnormError, ConnormWarning
from spacy_connorm.index.backends import annoy as backend
from spacy_connorm.index.backends.annoy import (
    AnnoyIndex,
    AnnoySearcher,
    require_sound_forest,
)
from spacy_connorm.index.backends.exact import ExactSearcher
from spacy_connorm.index.vectors.kinds import from_raw

from ..soundness import require_trees

RNG = np.random.default_rng(3)
VECTORS = from_raw(RNG.normal(size=(3000, 16)).astype("float32"))
NODE_WIDTH = 6
QUERIES = from_raw(RNG.normal(size=(40, 16)).astype("float32")).unit


@pytest.fixture
def path(tmp_path):
    return tmp_path / "O-T.index"


def without_annoy(monkeypatch):
    monkeypatch.setitem(sys.modules, "annoy", None)


def test_without_annoy_the_search_is_exact(path, monkeypatch):
    without_annoy(monkeypatch)
    AnnoyIndex(exact_below=0).build(VECTORS, path)
    found = AnnoyIndex().open(VECTORS, path).nearest(QUERIES, 5)
    expected = ExactSearcher(VECTORS).nearest(QUERIES, 5)
    np.testing.assert_array_equal(found.items, expected.items)
    np.testing.assert_array_equal(found.scores, expected.scores)
    monkeypatch.undo()
    # What was built without annoy stays exact where annoy is installed.
    assert isinstance(AnnoyIndex().open(VECTORS, path), ExactSearcher)


def test_a_forest_is_left_alone_where_annoy_is_not_installed(path, monkeypatch):
    AnnoyIndex(exact_below=0, n_trees=2).build(VECTORS, path)
    before = path.read_bytes()
    assert isinstance(AnnoyIndex().open(VECTORS, path), AnnoySearcher)
    without_annoy(monkeypatch)
    searcher = AnnoyIndex().open(VECTORS, path)
    assert isinstance(searcher, ExactSearcher)
    assert path.read_bytes() == before


def test_without_annoy_many_names_get_a_warning(path, monkeypatch):
    without_annoy(monkeypatch)
    monkeypatch.setattr(backend, "_MANY", 2999)
    with pytest.warns(ConnormWarning, match=r"CNW403.*3000 vectors.*\[faiss\].*AutoIndex"):
        AnnoyIndex(exact_below=0).build(VECTORS, path)
    with pytest.warns(ConnormWarning, match="CNW403"):
        AnnoyIndex(exact_below=0).open(VECTORS, path)


def test_few_vectors_get_no_forest(path, recwarn):
    AnnoyIndex(exact_below=3001).build(VECTORS, path)
    assert path.stat().st_size < 100
    searcher = AnnoyIndex(exact_below=3001).open(VECTORS, path)
    assert isinstance(searcher, ExactSearcher)
    expected = ExactSearcher(VECTORS).nearest(QUERIES, 5)
    np.testing.assert_array_equal(searcher.nearest(QUERIES, 5).items, expected.items)
    # The file decides, whatever the settings say that it is opened with.
    assert isinstance(AnnoyIndex().open(VECTORS, path), ExactSearcher)
    AnnoyIndex(exact_below=3000, n_trees=2).build(VECTORS, path)
    assert isinstance(AnnoyIndex(exact_below=3001).open(VECTORS, path), AnnoySearcher)
    assert not recwarn


def test_a_negative_exact_below_is_refused():
    with pytest.raises(ConnormError, match="CN006.*exact_below"):
        AnnoyIndex(exact_below=-1)


def build_forest(path, items, n_trees=3):
    raw = np.random.default_rng(0).standard_normal((items, NODE_WIDTH)).astype("float32")
    raw[items // 2 :] = raw[-1]  # of many equal ones Annoy makes odd trees
    vectors = from_raw(raw)
    AnnoyIndex(exact_below=0, n_trees=n_trees).build(vectors, path)
    return path


@pytest.mark.parametrize("items", [1, 2, NODE_WIDTH + 2, NODE_WIDTH + 3, 20, 500])
@pytest.mark.parametrize("n_trees", [1, 5])
def test_a_forest_of_annoy_is_sound_for_its_items_and_width_alone(tmp_path, items, n_trees):
    path = build_forest(tmp_path / "forest", items, n_trees)
    require_sound_forest(path, items=items, width=NODE_WIDTH)
    require_trees(path, items=items, width=NODE_WIDTH)
    for wrong in (
        {"items": items + 1, "width": NODE_WIDTH},
        {"items": items, "width": NODE_WIDTH + 1},
    ):
        with pytest.raises(ConnormError, match="CN402"):
            require_sound_forest(path, **wrong)


def change(path, where, column, value):
    nodes = np.fromfile(path, dtype="<i4").reshape(-1, NODE_WIDTH + 3)
    items, below = nodes[-1, 0], nodes[:, 0]
    leaves = (below <= NODE_WIDTH + 2) & (np.arange(len(nodes)) >= items)
    kinds = {"item": [0], "leaf": np.flatnonzero(leaves), "root": [len(nodes) - 1]}
    node = kinds[where][-1]
    if value == "itself":
        value = node
    nodes[node, column] = value
    nodes.tofile(path)


@pytest.mark.parametrize(
    ("where", "column", "value"),
    [
        ("item", 0, 0),
        ("item", 0, -5),
        ("item", 0, 2),
        ("leaf", 0, -1),
        ("leaf", 0, 2**31 - 1),
        ("leaf", 1, 300),
        ("leaf", 1, -1),
        ("root", 0, 299),
        ("root", 1, 10**6),
        ("root", 2, -1),
        ("root", 1, "itself"),
        ("root", 2, 0),
    ],
)
def test_what_would_leave_the_file_or_never_end(tmp_path, where, column, value):
    path = build_forest(tmp_path / "forest", 300)
    change(path, where, column, value)
    with pytest.raises(ConnormError, match=r"CN402.*forest"):
        require_sound_forest(path, items=300, width=NODE_WIDTH)


@pytest.mark.parametrize("size", [0, 4, 36 * 10])
def test_a_file_of_another_size(tmp_path, size):
    path = tmp_path / "forest"
    path.write_bytes(bytes(size))
    with pytest.raises(ConnormError, match="CN402"):
        require_sound_forest(path, items=300, width=NODE_WIDTH)
