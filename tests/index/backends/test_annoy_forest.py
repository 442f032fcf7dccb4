"""Annoy's files, which Annoy itself reads without any check."""

import numpy as np
import pytest

from spacy_connorm.errors import ConnormError
from spacy_connorm.index.backends.annoy import AnnoyIndex
from spacy_connorm.index.backends.annoy_forest import (
    has_each_item_in_each_tree,
    require_sound_forest,
)
from spacy_connorm.index.vectors.base import from_raw

WIDTH = 6


def build(path, items, n_trees=3):
    raw = np.random.default_rng(0).standard_normal((items, WIDTH)).astype("float32")
    raw[items // 2 :] = raw[-1]  # of many equal ones Annoy makes odd trees
    vectors = from_raw(raw)
    AnnoyIndex(n_trees=n_trees).build(vectors, path)
    return path


@pytest.mark.parametrize("items", [1, 2, WIDTH + 2, WIDTH + 3, 20, 500])
@pytest.mark.parametrize("n_trees", [1, 5])
def test_what_annoy_builds(tmp_path, items, n_trees):
    path = build(tmp_path / "forest", items, n_trees)
    require_sound_forest(path, items=items, width=WIDTH)
    assert has_each_item_in_each_tree(path, items=items, width=WIDTH)
    for wrong in ({"items": items + 1, "width": WIDTH}, {"items": items, "width": WIDTH + 1}):
        with pytest.raises(ConnormError, match="CN403"):
            require_sound_forest(path, **wrong)


def change(path, where, column, value):
    nodes = np.fromfile(path, dtype="<i4").reshape(-1, WIDTH + 3)
    items, below = nodes[-1, 0], nodes[:, 0]
    leaves = (below <= WIDTH + 2) & (np.arange(len(nodes)) >= items)
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
    path = build(tmp_path / "forest", 300)
    change(path, where, column, value)
    with pytest.raises(ConnormError, match=r"CN403.*forest"):
        require_sound_forest(path, items=300, width=WIDTH)


@pytest.mark.parametrize("size", [0, 4, 36 * 10])
def test_a_file_of_another_size(tmp_path, size):
    path = tmp_path / "forest"
    path.write_bytes(bytes(size))
    with pytest.raises(ConnormError, match="CN403"):
        require_sound_forest(path, items=300, width=WIDTH)


@pytest.mark.parametrize("where", ["leaf", "root"])
def test_a_tree_without_an_item(tmp_path, where):
    """A leaf holds one item twice, or a root one of its halves twice."""
    path = build(tmp_path / "forest", 300)
    nodes = np.fromfile(path, dtype="<i4").reshape(-1, WIDTH + 3)
    is_leaf = (nodes[:, 0] > 1) & (nodes[:, 0] <= WIDTH + 2)
    place = np.flatnonzero(is_leaf)[0] if where == "leaf" else len(nodes) - 1
    nodes[place, 1] = nodes[place, 2]
    nodes.tofile(path)
    assert not has_each_item_in_each_tree(path, items=300, width=WIDTH)
