"""What batchers draw is kept in a file as it is."""

import numpy as np
import pytest

from spacy_connorm.errors import ConnormError
from spacy_connorm.training.batchers import GroupBatcher, Ranking
from spacy_connorm.training.batches import Batch, Rankings, read_batches, write_batches
from spacy_connorm.training.grounding_batcher import GroundingBatcher


def vectors(rows):
    return np.stack([np.sin(rows), np.cos(rows)], axis=1).astype("float32")


def lists(rng):
    """Two batches of ranked lists, of different sizes."""
    return [
        Batch(
            np.sort(rng.choice(50, count + 4, replace=False)),
            Rankings(
                mentions=rng.integers(4, size=count),
                candidates=rng.integers(4, size=(count, 3)),
                relevance=rng.integers(3, size=(count, 3)),
                lexical=rng.random((count, 3), dtype="float32"),
                hypernyms=rng.integers(-1, 4, size=(count, 2)),
            ),
        )
        for count in (3, 2)
    ]


def draw(kind, pool):
    if kind is Rankings:
        return lists(np.random.default_rng(0))
    batcher = GroupBatcher(size=6, per_concept=2) if kind is None else GroundingBatcher(size=5)
    return batcher.batches(pool, seed=0, epoch=0, ranking=Ranking(vectors))


@pytest.mark.parametrize("kind", [None, Rankings, "groundings"])
def test_batches_are_kept_whole(pool, tmp_path, kind):
    batches = draw(kind, pool)
    assert len(batches) > 1
    write_batches(tmp_path / "epoch-0.npz", batches, pool="digest")
    kept = read_batches(tmp_path / "epoch-0.npz", type(batches[0].relations), pool="digest")
    for one, other in zip(batches, kept, strict=True):
        assert type(other.relations) is type(one.relations)
        for drawn, read in zip(
            (one.rows, *one.relations), (other.rows, *other.relations), strict=True
        ):
            assert drawn.dtype == read.dtype
            np.testing.assert_array_equal(drawn, read)


def test_batches_of_another_pool_are_refused(pool, tmp_path):
    batches = draw(None, pool)
    write_batches(tmp_path / "epoch-0.npz", batches, pool="digest")
    with pytest.raises(ConnormError, match="CN828"):
        read_batches(tmp_path / "epoch-0.npz", type(batches[0].relations), pool="another")
