import json
from dataclasses import replace

import numpy as np
import pytest

from spacy_connorm.errors import ConnormError
from spacy_connorm.index.backends import rabitq
from spacy_connorm.index.backends.annoy import AnnoyIndex
from spacy_connorm.index.backends.exact import ExactIndex, ExactSearcher
from spacy_connorm.index.backends.list_fit import ListFit
from spacy_connorm.index.backends.protocol import Earlier, UpdatingBackend
from spacy_connorm.index.vectors.base import from_raw

from .many_concepts import CONCEPTS, QUERIES, RAW, SETTINGS, VECTORS

FIT = ListFit(
    lists=8, seed=1, distance=0.3, imbalance=1.5, learned_distance=0.3, learned_imbalance=1.5
)


@pytest.fixture
def built(tmp_path):
    SETTINGS.build(VECTORS, tmp_path / "old")
    return tmp_path / "old"


@pytest.fixture
def no_learning(monkeypatch):
    def fail(*args):
        raise AssertionError("learned centroids")

    monkeypatch.setattr(rabitq, "_train", fail)


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
    assert SETTINGS.update(VECTORS, tmp_path / "new", earlier) == "kept"
    assert (tmp_path / "new").read_bytes() == built.read_bytes()
    assert ListFit.read(tmp_path / "new") == ListFit.read(built)


@pytest.mark.parametrize("dtype", ["float32", "float16", "int8"])
def test_only_new_vectors_are_put_into_lists(dtype, tmp_path, monkeypatch):
    old = from_raw(RAW, dtype=dtype)
    SETTINGS.build(old, tmp_path / "old")
    monkeypatch.setattr(rabitq, "_train", None)
    rows, items = changed(0.02)
    vectors = from_raw(rows.unit, dtype=dtype)
    read = []
    queries = type(vectors).queries
    monkeypatch.setattr(
        type(vectors), "queries", lambda self, rows: read.extend(rows) or queries(self, rows)
    )
    assert SETTINGS.update(vectors, tmp_path / "new", Earlier(tmp_path / "old", 3000, items)) == (
        "kept"
    )
    zero = np.flatnonzero(vectors.norms == 0)
    assert sorted(read) == sorted({*np.flatnonzero(items < 0), *zero})


def test_updated_lists_hold_every_vector_and_find_as_much(built, tmp_path):
    vectors, items = changed(0.02)
    # Some names are gone, too.
    vectors, items = vectors.view(0, 2900), items[:2900]
    for name in ("new", "again"):
        assert SETTINGS.update(vectors, tmp_path / name, Earlier(built, 3000, items)) == "kept"
    assert (tmp_path / "new").read_bytes() == (tmp_path / "again").read_bytes()
    SETTINGS.open(vectors, tmp_path / "new").verify(tmp_path / "new")
    SETTINGS.build(vectors, tmp_path / "fresh")
    least = recall(SETTINGS, vectors, tmp_path / "fresh") - 0.01
    assert recall(SETTINGS, vectors, tmp_path / "new") >= least > 0.9


def test_codes_are_those_of_the_vectors_they_were_copied_for(built, tmp_path):
    vectors, items = changed(0.3)
    SETTINGS.update(vectors, tmp_path / "new", Earlier(built, 3000, items))
    searcher = SETTINGS.open(vectors, tmp_path / "new")
    some = np.flatnonzero(vectors.norms)[::7]
    found = searcher.nearest(vectors.queries(some), 1)
    np.testing.assert_allclose(found.scores, 1, atol=1e-5)


def test_centroids_are_kept_until_vectors_are_too_far_from_them(built, tmp_path):
    path, told, rng = built, [], np.random.default_rng(1)
    raw, size = RAW.copy(), len(RAW)
    for round in range(4):
        items = np.arange(size)
        new = rng.choice(size, 150, replace=False)
        raw[new] = rng.normal(size=(150, 24))
        items[new] = -1
        told.append(
            SETTINGS.update(from_raw(raw), tmp_path / f"{round}", Earlier(path, size, items))
        )
        path = tmp_path / f"{round}"
    far = "learned anew: vectors are too far from their centroids"
    assert told[0] in ("kept", far)
    assert far in told
    fit = ListFit.read(tmp_path / f"{told.index(far)}")
    assert fit.distance == fit.learned_distance


def test_what_is_learned_anew_is_as_if_built_from_nothing(built, tmp_path):
    vectors, items = changed(0.5)
    settings = replace(SETTINGS, seed=5)
    told = settings.update(vectors, tmp_path / "new", Earlier(built, 3000, items))
    assert told == "learned anew: the seed is another one"
    settings.build(vectors, tmp_path / "fresh")
    assert (tmp_path / "new").read_bytes() == (tmp_path / "fresh").read_bytes()


@pytest.mark.parametrize(
    ("old", "new", "count", "told"),
    [
        ({"lists": 120}, {"lists": 121}, 3000, "there were 120 lists where 121 are wanted"),
        ({"lists": None}, {"lists": None}, 2600, None),
        ({"lists": None}, {"lists": None}, 2000, "there were 864 lists where 704 are wanted"),
    ],
)
def test_the_number_of_lists(tmp_path, old, new, count, told):
    replace(SETTINGS, **old).build(VECTORS, tmp_path / "old")
    earlier = Earlier(tmp_path / "old", 3000, np.arange(count))
    found = replace(SETTINGS, **new).update(VECTORS.view(0, count), tmp_path / "new", earlier)
    assert found == (f"learned anew: {told}" if told else "kept")


def test_lists_of_an_older_version_are_learned_anew(built, tmp_path):
    built.with_name("old.fit.json").unlink()
    earlier = Earlier(built, 3000, np.arange(3000))
    assert SETTINGS.update(VECTORS, tmp_path / "new", earlier) == "learned anew: there were none"


def test_few_vectors_need_no_lists(built, tmp_path):
    settings = replace(SETTINGS, exact_below=5000)
    earlier = Earlier(built, 3000, np.arange(3000))
    assert settings.update(VECTORS, tmp_path / "new", earlier) is None
    assert not (tmp_path / "new").exists()


def test_only_lists_can_be_updated():
    assert isinstance(SETTINGS, UpdatingBackend)
    assert not isinstance(AnnoyIndex(), UpdatingBackend)
    assert not isinstance(ExactIndex(), UpdatingBackend)


@pytest.mark.parametrize(
    ("now", "told"),
    [
        ({"distance": 0.31, "imbalance": 1.8}, None),
        ({"distance": 0.32}, "vectors are too far"),
        ({"imbalance": 1.9}, "too different in size"),
        ({"distance": 0.0005, "learned_distance": 0.0}, None),
    ],
)
def test_when_lists_no_longer_fit(now, told):
    found = replace(FIT, **now).misfit()
    assert found is None if told is None else told in found


@pytest.mark.parametrize(
    "content", ["", "[]", "{}", json.dumps({**vars(FIT), "distance": -1}), '{"lists": "many"}']
)
def test_damaged_fit(tmp_path, content):
    (tmp_path / "O-T.index.fit.json").write_text(content)
    with pytest.raises(ConnormError, match=r"CN416.*O-T.index.fit.json"):
        ListFit.read(tmp_path / "O-T.index")
