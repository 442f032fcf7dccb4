"""Near concepts meet in a batch."""

from functools import partial

import numpy as np
import pytest

from spacy_connorm.errors import ConnormError
from spacy_connorm.training import neighbour_batcher
from spacy_connorm.training.batchers import Ranking
from spacy_connorm.training.neighbour_batcher import NeighbourBatcher

CONCEPTS = 60


@pytest.fixture
def on_circle(make_pool):
    """Concepts of three texts each, on a circle: concept c stands at an angle of c."""
    return make_pool(*(range(3 * c, 3 * c + 3) for c in range(CONCEPTS)))


def circle(rows, asked=None):
    if asked is not None:
        asked.append(rows)
    angles = (rows // 3) * 2 * np.pi / CONCEPTS
    return np.stack([np.cos(angles), np.sin(angles)], axis=1).astype("float32")


def distances(batch) -> np.ndarray:
    concepts = np.unique(batch // 3)
    apart = np.abs(concepts[:, None] - concepts)
    apart = np.minimum(apart, CONCEPTS - apart)
    np.fill_diagonal(apart, CONCEPTS)
    return apart.min(axis=1)


def rows_of(batches):
    return [batch.rows for batch in batches]


def test_near_concepts_meet(on_circle):
    near, alone = (
        rows_of(
            NeighbourBatcher(size=12, neighbours=neighbours).batches(
                on_circle, seed=0, epoch=0, ranking=Ranking(circle)
            )
        )
        for neighbours in (4, 1)
    )
    to_nearest = [np.concatenate([distances(batch) for batch in each]) for each in (near, alone)]
    assert np.median(to_nearest[0]) < np.median(to_nearest[1])
    assert np.mean(to_nearest[0] <= 2) > 0.6


@pytest.mark.parametrize("neighbours", [1, 3, 200])
@pytest.mark.parametrize("block", [7, 20_000])
def test_every_text_is_drawn_beside_near_ones(on_circle, monkeypatch, neighbours, block):
    monkeypatch.setattr(neighbour_batcher, "_BLOCK", block)
    batcher = NeighbourBatcher(size=16, per_concept=2, neighbours=neighbours)
    counts = set()
    for epoch in range(4):
        batches = rows_of(batcher.batches(on_circle, seed=1, epoch=epoch, ranking=Ranking(circle)))
        counts.add(len(batches))
        assert set(np.concatenate(batches)) == set(range(3 * CONCEPTS))
        for batch in batches:
            assert len(batch) <= 16
            assert len(set(batch)) == len(batch)
            _, sizes = np.unique(batch // 3, return_counts=True)
            assert sizes.min() >= 2
    assert len(counts) == 1


def test_near_draws_follow_seed_and_epoch(on_circle):
    def draw(**drawn):
        batcher = NeighbourBatcher(size=16)
        batches = batcher.batches(on_circle, ranking=Ranking(circle), **drawn)
        return np.concatenate(rows_of(batches)).tolist()

    assert draw(seed=0, epoch=0) == draw(seed=0, epoch=0)
    assert draw(seed=0, epoch=0) != draw(seed=0, epoch=1)
    assert draw(seed=0, epoch=0) != draw(seed=1, epoch=0)


def test_few_texts_are_encoded_and_each_once(on_circle):
    asked = []
    NeighbourBatcher(size=16).batches(
        on_circle, seed=0, epoch=0, ranking=Ranking(partial(circle, asked=asked))
    )
    (rows,) = asked
    assert len(np.unique(rows)) == len(rows) <= 2 * CONCEPTS


def test_one_concept_has_no_neighbours(make_pool):
    (batch,) = NeighbourBatcher(size=16).batches(
        make_pool(range(4)), seed=0, epoch=0, ranking=Ranking(circle)
    )
    assert set(batch.rows) == set(range(4))


def test_nothing_to_draw(make_pool):
    found = NeighbourBatcher(size=16).batches(
        make_pool([0], [1]), seed=0, epoch=0, ranking=Ranking(circle)
    )
    assert found == []


@pytest.mark.parametrize("settings", [{"size": 5}, {"per_concept": 1}, {"neighbours": 0}])
def test_bad_settings_of_neighbours(settings):
    with pytest.raises(ConnormError, match="CN006"):
        NeighbourBatcher(**settings)
