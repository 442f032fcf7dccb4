"""What `AutoIndex` chooses, by the number of vectors and the installed libraries."""

import sys

import numpy as np
import pytest

from spacy_connorm.errors import ConnormError
from spacy_connorm.index.backends.annoy import AnnoySearcher
from spacy_connorm.index.backends.auto import AutoIndex
from spacy_connorm.index.backends.exact import ExactSearcher
from spacy_connorm.index.backends.ivf import IvfSearcher
from spacy_connorm.index.backends.protocol import Earlier
from spacy_connorm.index.vectors.kinds import from_raw

VECTORS = from_raw(np.random.default_rng(3).normal(size=(3000, 16)).astype("float32"))
QUERIES = VECTORS.unit[:40]
MANY = AutoIndex(lists_from=1000, trees_from=2000)
FEW = AutoIndex(lists_from=4000, trees_from=5000)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "O-T.index"


@pytest.fixture
def without(monkeypatch):
    """A function that hides libraries."""

    def hide(*libraries):
        for library in libraries:
            monkeypatch.setitem(sys.modules, library, None)

    return hide


@pytest.mark.parametrize(
    ("settings", "missing", "kind", "told"),
    [
        (FEW, [], ExactSearcher, "exact, for fewer than 4,000 vectors"),
        (FEW, ["faiss"], ExactSearcher, "exact, for fewer than 5,000 vectors (faiss"),
        (MANY, [], IvfSearcher, "864 inverted lists, for 1,000 vectors or more"),
        (MANY, ["annoy"], IvfSearcher, "864 inverted lists, for 1,000 vectors or more"),
        (MANY, ["faiss"], AnnoySearcher, "a forest of 50 trees (faiss is not installed)"),
        (MANY, ["faiss", "annoy"], ExactSearcher, "exact, without annoy (faiss"),
    ],
)
def test_the_choice_is_told_and_opened_again(path, without, settings, missing, kind, told):
    without(*missing)
    assert settings.build(VECTORS, path).startswith(told)
    # The file decides, whatever the settings say that it is opened with.
    for again in (settings, AutoIndex(lists_from=16, trees_from=16), FEW):
        searcher = again.open(VECTORS, path)
        assert isinstance(searcher, kind)
        assert searcher.nearest(QUERIES, 1).items.ravel().tolist() == list(range(40))


def test_lists_are_searched_exactly_where_faiss_is_not_installed(path, without):
    MANY.build(VECTORS, path)
    without("faiss")
    with pytest.warns(UserWarning, match=r"CNW403.*3000 vectors.*faiss is not.*\[faiss\]"):
        searcher = MANY.open(VECTORS, path)
    assert isinstance(searcher, ExactSearcher)


@pytest.mark.parametrize("missing", [[], ["faiss"]])
def test_earlier_lists_are_kept_and_an_earlier_forest_is_not(tmp_path, without, missing):
    with pytest.MonkeyPatch.context() as patch:
        for library in missing:
            patch.setitem(sys.modules, library, None)
        MANY.build(VECTORS, tmp_path / "old")
    earlier = Earlier(tmp_path / "old", len(VECTORS), np.arange(len(VECTORS)))
    assert ("kept" in MANY.build(VECTORS, tmp_path / "new", earlier)) == (not missing)


@pytest.mark.parametrize("setting", ["lists_from", "trees_from"])
def test_too_few_vectors_for_faiss_are_refused(setting):
    with pytest.raises(ConnormError, match=f"CN006.*{setting}.*16"):
        AutoIndex(**{setting: 15})


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(ConnormError, match=r"CN402.*nowhere"):
        MANY.open(VECTORS, tmp_path / "nowhere")
