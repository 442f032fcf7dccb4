"""Annoy as shipped, exact search and the forest alone, by batch."""

import json

import numpy as np
import pytest

from spacy_connorm.index.backends.annoy import AnnoyIndex, AnnoySearcher
from spacy_connorm.index.backends.exact import ExactSearcher
from spacy_connorm.index.vectors.base import from_raw

RNG = np.random.default_rng(5)
UNIT = from_raw(RNG.normal(size=(2000, 16)).astype("float32")).unit


@pytest.fixture
def batches(modules):
    import index_batches

    return index_batches


def test_each_size_batch_and_side_has_a_row(batches, tmp_path, monkeypatch):
    from argparse import Namespace

    path = tmp_path / "vectors.npy"
    np.save(path, UNIT)
    clock = iter(range(10_000))
    monkeypatch.setattr(batches, "ms_a_query", lambda *_: float(next(clock) % 3 + 1))
    rows = list(batches.measure_size(path, UNIT[:20], Namespace(batch=[1, 8], repeats=5)))
    assert [(row["batch"], row["index"]) for row in rows] == [
        (batch, side) for batch in (1, 8) for side in ("shipped", "exact", "forest")
    ]
    assert json.dumps(rows)
    for row in rows:
        assert (row["vectors"], row["dtype"], row["repeats"]) == (2000, "int8", 5)
        assert row["lowest_ratio"] <= row["ratio"] <= row["highest_ratio"]
        assert row["recall@10"] > (0 if row["index"] == "forest" else 99.9)
    assert {row["ratio"] for row in rows if row["index"] == "exact"} == {1}


def test_few_names_have_a_forest_here_and_none_as_shipped(batches, tmp_path):
    sides = batches.open_sides(from_raw(UNIT, dtype="int8"), tmp_path / "vectors.npy")
    assert isinstance(sides["shipped"], ExactSearcher)
    assert isinstance(sides["forest"], AnnoySearcher) and sides["forest"].costs is None


def test_a_forest_can_be_told_to_answer_all(modules, tmp_path):
    from _common.annoy_sides import forest_alone, shipped_index

    vectors = from_raw(UNIT)
    AnnoyIndex(n_trees=3).build(vectors, tmp_path / "forest")
    searcher = AnnoyIndex(search_k=500).open(vectors, tmp_path / "forest")
    assert searcher.costs is not None
    assert forest_alone(searcher).costs is None
    exact = ExactSearcher(vectors)
    assert forest_alone(exact) is exact
    assert (shipped_index().dtype, shipped_index().exact_below) == ("int8", 300_000)
