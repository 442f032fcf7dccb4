import multiprocessing
import re
import shutil
import sys
import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from spacy_connorm.errors import ConnormError
from spacy_connorm.index.backends import ivf
from spacy_connorm.index.backends.exact import ExactSearcher
from spacy_connorm.index.backends.ivf import IvfIndex, IvfSearcher
from spacy_connorm.index.backends.protocol import AllowedItems, Earlier
from spacy_connorm.index.vectors.kinds import from_raw

from ..soundness import require_lists
from .many_concepts import CONCEPTS, QUERIES, RAW, SETTINGS, VECTORS


@pytest.fixture
def searcher(tmp_path):
    SETTINGS.build(VECTORS, tmp_path / "lists")
    return SETTINGS.open(VECTORS, tmp_path / "lists")


def assert_same(one, other):
    np.testing.assert_array_equal(one.items, other.items)
    np.testing.assert_allclose(one.scores, other.scores, atol=1e-6)


def test_scores_are_exact_cosines(searcher):
    assert isinstance(searcher, IvfSearcher)
    found = searcher.nearest(QUERIES, 5)
    exact = np.take_along_axis(QUERIES @ VECTORS.unit.T, found.items, axis=1)
    np.testing.assert_allclose(found.scores, exact, atol=1e-6)


@pytest.mark.parametrize("dtype", ["float32", "int8"])
def test_every_dtype_finds_the_best(dtype, tmp_path):
    vectors = from_raw(RAW, dtype=dtype)
    SETTINGS.build(vectors, tmp_path / "lists")
    found = SETTINGS.open(vectors, tmp_path / "lists").nearest(QUERIES, 3)
    exact = ExactSearcher(vectors).nearest(QUERIES, 3)
    np.testing.assert_allclose(found.scores[:, 0], exact.scores[:, 0], atol=1e-6)


def test_batch_finds_what_one_by_one_finds(searcher):
    batch = searcher.nearest(QUERIES, 7)
    for place, query in enumerate(QUERIES):
        one = searcher.nearest(query[None], 7)
        assert_same(one, type(batch)(batch.items[[place]], batch.scores[[place]]))


@pytest.mark.parametrize("threads", [1, 2])
def test_same_seed_same_file(threads, tmp_path, searcher):
    faiss = ivf.load_faiss()
    before = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(threads)
    try:
        SETTINGS.build(VECTORS, tmp_path / "again")
    finally:
        faiss.omp_set_num_threads(before)
    IvfIndex(lists=120, seed=1, exact_below=1000).build(VECTORS, tmp_path / "other")
    first, again, other = ((tmp_path / name).read_bytes() for name in ("lists", "again", "other"))
    assert first == again != other


def test_vector_of_length_zero_is_found_where_all_are(searcher):
    zero = np.zeros((1, 24), dtype="float32")
    assert searcher.nearest(zero, 3).scores.tolist() == [[0, 0, 0]]
    assert set(searcher.nearest(QUERIES[:1], 3000).items[0].tolist()) == set(range(3000))


@pytest.mark.parametrize("count", [16, 40])
def test_only_vectors_of_length_zero(count, tmp_path):
    vectors = from_raw(np.zeros((count, 24), dtype="float32"))
    settings = IvfIndex(lists=500, exact_below=16)
    settings.build(vectors, tmp_path / "lists")
    found = settings.open(vectors, tmp_path / "lists").nearest(QUERIES[:2], 4)
    assert (found.scores == 0).all()


@pytest.mark.parametrize("width", [1, 6, 7, 12])
def test_vectors_of_any_width_are_searched(width, tmp_path):
    vectors = from_raw(RAW[:, :width])
    SETTINGS.build(vectors, tmp_path / "lists")
    queries = from_raw(QUERIES[:, :width]).unit
    found = SETTINGS.open(vectors, tmp_path / "lists").nearest(queries, 1)
    exact = ExactSearcher(vectors).nearest(queries, 1)
    assert np.mean(np.isclose(found.scores, exact.scores, atol=1e-4)) > 0.9


def test_few_vectors_get_no_file_and_are_searched_exactly(tmp_path):
    IvfIndex().build(VECTORS, tmp_path / "lists")
    assert not list(tmp_path.iterdir())
    assert isinstance(IvfIndex().open(VECTORS, tmp_path / "lists"), ExactSearcher)


def test_lists_are_searched_only_as_long_as_that_is_faster(searcher, monkeypatch):
    def fail(*args, **kwargs):
        raise AssertionError("looked at all")

    exact = searcher.nearest(QUERIES, 800)
    assert (exact.items >= 0).all()
    monkeypatch.setattr(ExactSearcher, "nearest", fail)
    searcher.nearest(QUERIES, 100)
    half = np.arange(3000) % 2 == 0
    assert (searcher.nearest(QUERIES, 10, AllowedItems(half)).items % 2 == 0).all()
    with pytest.raises(AssertionError, match="all"):
        searcher.nearest(QUERIES, 10, AllowedItems(np.arange(3000) < 30))


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc/self/smaps")
@pytest.mark.parametrize("platform", ["linux", "darwin"])
def test_file_is_mapped_and_found_in(platform, searcher, tmp_path, monkeypatch):
    path = shutil.copy(tmp_path / "lists", tmp_path / "copy")
    monkeypatch.setattr(ivf.sys, "platform", platform)
    mapped = SETTINGS.open(VECTORS, path)
    assert_same(mapped.nearest(QUERIES, 5), searcher.nearest(QUERIES, 5))
    maps = Path("/proc/self/smaps").read_text()
    found = [line for line in maps.splitlines() if str(path) in line]
    # Private and not writable, or shared: the pages are the file's own.
    assert found
    assert all(re.search(r" r--[ps] ", line) for line in found)


@pytest.mark.parametrize(
    "damage", [lambda content: b"", lambda content: content[:40], lambda content: content[::-1]]
)
def test_damaged_lists_are_refused(searcher, tmp_path, damage):
    path = tmp_path / "damaged"
    path.write_bytes(damage((tmp_path / "lists").read_bytes()))
    with pytest.raises(ConnormError, match="CN402.*damaged"):
        SETTINGS.open(VECTORS, path)


@pytest.mark.parametrize("vectors", [VECTORS.take(slice(0, 2000)), from_raw(RAW[:, :12])])
def test_lists_of_other_vectors_are_refused(searcher, tmp_path, vectors):
    with pytest.raises(ConnormError, match="CN402.*vectors of"):
        SETTINGS.open(vectors, tmp_path / "lists")


def test_missing_file_is_named(tmp_path):
    with pytest.raises(ConnormError, match="CN402.*nowhere"):
        SETTINGS.open(VECTORS, tmp_path / "nowhere")


def test_without_faiss_the_error_tells_what_to_do(monkeypatch, tmp_path):
    ivf._import_faiss.cache_clear()
    monkeypatch.setitem(sys.modules, "faiss", None)
    with pytest.raises(ConnormError, match=r"CN126.*spacy-connorm\[faiss\]"):
        SETTINGS.build(VECTORS, tmp_path / "lists")


def test_every_thread_has_one_thread_unless_asked_for_more(searcher, monkeypatch):
    faiss = ivf.load_faiss()
    found = []

    def search():
        faiss.omp_set_num_threads(2)
        searcher.nearest(QUERIES, 5)
        found.append(faiss.omp_get_max_threads())

    for asked in (None, "2"):
        if asked is None:
            monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
        else:
            monkeypatch.setenv("OMP_NUM_THREADS", asked)
        thread = threading.Thread(target=search)
        thread.start()
        thread.join(timeout=60)
    assert found == [1, 2]


def test_few_queries_have_one_thread(searcher, monkeypatch):
    faiss = ivf.load_faiss()
    before, found = faiss.omp_get_max_threads(), []
    search = type(searcher._lists).search

    def watched(index, *args, **kwargs):
        found.append(faiss.omp_get_max_threads())
        return search(index, *args, **kwargs)

    monkeypatch.setattr(type(searcher._lists), "search", watched)
    faiss.omp_set_num_threads(2)
    try:
        searcher.nearest(QUERIES[:5], 5)
        searcher.nearest(np.tile(QUERIES, (2, 1)), 5)
        assert (found, faiss.omp_get_max_threads()) == ([1, 2], 2)
    finally:
        faiss.omp_set_num_threads(before)


def test_a_file_that_cannot_be_written_is_not_an_error_of_faiss(tmp_path):
    (tmp_path / "lists").mkdir()
    with pytest.raises(OSError, match="lists"):
        SETTINGS.build(VECTORS, tmp_path / "lists")


@pytest.mark.parametrize("setting", ["lists", "probes", "oversample", "exact_below"])
@pytest.mark.parametrize("value", [0, -5])
def test_setting_that_will_not_do(setting, value):
    with pytest.raises(ConnormError, match=f"CN006.*{setting}.*{value}"):
        IvfIndex(**{setting: value})


def _search_in_child(searcher, queue):
    queue.put(searcher.nearest(QUERIES, 5).items)


@pytest.mark.skipif(not hasattr(ivf.os, "fork"), reason="there is no fork")
def test_forked_process_finds_the_same(searcher):
    faiss = ivf.load_faiss()
    before = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(2)
    try:
        expected = searcher.nearest(QUERIES, 5).items
        context = multiprocessing.get_context("fork")
        queue = context.Queue()
        child = context.Process(target=_search_in_child, args=(searcher, queue))
        child.start()
        np.testing.assert_array_equal(queue.get(timeout=60), expected)
        child.join()
    finally:
        faiss.omp_set_num_threads(before)


@pytest.fixture
def built(tmp_path):
    SETTINGS.build(VECTORS, tmp_path / "old")
    return tmp_path / "old"


@pytest.fixture
def no_learning(monkeypatch):
    def fail(*args):
        raise AssertionError("learned centroids")

    monkeypatch.setattr(ivf, "_train", fail)


def changed(share, *, raw=RAW):
    """Vectors in another order, of which a share is new, and which item each was."""
    rng = np.random.default_rng(7)
    items = rng.permutation(len(raw))
    new = rng.permutation(len(raw))[: int(share * len(raw))]
    rows = raw[items]
    rows[new] = (CONCEPTS[items[new]] + 0.3 * rng.normal(size=rows[new].shape)).astype("float32")
    items[new] = -1
    return from_raw(rows), items


def recall(settings, vectors, path):
    found = settings.open(vectors, path).nearest(QUERIES, 10).items
    wanted = ExactSearcher(vectors).nearest(QUERIES, 10).items
    return np.mean([np.isin(each, own).mean() for each, own in zip(wanted, found, strict=True)])


def test_the_same_vectors_have_the_same_file(built, tmp_path, no_learning):
    earlier = Earlier(built, len(VECTORS), np.arange(len(VECTORS)))
    assert SETTINGS.build(VECTORS, tmp_path / "new", earlier).endswith(" lists, kept")
    assert (tmp_path / "new").read_bytes() == built.read_bytes()


@pytest.mark.parametrize("dtype", ["float32", "int8"])
def test_only_new_vectors_are_put_into_lists(dtype, tmp_path, monkeypatch):
    old = from_raw(RAW, dtype=dtype)
    SETTINGS.build(old, tmp_path / "old")
    monkeypatch.setattr(ivf, "_train", None)
    rows, items = changed(0.02)
    vectors = from_raw(rows.unit, dtype=dtype)
    read = []
    queries = type(vectors).queries
    monkeypatch.setattr(
        type(vectors), "queries", lambda self, rows: read.extend(rows) or queries(self, rows)
    )
    earlier = Earlier(tmp_path / "old", 3000, items)
    assert SETTINGS.build(vectors, tmp_path / "new", earlier).endswith("kept")
    zero = np.flatnonzero(vectors.norms == 0)
    assert sorted(read) == sorted({*np.flatnonzero(items < 0), *zero})


def test_updated_lists_hold_every_vector_and_find_as_much(built, tmp_path):
    vectors, items = changed(0.02)
    # Some names are gone, too.
    vectors, items = vectors.take(slice(0, 2900)), items[:2900]
    for name in ("new", "again"):
        built_now = SETTINGS.build(vectors, tmp_path / name, Earlier(built, 3000, items))
        assert built_now.endswith("kept")
    assert (tmp_path / "new").read_bytes() == (tmp_path / "again").read_bytes()
    require_lists(SETTINGS.open(vectors, tmp_path / "new"))
    SETTINGS.build(vectors, tmp_path / "fresh")
    least = recall(SETTINGS, vectors, tmp_path / "fresh") - 0.01
    assert recall(SETTINGS, vectors, tmp_path / "new") >= least > 0.9


def test_codes_are_those_of_the_vectors_they_were_copied_for(built, tmp_path):
    vectors, items = changed(0.3)
    SETTINGS.build(vectors, tmp_path / "new", Earlier(built, 3000, items))
    searcher = SETTINGS.open(vectors, tmp_path / "new")
    some = np.flatnonzero(vectors.norms)[::7]
    found = searcher.nearest(vectors.queries(some), 1)
    np.testing.assert_allclose(found.scores, 1, atol=1e-5)


@pytest.mark.parametrize(
    ("old", "new", "count", "told"),
    [
        ({"lists": 120}, {"lists": 121}, 3000, "there were 120 lists, but 121 are wanted"),
        ({"lists": None}, {"lists": None}, 2600, None),
        ({"lists": None}, {"lists": None}, 2000, "there were 864 lists, but 704 are wanted"),
    ],
)
def test_the_number_of_lists(tmp_path, old, new, count, told):
    replace(SETTINGS, **old).build(VECTORS, tmp_path / "old")
    earlier = Earlier(tmp_path / "old", 3000, np.arange(count))
    found = replace(SETTINGS, **new).build(VECTORS.take(slice(0, count)), tmp_path / "new", earlier)
    assert found.endswith(f", learned anew: {told}" if told else ", kept")


def test_what_is_learned_anew_is_as_if_built_from_nothing(built, tmp_path):
    earlier = Earlier(tmp_path / "none", 3000, np.arange(3000))
    told = SETTINGS.build(VECTORS, tmp_path / "new", earlier)
    assert told == "120 inverted lists, learned anew: there were none"
    assert (tmp_path / "new").read_bytes() == built.read_bytes()


def test_few_vectors_need_no_lists(built, tmp_path):
    settings = replace(SETTINGS, exact_below=5000)
    earlier = Earlier(built, 3000, np.arange(3000))
    told = settings.build(VECTORS, tmp_path / "new", earlier)
    assert told == "exact, for fewer than 5,000 vectors"
    assert not (tmp_path / "new").exists()
