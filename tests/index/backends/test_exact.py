"""The exact search, and what all backends share."""

import numpy as np
import pytest
from scipy import sparse

from spacy_connorm.errors import ConnormError
from spacy_connorm.index.backends.annoy import AnnoyIndex, AnnoySearcher
from spacy_connorm.index.backends.auto import AutoIndex
from spacy_connorm.index.backends.exact import ExactIndex, ExactSearcher
from spacy_connorm.index.backends.ivf import IvfIndex, IvfSearcher
from spacy_connorm.index.backends.protocol import AllowedItems
from spacy_connorm.index.vectors.dense import RowScores
from spacy_connorm.index.vectors.kinds import from_raw

RNG = np.random.default_rng(5)
# Texts of one concept lie close together.
CONCEPTS = RNG.normal(size=(100, 16)).repeat(20, axis=0)
RAW = (CONCEPTS + 0.3 * RNG.normal(size=(2000, 16))).astype("float32")
RAW[100] = RAW[7]  # a tie
QUERIES = np.vstack([RAW[7], CONCEPTS[::400] + 0.3 * RNG.normal(size=(5, 16))]).astype("float32")
VECTORS = from_raw(RAW)
UNIT = from_raw(QUERIES).unit


@pytest.fixture(
    params=[
        ExactIndex(),
        AnnoyIndex(exact_below=0, n_trees=30, search_k=1500),
        IvfIndex(lists=100, probes=50, oversample=40, exact_below=1000),
    ],
    ids=["exact", "annoy", "lists"],
)
def searcher(request, tmp_path):
    request.param.build(VECTORS, tmp_path / "vectors.index")
    return request.param.open(VECTORS, tmp_path / "vectors.index")


def brute_force(n, allowed=None):
    cosines = UNIT @ VECTORS.unit.T
    if allowed is not None:
        cosines = np.where(allowed, cosines, -np.inf)
    order = np.lexsort((np.broadcast_to(np.arange(len(RAW)), cosines.shape), -cosines))[:, :n]
    return order, np.take_along_axis(cosines, order, axis=1)


@pytest.mark.parametrize("n", [1, 10, 299, 700])
def test_nearest_are_the_nearest(searcher, n):
    _, scores = brute_force(n)
    found = searcher.nearest(UNIT, n)
    np.testing.assert_allclose(found.scores[:, 0], scores[:, 0], atol=1e-6)
    assert np.mean(np.isclose(found.scores, scores, atol=1e-6)) > 0.95
    assert (np.diff(found.scores, axis=1) <= 0).all()


@pytest.mark.parametrize("kind", ["float32", "int8", "sparse"])
def test_the_size_of_a_batch_changes_nothing(kind):
    queries = RNG.normal(size=(50, 16)).astype("float32")
    if kind == "sparse":
        # Sums of few products are the same in any batch, so ties that compete for the last places
        # must come out the same, too.
        ties = sparse.csr_matrix(np.round(RAW[:600]).repeat(3, axis=0)[RNG.permutation(1800)])
        vectors, queries = from_raw(ties), sparse.csr_matrix(np.round(queries))
    else:
        vectors = from_raw(RAW, dtype=kind)
    searcher = ExactSearcher(vectors)
    together = searcher.nearest(queries, 7)
    alone = [searcher.nearest(queries[place : place + 1], 7) for place in range(50)]
    assert np.array_equal(together.items, np.concatenate([each.items for each in alone]))
    assert np.array_equal(together.scores, np.concatenate([each.scores for each in alone]))
    assert searcher.nearest(queries[:0], 7).items.shape[0] == 0


@pytest.mark.parametrize("kind", ["float32", "int8", "sparse"])
@pytest.mark.parametrize("allowed", [None, AllowedItems(np.arange(2000) % 9 == 0)])
def test_the_number_of_threads_changes_nothing(monkeypatch, kind, allowed):
    monkeypatch.setattr("spacy_connorm.index.backends.exact._LEAST_PART", 7)
    vectors = from_raw(sparse.csr_matrix(RAW)) if kind == "sparse" else from_raw(RAW, dtype=kind)
    queries = sparse.csr_matrix(UNIT) if kind == "sparse" else UNIT
    found = []
    for threads in ("1", "2", "5"):
        monkeypatch.setenv("OMP_NUM_THREADS", threads)
        found.append(ExactSearcher(vectors).nearest(queries, 7, allowed))
    for other in found[1:]:
        assert np.array_equal(found[0].items, other.items)
        assert np.array_equal(found[0].scores, other.scores)


def test_equal_scores_stand_in_item_order(searcher):
    assert searcher.nearest(UNIT[:1], 2).items.tolist() == [[7, 100]]


def test_more_asked_for_than_there_is(searcher):
    found = searcher.nearest(UNIT, 5000)
    assert (np.sort(found.items[:, :2000], axis=1) == np.arange(2000)).all()


@pytest.mark.parametrize("kept", [3, 40, 1000])
def test_only_allowed_items_and_enough_of_them(searcher, kept):
    allowed = np.zeros(2000, dtype=bool)
    allowed[RNG.permutation(2000)[:kept]] = True
    found = searcher.nearest(UNIT, 10, AllowedItems(allowed))
    _, scores = brute_force(min(10, kept), allowed)
    there = found.items >= 0
    assert (there.sum(axis=1) == min(10, kept)).all()
    assert allowed[found.items[there]].all()
    np.testing.assert_allclose(found.scores[:, 0], scores[:, 0], atol=1e-6)


def test_nothing_allowed_finds_nothing(searcher):
    found = searcher.nearest(UNIT, 3, AllowedItems(np.zeros(2000, dtype=bool)))
    assert not (found.items >= 0).any()


def test_annoy_scores_are_exact_cosines(tmp_path):
    settings = AnnoyIndex(exact_below=0, n_trees=5, search_k=100)
    settings.build(VECTORS, tmp_path / "f")
    searcher = settings.open(VECTORS, tmp_path / "f")
    assert isinstance(searcher, AnnoySearcher)
    found = searcher.nearest(UNIT, 5)
    exact = np.take_along_axis(UNIT @ VECTORS.unit.T, found.items, axis=1)
    np.testing.assert_allclose(found.scores, exact, atol=1e-6)


def test_same_seed_same_forest(tmp_path):
    for name in ("one", "two"):
        AnnoyIndex(exact_below=0, n_trees=4).build(VECTORS, tmp_path / name)
    AnnoyIndex(exact_below=0, n_trees=4, seed=1).build(VECTORS, tmp_path / "other")
    one, two, other = ((tmp_path / name).read_bytes() for name in ("one", "two", "other"))
    assert one == two != other


@pytest.mark.parametrize("setting", ["n_trees", "search_k", "oversample"])
@pytest.mark.parametrize("value", [0, -5])
def test_settings_under_one_are_refused(setting, value):

    with pytest.raises(ConnormError, match=f"CN006.*{setting}.*{value}"):
        AnnoyIndex(**{setting: value})


def test_sparse_vectors_are_searched_exactly(tmp_path):
    vectors = from_raw(sparse.csr_matrix(np.maximum(RAW, 0)))
    AnnoyIndex().build(vectors, tmp_path / "f")
    assert not (tmp_path / "f").exists()
    assert isinstance(AnnoyIndex().open(vectors, tmp_path / "f"), ExactSearcher)


@pytest.fixture
def few_rows_have_postings(monkeypatch):
    monkeypatch.setattr("spacy_connorm.index.backends.exact.LEAST_ROWS", 100)


@pytest.mark.parametrize("settings", [ExactIndex(), AutoIndex(), AnnoyIndex(), IvfIndex()])
@pytest.mark.parametrize("batch", [1, 7, 8, 50])
@pytest.mark.parametrize("kept", [None, 0.6, 0.1])
@pytest.mark.usefixtures("few_rows_have_postings")
def test_postings_give_what_a_comparison_with_all_rows_gives(tmp_path, settings, batch, kept):
    vectors = from_raw(sparse.csr_matrix(np.maximum(np.round(RAW, 1), 0)))
    queries = from_raw(sparse.csr_matrix(np.maximum(RNG.normal(size=(batch, 16)), 0))).unit
    allowed = None if kept is None else AllowedItems(RNG.random(2000) < kept)
    settings.build(vectors, tmp_path / "f")
    searcher = settings.open(vectors, tmp_path / "f")
    assert searcher.postings is not None
    for n in (1, 12, 70, 300, 3000):
        found = searcher.nearest(queries, n, allowed)
        expected = ExactSearcher(vectors).nearest(queries, n, allowed)
        np.testing.assert_array_equal(found.items, expected.items)
        np.testing.assert_array_equal(found.scores, expected.scores)


def test_missing_forest_names_the_file(tmp_path):
    with pytest.raises(ConnormError, match=r"CN402.*nowhere"):
        AnnoyIndex(exact_below=0).open(VECTORS, tmp_path / "nowhere")


@pytest.mark.parametrize("dtype", ["float32", "int8"])
def test_exact_scores_do_not_depend_on_what_else_is_asked(dtype):
    wide = RNG.normal(size=(400, 333)).astype("float32")
    vectors = from_raw(wide, dtype=dtype)
    searcher = ExactSearcher(vectors)
    asked = from_raw(RNG.normal(size=(97, 333)).astype("float32")).unit
    together = searcher.nearest(asked, 7)
    for place in range(len(asked)):
        alone = searcher.nearest(asked[place : place + 1], 7)
        assert (alone.items == together.items[place]).all()
        assert (alone.scores == together.scores[place]).all()


WIDE_RNG = np.random.default_rng(5)
WIDE_RAW = WIDE_RNG.normal(size=(4000, 16)).astype("float32")
WIDE_VECTORS = from_raw(WIDE_RAW)
WIDE_UNIT = WIDE_VECTORS.unit[:6]
FEW, HALF = (np.arange(len(WIDE_RAW)) % step == 0 for step in (20, 2))
BACKENDS = [
    AnnoyIndex(exact_below=0, n_trees=5, search_k=900),
    IvfIndex(lists=100, probes=10, exact_below=1000),
]


class Watched(np.ndarray):
    """A mask that records how many of its items each call reads."""

    def __array_finalize__(self, source):
        self.read = getattr(source, "read", None)

    def __array_function__(self, function, types, args, kwargs):
        self.read.append(self.size)
        plain = [np.asarray(arg) if isinstance(arg, Watched) else arg for arg in args]
        return function(*plain, **kwargs)

    def __array_ufunc__(self, ufunc, method, *args, **kwargs):
        self.read.append(self.size)
        plain = [np.asarray(arg) if isinstance(arg, Watched) else arg for arg in args]
        return getattr(ufunc, method)(*plain, **kwargs)

    def __getitem__(self, key):
        found = np.asarray(self)[key]
        self.read.append(np.size(found))
        return found


def watched(mask):
    mask = mask.copy().view(Watched)
    mask.read = []
    return mask


def test_allowed_items_have_a_count_positions_and_bits():
    allowed = AllowedItems(np.asarray([False, True, True] + [False] * 6 + [True]))
    assert (allowed.count, allowed.items.tolist()) == (3, [1, 2, 9])
    assert allowed.bits.tolist() == [0b110, 0b10]


@pytest.mark.parametrize("backend", BACKENDS, ids=lambda value: type(value).__name__)
@pytest.mark.parametrize("mask", [FEW, HALF], ids=["few", "half"])
def test_a_search_with_the_same_filter_does_not_read_the_mask_again(backend, mask, tmp_path):
    backend.build(WIDE_VECTORS, tmp_path / "index")
    searcher = backend.open(WIDE_VECTORS, tmp_path / "index")
    assert isinstance(searcher, AnnoySearcher | IvfSearcher)
    mask = watched(mask)
    allowed = AllowedItems(mask)
    first = searcher.nearest(WIDE_UNIT, 3, allowed)
    assert max(mask.read) == len(WIDE_RAW)
    mask.read.clear()
    again = searcher.nearest(WIDE_UNIT, 3, allowed)
    assert max(mask.read, default=0) < len(WIDE_RAW) / 4
    np.testing.assert_array_equal(again.items, first.items)


@pytest.mark.parametrize("dtype", ["float32", "int8"])
def test_few_allowed_items_are_all_that_is_compared(dtype, monkeypatch):
    vectors = from_raw(WIDE_RAW, dtype=dtype)
    searcher = ExactSearcher(vectors)
    allowed = AllowedItems(FEW)
    compare, compared = type(vectors).compare, []

    def counted(self, queries):
        dots, error = compare(self, queries)
        return RowScores(lambda *rows: compared.append(rows) or dots(*rows), error)

    monkeypatch.setattr(type(vectors), "compare", counted)
    found = searcher.nearest(WIDE_UNIT, 7, allowed)
    assert sum(stop - start for start, stop in compared) == allowed.count
    cosines = np.where(FEW, WIDE_UNIT @ vectors.unit.astype("float32").T, -np.inf)
    np.testing.assert_array_equal(found.items, np.argsort(-cosines, axis=1)[:, :7])


@pytest.mark.parametrize("wanted", [3, 300])
@pytest.mark.parametrize("count", [0, 1, 200])
def test_answers_are_those_of_comparing_with_all(count, wanted):
    mask = np.zeros(len(WIDE_RAW), dtype=bool)
    mask[WIDE_RNG.permutation(len(WIDE_RAW))[:count]] = True
    found = ExactSearcher(WIDE_VECTORS).nearest(WIDE_UNIT, wanted, AllowedItems(mask))
    assert found.items.shape == (len(WIDE_UNIT), wanted)
    cosines = np.where(mask, WIDE_UNIT @ WIDE_VECTORS.unit.T, -np.inf)
    expected = np.sort(cosines, axis=1)[:, ::-1][:, :wanted]
    np.testing.assert_allclose(found.scores, expected, atol=1e-6)
    assert ((found.items == -1) == np.isneginf(expected)).all()


@pytest.mark.parametrize("backend", [ExactIndex, AutoIndex, AnnoyIndex, IvfIndex])
def test_a_dtype_that_there_is_not(backend):
    with pytest.raises(ConnormError, match="CN118.*dtype.*float16"):
        backend(dtype="float16")
