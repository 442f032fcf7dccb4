"""The trees in a file of Annoy hold every item once, or it is found."""

import numpy as np
import pytest

from spacy_connorm.index.backends.annoy import AnnoyIndex
from spacy_connorm.index.backends.annoy_trees import trees_hold_each_item_once
from spacy_connorm.index.vectors.base import from_raw

WIDTH, HEAD = 4, 3


@pytest.fixture(params=[1, 2, 6, 7, 500])
def forest(request, tmp_path):
    """A file, and how many items it has."""
    raw = np.random.default_rng(0).normal(size=(request.param, WIDTH)).astype("float32")
    AnnoyIndex(n_trees=5).build(from_raw(raw), tmp_path / "forest")
    return tmp_path / "forest", request.param


def is_sound(path, items):
    return trees_hold_each_item_once(path, items=items, width=WIDTH)


def change(path, damage):
    nodes = np.fromfile(path, dtype="<i4").reshape(-1, HEAD + WIDTH)
    damage(nodes)
    nodes.tofile(path)


def test_a_sound_forest(forest):
    path, items = forest
    assert is_sound(path, items)
    assert not is_sound(path, items + 1)
    assert not is_sound(path, items - 1)


@pytest.mark.parametrize("forest", [500], indirect=True)
@pytest.mark.parametrize("value", [0, 3, 499, 10**6, -1])
def test_every_child_counts(forest, value):
    """Each node under a root has its own items, so any change of a child loses some."""
    path, items = forest
    original = path.read_bytes()
    nodes = np.fromfile(path, dtype="<i4").reshape(-1, HEAD + WIDTH)
    for node in range(items, len(nodes) - 6, 17):
        last = HEAD if nodes[node, 0] > HEAD + WIDTH - 1 else 1 + nodes[node, 0]
        for child in {1, last - 1}:
            if nodes[node, child] == value:
                continue

            def damage(nodes, place=(node, child)):
                nodes[place] = value

            change(path, damage)
            assert not is_sound(path, items), (node, child)
            path.write_bytes(original)


@pytest.mark.parametrize("forest", [500], indirect=True)
def test_loops_end(forest):
    path, items = forest

    def loop(nodes):
        nodes[-1, 1:HEAD] = len(nodes) - 1

    change(path, loop)
    assert not is_sound(path, items)


@pytest.mark.parametrize("forest", [500], indirect=True)
def test_a_cut_file(forest):
    path, items = forest
    content = path.read_bytes()
    for cut in (1, len(content)):
        path.write_bytes(content[:-cut])
        assert not is_sound(path, items)
