"""What every batch promises, whatever the pool, and what each batcher draws."""

from collections import Counter
from itertools import combinations
from math import ceil

import numpy as np
import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st

from spacy_connorm.errors import ConnormError
from spacy_connorm.training.batchers import GroupBatcher, PairBatcher, SynonymPairBatcher

BATCHERS = [
    PairBatcher(size=4),
    PairBatcher(size=7),
    PairBatcher(size=100),
    GroupBatcher(size=6, per_concept=2),
    GroupBatcher(size=9, per_concept=3),
    GroupBatcher(size=100, per_concept=30),
    SynonymPairBatcher(size=4, max_pairs=3),
    SynonymPairBatcher(size=10, max_pairs=1),
    SynonymPairBatcher(size=10, max_pairs=50),
]
every_batcher = pytest.mark.parametrize("batcher", BATCHERS, ids=repr)
all_members = st.lists(st.lists(st.integers(0, 12), max_size=12), max_size=8)
seeds = st.integers(0, 2**32)


def rows_of(batches):
    return [batch.rows for batch in batches]


def pairs_of(rows):
    """The pairs of different texts, as often as the texts are to be drawn."""
    return [(one, other) for one, other in combinations(sorted(rows), 2) if one != other]


@given(members=all_members, seed=seeds)
def test_each_row_occurs_once_and_has_a_positive(make_pool, members, seed):
    pool = make_pool(*members)
    for batcher in BATCHERS:
        for batch, members in batcher.batches(pool, seed=seed, epoch=0):
            assert members.texts.tolist() == [
                place for place, row in enumerate(batch) for _ in pool.concepts[row]
            ]
            assert members.concepts.tolist() == [c for row in batch for c in pool.concepts[row]]
            assert batch.dtype == np.int64
            assert 2 <= len(batch) <= batcher.size, batcher
            assert len(set(batch)) == len(batch), batcher
            counts = Counter(concept for row in batch for concept in pool.concepts[row])
            alone = [
                row for row in batch if all(counts[concept] < 2 for concept in pool.concepts[row])
            ]
            assert not alone, batcher


@given(members=all_members, seed=seeds)
def test_epochs_have_the_same_number_of_batches(make_pool, members, seed):
    pool = make_pool(*members)
    for batcher in BATCHERS:
        counts = {len(batcher.batches(pool, seed=seed, epoch=epoch)) for epoch in range(4)}
        assert len(counts) == 1, batcher
        assert (counts == {0}) == (not any(map(pairs_of, members))), batcher


@given(members=all_members, seed=seeds)
def test_an_epoch_draws_every_text_with_a_synonym(make_pool, members, seed):
    pool = make_pool(*members)
    with_synonym = {row for rows in members for pair in pairs_of(rows) for row in pair}
    for batcher in BATCHERS[:6]:
        batches = rows_of(batcher.batches(pool, seed=seed, epoch=0))
        assert {row for batch in batches for row in batch} == with_synonym, batcher


@pytest.fixture(scope="module")
def large(make_pool):
    """40 concepts of 5 texts, and one that has no synonyms."""
    return make_pool(*(range(first, first + 5) for first in range(0, 200, 5)), [200])


@every_batcher
def test_an_epoch_is_a_matter_of_seed_and_number(batcher, large):
    def draw(seed, epoch):
        return [list(rows) for rows in rows_of(batcher.batches(large, seed=seed, epoch=epoch))]

    assert draw(1, 2) == draw(1, 2)
    assert draw(1, 2) != draw(1, 3)
    assert draw(1, 2) != draw(2, 2)
    assert draw(1, 2) != draw(2, 1)


@every_batcher
def test_no_batch_is_much_smaller_than_the_others(batcher, make_pool):
    pool = make_pool(*(range(first, first + 3) for first in range(0, 3000, 3)))
    sizes = [len(rows) for rows in rows_of(batcher.batches(pool, seed=0, epoch=0))]
    assert min(sizes) > batcher.size / 3


def test_every_text_is_an_anchor_of_a_pair(large):
    batches = PairBatcher(size=4).batches(large, seed=0, epoch=0)
    assert len(batches) == 100


def test_positives_are_drawn_of_all_texts_alike(make_pool):
    # Text 0 is to be drawn three times, 2 twice.
    pool = make_pool([0, 0, 0, 1, 2, 2, 3])
    drawn = Counter()
    for epoch in range(400):
        # Of the 7 pairs, the one that is alone in its batch shows its two texts.
        for batch in rows_of(PairBatcher(size=4).batches(pool, seed=0, epoch=epoch)):
            drawn.update([tuple(batch)] if len(batch) == 2 else [])
    assert set(drawn) == set(pairs_of({0, 1, 2, 3}))
    assert drawn[0, 2] > drawn[0, 1] > drawn[1, 3]


def test_a_text_of_two_concepts_is_an_anchor_in_both(make_pool):
    pool = make_pool([0, 1], [1, 2])
    assert len(PairBatcher(size=4).batches(pool, seed=0, epoch=0)) == 2


def test_groups_draw_every_text_once(large):
    batches = rows_of(GroupBatcher(size=30, per_concept=5).batches(large, seed=0, epoch=0))
    assert sorted(np.concatenate(batches)) == list(range(200))
    for batch in batches:
        assert set(Counter(row // 5 for row in batch).values()) == {5}


def test_what_is_left_of_a_concept_draws_one_more(large):
    batches = rows_of(GroupBatcher(size=12, per_concept=4).batches(large, seed=0, epoch=0))
    rows = np.concatenate(batches)
    assert set(rows) == set(range(200))
    # Of 5 texts one is left, which draws a second; both may be in the batch of the other four.
    assert 200 < len(rows) <= 240


def test_groups_hold_texts_of_many_concepts(large):
    batches = rows_of(GroupBatcher(size=20, per_concept=2).batches(large, seed=0, epoch=0))
    assert all(len({row // 5 for row in batch}) >= 5 for batch in batches)


@given(members=all_members, max_pairs=st.integers(1, 40))
def test_the_pair_list_has_all_pairs_of_a_concept_up_to_a_limit(make_pool, members, max_pairs):
    batcher = SynonymPairBatcher(size=4, max_pairs=max_pairs)
    batches = batcher.batches(make_pool(*members), seed=0, epoch=0)
    assert len(batches) == ceil(sum(min(len(pairs_of(rows)), max_pairs) for rows in members) / 2)


def test_the_pair_list_repeats_no_pair(make_pool):
    pool = make_pool(range(12))
    batcher = SynonymPairBatcher(size=4, max_pairs=2)
    for epoch in range(300):
        (batch,) = rows_of(batcher.batches(pool, seed=0, epoch=epoch))
        assert len(batch) > 2


def test_every_pair_is_as_likely(make_pool):
    pool = make_pool(range(4))
    batcher = SynonymPairBatcher(size=4, max_pairs=1)
    drawn = Counter(
        tuple(rows)
        for epoch in range(600)
        for rows in rows_of(batcher.batches(pool, seed=0, epoch=epoch))
    )
    assert set(drawn) == set(pairs_of(range(4)))
    assert min(drawn.values()) > 60 and max(drawn.values()) < 140


@pytest.mark.parametrize("batcher", [PairBatcher, GroupBatcher, SynonymPairBatcher])
def test_batchers_are_registered(batcher):
    name = f"spacy-connorm.{batcher.__name__}.v1"
    config = {"batcher": {"@batchers": name, "size": 64}}
    assert spacy.registry.resolve(config)["batcher"] == batcher(size=64)


@pytest.mark.parametrize(
    "batcher, settings, named",
    [
        (PairBatcher, {"size": 3}, "size"),
        (SynonymPairBatcher, {"size": 3}, "size"),
        (SynonymPairBatcher, {"max_pairs": 0}, "max_pairs"),
        (GroupBatcher, {"per_concept": 1}, "per_concept"),
        (GroupBatcher, {"size": 11, "per_concept": 4}, "size"),
        (GroupBatcher, {"size": 3, "per_concept": 4}, "size"),
    ],
)
def test_settings_that_cannot_make_batches_are_refused(batcher, settings, named):
    with pytest.raises(ConnormError, match=rf"\[CN006\] `{named}` must be at least"):
        batcher(**settings)
