import numpy as np
import pytest

from spacy_connorm.index.backends.annoy import AnnoyIndex, AnnoySearcher
from spacy_connorm.index.backends.exact import ExactSearcher
from spacy_connorm.index.backends.ivf import IvfIndex, IvfSearcher
from spacy_connorm.index.backends.protocol import AllowedItems
from spacy_connorm.index.vectors.base import from_raw
from spacy_connorm.index.vectors.dense import RowScores

RNG = np.random.default_rng(5)
RAW = RNG.normal(size=(4000, 16)).astype("float32")
VECTORS = from_raw(RAW)
UNIT = VECTORS.unit[:6]
FEW, HALF = (np.arange(len(RAW)) % step == 0 for step in (20, 2))
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
        plain = [np.asarray(each) if isinstance(each, Watched) else each for each in args]
        return function(*plain, **kwargs)

    def __array_ufunc__(self, ufunc, method, *args, **kwargs):
        self.read.append(self.size)
        plain = [np.asarray(each) if isinstance(each, Watched) else each for each in args]
        return getattr(ufunc, method)(*plain, **kwargs)

    def __getitem__(self, key):
        found = np.asarray(self)[key]
        self.read.append(np.size(found))
        return found


def watched(mask):
    mask = mask.copy().view(Watched)
    mask.read = []
    return mask


def test_what_it_tells():
    allowed = AllowedItems(np.asarray([False, True, True] + [False] * 6 + [True]))
    assert (allowed.count, allowed.items.tolist()) == (3, [1, 2, 9])
    assert allowed.bits.tolist() == [0b110, 0b10]


@pytest.mark.parametrize("backend", BACKENDS, ids=lambda each: type(each).__name__)
@pytest.mark.parametrize("mask", [FEW, HALF], ids=["few", "half"])
def test_a_search_with_the_same_filter_does_not_read_the_mask_again(backend, mask, tmp_path):
    backend.build(VECTORS, tmp_path / "index")
    searcher = backend.open(VECTORS, tmp_path / "index")
    assert isinstance(searcher, AnnoySearcher | IvfSearcher)
    mask = watched(mask)
    allowed = AllowedItems(mask)
    first = searcher.nearest(UNIT, 3, allowed)
    assert max(mask.read) == len(RAW)
    mask.read.clear()
    again = searcher.nearest(UNIT, 3, allowed)
    assert max(mask.read, default=0) < len(RAW) / 4
    np.testing.assert_array_equal(again.items, first.items)


@pytest.mark.parametrize("dtype", ["float32", "float16", "int8"])
def test_few_allowed_items_are_all_that_is_compared(dtype, monkeypatch):
    vectors = from_raw(RAW, dtype=dtype)
    searcher = ExactSearcher(vectors)
    allowed = AllowedItems(FEW)
    compare, compared = type(vectors).compare, []

    def counted(self, queries):
        dots, error = compare(self, queries)
        return RowScores(lambda *rows: compared.append(rows) or dots(*rows), error)

    monkeypatch.setattr(type(vectors), "compare", counted)
    found = searcher.nearest(UNIT, 7, allowed)
    assert sum(stop - start for start, stop in compared) == allowed.count
    cosines = np.where(FEW, UNIT @ vectors.unit.astype("float32").T, -np.inf)
    np.testing.assert_array_equal(found.items, np.argsort(-cosines, axis=1)[:, :7])


@pytest.mark.parametrize("wanted", [3, 300])
@pytest.mark.parametrize("count", [0, 1, 200])
def test_answers_are_those_of_comparing_with_all(count, wanted):
    mask = np.zeros(len(RAW), dtype=bool)
    mask[RNG.permutation(len(RAW))[:count]] = True
    found = ExactSearcher(VECTORS).nearest(UNIT, wanted, AllowedItems(mask))
    assert found.items.shape == (len(UNIT), wanted)
    cosines = np.where(mask, UNIT @ VECTORS.unit.T, -np.inf)
    expected = np.sort(cosines, axis=1)[:, ::-1][:, :wanted]
    np.testing.assert_allclose(found.scores, expected, atol=1e-6)
    assert ((found.items == -1) == np.isneginf(expected)).all()
