"""Relatives meet in a batch, and every text has a differently worded positive there."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from spacy_connorm.errors import ConnormError
from spacy_connorm.training.family_batcher import FamilyBatcher
from spacy_connorm.training.pool import SynonymPool

PARENTS = 12
CHILDREN = 4


@pytest.fixture
def families(make_pool):
    """Concepts of two texts each: parents, then four children of each."""
    count = PARENTS * (1 + CHILDREN)
    pool = make_pool(*((2 * c, 2 * c + 1) for c in range(count)))
    above = [((c - PARENTS) // CHILDREN,) if c >= PARENTS else () for c in range(count)]
    return replace(pool, parents=above)


def named(*concepts: tuple[str, ...]) -> SynonymPool:
    """A pool of concepts with these names."""
    texts = [name for names in concepts for name in names]
    owners = [number for number, names in enumerate(concepts) for _ in names]
    rows = np.arange(len(texts), dtype="int32")
    return SynonymPool(
        texts=texts,
        concepts=[(owner,) for owner in owners],
        members=[rows[np.asarray(owners) == number] for number in range(len(concepts))],
        concept_ids=[f"C{number}" for number in range(len(concepts))],
    )


def share_of_relatives(pool: SynonymPool, relatives: int) -> float:
    shares = []
    for batch in FamilyBatcher(size=20, relatives=relatives).batches(pool, seed=0, epoch=0):
        concepts = np.unique(batch // 2)
        family = np.where(concepts < PARENTS, concepts, (concepts - PARENTS) // CHILDREN)
        alike = family[:, None] == family
        shares.append((alike.sum() - len(family)) / (alike.size - len(family)))
    return float(np.mean(shares))


def test_relatives_meet(families):
    assert share_of_relatives(families, 5) > 2 * share_of_relatives(families, 1)


@pytest.mark.parametrize("relatives", [1, 3, 100])
def test_every_concept_is_drawn_with_a_positive_in_each_epoch(families, relatives):
    batcher = FamilyBatcher(size=16, relatives=relatives)
    counts = set()
    for epoch in range(3):
        batches = batcher.batches(families, seed=1, epoch=epoch)
        counts.add(len(batches))
        assert set(np.concatenate(batches)) == set(range(len(families.texts)))
        for batch in batches:
            assert len(set(batch)) == len(batch) <= 16
            _, sizes = np.unique(batch // 2, return_counts=True)
            assert sizes.min() == 2
    assert len(counts) == 1


def test_one_text_of_each_bag_of_words_is_drawn():
    pool = named(
        ("skin cancer", "cancer of the skin", "Skin Cancers", "cutaneous carcinoma"),
        ("heart attack", "attack, heart"),
    )
    drawn = set()
    for epoch in range(20):
        (batch,) = FamilyBatcher().batches(pool, seed=0, epoch=epoch)
        own = [row for row in batch.tolist() if row < 4]
        assert len(own) == 2 and 3 in own
        assert {4, 5} < set(batch.tolist())
        drawn |= set(own)
    assert drawn == {0, 1, 2, 3}


def test_no_more_texts_than_asked_and_none_alone():
    pool = named(("a", "b", "c", "d", "e"), ("f",))
    for limit, drawn in ((2, 2), (3, 3), (50, 5)):
        (batch,) = FamilyBatcher(max_texts=limit).batches(pool, seed=0, epoch=0)
        assert len(batch) == drawn
    assert FamilyBatcher().batches(named(("a",), ("b",)), seed=0, epoch=0) == []


def test_a_text_that_d_repeats_is_drawn_once(make_pool):
    once, often = make_pool((0, 1), (2, 3)), make_pool((0, 1, 1, 1), (2, 3))
    drawn = (np.concatenate(FamilyBatcher().batches(p, seed=0, epoch=0)) for p in (once, often))
    assert len({tuple(sorted(rows)) for rows in drawn}) == 1


def test_draws_follow_seed_and_epoch(families):
    draw = partial(FamilyBatcher(size=16).batches, families)
    first = np.concatenate(draw(seed=0, epoch=0))
    assert np.array_equal(first, np.concatenate(draw(seed=0, epoch=0)))
    assert not np.array_equal(first, np.concatenate(draw(seed=0, epoch=1)))
    assert not np.array_equal(first, np.concatenate(draw(seed=1, epoch=0)))


@pytest.mark.parametrize(
    "settings", [{"size": 5}, {"per_concept": 1}, {"relatives": 0}, {"max_texts": 1}]
)
def test_bad_settings(settings):
    with pytest.raises(ConnormError, match="CN006"):
        FamilyBatcher(**settings)
