import pickle
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_connorm.index.cache import Cache


def double(keys):
    return {key: 2 * key for key in keys}


def test_a_smaller_cache_drops_what_it_has_no_room_for():
    cache = Cache(3)
    for key in range(3):
        cache.put(key, 2 * key)
    cache.resize(5)
    assert cache.get(2) == 4
    cache.resize(2)
    assert len(cache) == 0
    cache.resize(0)
    cache.put(1, 2)
    assert cache.get(1) is None


@given(size=st.integers(1, 9), keys=st.lists(st.integers(0, 12)))
def test_never_holds_more_than_its_size_nor_anything_wrong(size, keys):
    cache = Cache(size)
    for key in keys:
        assert cache.get(key) in (None, 2 * key)
        cache.put(key, 2 * key)
        assert cache.get(key) == 2 * key
        assert len(cache) <= size


def test_values_stay_until_there_is_no_more_room():
    cache = Cache(10)
    for number in range(10):
        cache.put(number, number)
        assert cache.get(0) == 0
    cache.put(10, 10)
    assert [cache.get(number) for number in range(11)] == [None] * 10 + [10]


def test_a_full_cache_can_be_emptied_while_another_thread_reads_it():
    cache = Cache(3)
    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(lambda _: cache.get_all(range(5), double), range(200)):
            assert found == double(range(5))


@pytest.mark.parametrize("key", ["a", "b"])
def test_nothing_is_kept_without_room(key):
    cache = Cache(0)
    cache.put(key, 1)
    assert cache.get(key) is None
    assert len(cache) == 0


def test_only_what_is_missing_is_fetched():
    asked = []

    def fetch(keys):
        asked.extend(keys)
        return double(keys)

    cache = Cache(100)
    assert cache.get_all([1, 2, 1], fetch) == {1: 2, 2: 4}
    assert cache.get_all([2, 3], fetch) == {2: 4, 3: 6}
    assert sorted(asked) == [1, 2, 3]


def test_more_values_than_there_is_room_for_are_all_given():
    assert Cache(2).get_all(range(50), double) == double(range(50))
    assert Cache(0).get_all(range(50), double) == double(range(50))


def test_what_cannot_be_fetched_is_left_out():
    assert Cache(10).get_all([1, 2], lambda keys: {1: 5}) == {1: 5}


def test_a_copy_in_another_process_starts_empty():
    cache = Cache(10)
    cache.put("a", 1)
    assert len(pickle.loads(pickle.dumps(cache))) == 0
