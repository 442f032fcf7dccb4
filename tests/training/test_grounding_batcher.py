"""Every pair of synonyms comes once per epoch, with a near other name and the concepts' names."""

from collections import Counter
from math import ceil

import numpy as np
import pytest
from spacy import registry

from spacy_connorm.errors import ConnormError
from spacy_connorm.training.batchers import Ranking
from spacy_connorm.training.grounding_batcher import GroundingBatcher

MEMBERS = ([0, 1, 2], [3, 4, 5, 6], [7], [6, 8], [9, 10])


@pytest.fixture
def pool(make_pool):
    """The seventh text is of two concepts, and one concept has a single text."""
    return make_pool(*MEMBERS)


def vectors_of(pool, seed=0):
    drawn = np.random.default_rng(seed).standard_normal((len(pool.texts), 4)).astype("float32")
    return lambda rows: drawn[rows]


def draw(pool, *, seed=0, epoch=0, vectors=None, **settings):
    batcher = GroundingBatcher(**{"size": 5, **settings})
    ranking = Ranking(vectors or vectors_of(pool))
    return batcher.batches(pool, seed=seed, epoch=epoch, ranking=ranking)


def triplets(batches):
    return [
        tuple(rows[each[place]] for each in found[:3])
        for rows, found in batches
        for place in range(len(found.anchors))
    ]


def test_every_ordered_pair_of_synonyms_comes_once_with_no_synonym(pool):
    found = triplets(draw(pool))
    expected = {(a, p) for rows in MEMBERS for a in rows for p in rows if a != p}
    assert Counter((a, p) for a, p, _ in found) == Counter(expected)
    for anchor, _, negative in found:
        assert not set(pool.concepts[anchor]) & set(pool.concepts[negative])


def test_batches_hold_their_texts_once_and_their_concepts_with_half_of_their_names(pool):
    for rows, found in draw(pool):
        assert rows.dtype == np.int64 and (np.diff(rows) > 0).all()
        assert 1 <= len(found.anchors) <= 5
        used = np.concatenate([*found[:3], found.members])
        assert set(used) == set(range(len(rows)))
        of_pairs = set()
        for anchor, positive in zip(rows[found.anchors], rows[found.positives], strict=True):
            of_pairs |= set(pool.concepts[anchor]) & set(pool.concepts[positive])
        assert set(found.concepts) == of_pairs
        for place, concept in enumerate(found.concepts):
            own = rows[found.members[found.owners == place]].tolist()
            assert len(own) == ceil(len(MEMBERS[concept]) / 2)
            assert len(set(own)) == len(own) and set(own) <= set(MEMBERS[concept])


def test_negatives_are_near_and_drawn_by_their_distance(pool):
    vectors = vectors_of(pool)
    points = vectors(np.arange(len(pool.texts)))
    points = points / np.linalg.norm(points, axis=1, keepdims=True)
    anchor, others = 0, [row for row in range(11) if row > 2]
    distances = {row: 1 - points[anchor] @ points[row] for row in others}
    nearest = sorted(others, key=distances.get)[:3]
    counts = Counter()
    for seed in range(1500):
        for a, _, n in triplets(draw(pool, seed=seed, neighbours=3, vectors=vectors)):
            counts[n] += a == anchor
    total = sum(1 / distances[row] for row in nearest)
    drawn = sum(counts.values())
    for row in others:
        share = 1 / distances[row] / total if row in nearest else 0
        assert counts[row] / drawn == pytest.approx(share, abs=0.03)


def test_draws_depend_on_seed_epoch_and_vectors(pool):
    first, again = draw(pool), draw(pool)
    for one, other in zip(first, again, strict=True):
        assert np.array_equal(one.rows, other.rows)
        pairs = zip(one.relations, other.relations, strict=True)
        assert all(np.array_equal(a, b) for a, b in pairs)
    others = (draw(pool, epoch=1), draw(pool, seed=1), draw(pool, vectors=vectors_of(pool, 1)))
    assert all(triplets(other) != triplets(first) for other in others)
    assert all(len(other) == len(first) for other in others)


def test_a_limit_of_pairs_is_for_each_concept(pool):
    found = triplets(draw(pool, max_pairs=3))
    counts = [sum({a, p} <= set(rows) for a, p, _ in found) for rows in MEMBERS]
    assert counts == [3, 3, 0, 2, 2]


def test_without_another_concept_there_is_no_negative(make_pool):
    pool = make_pool([0, 1, 2])
    with pytest.raises(ConnormError, match="CN810"):
        draw(pool)
    assert draw(make_pool([0], [1])) == []


def test_one_name_stays_of_each_concept(pool):
    for _, found in draw(pool, name_dropout=0.9):
        assert len(found.members) == len(found.concepts)
    for _, found in draw(pool, name_dropout=0.0):
        assert len(found.members) == sum(len(MEMBERS[concept]) for concept in found.concepts)


@pytest.mark.parametrize(
    "setting", [{"size": 0}, {"neighbours": 0}, {"name_dropout": 1.0}, {"max_pairs": 0}]
)
def test_settings_that_make_no_sense(setting):
    with pytest.raises(ConnormError, match=f"CN006.*{next(iter(setting))}"):
        block = {"@batchers": "spacy-connorm.GroundingBatcher.v1", **setting}
        registry.resolve({"batcher": block})
