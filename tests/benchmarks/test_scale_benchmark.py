"""Made-up names and vectors, and what is measured of a process and of files."""

from argparse import Namespace
from importlib import import_module

import numpy as np
import pytest


@pytest.fixture
def made_up(modules):
    return import_module("_common.synthetic_vectors")


@pytest.fixture
def scale(modules):
    return import_module("scale")


def test_names_are_as_many_as_wanted_and_always_the_same(made_up):
    concepts = list(made_up.make_concepts(30_000))
    assert concepts == list(made_up.make_concepts(30_000))
    assert len({concept.concept_id for concept in concepts}) == 10_000
    assert len({name for concept in concepts for name in concept.names}) > 29_900


def test_share_of_concepts_is_changed(made_up):
    pairs = zip(
        made_up.make_concepts(30_000), made_up.make_concepts(30_000, changed=0.1), strict=True
    )
    changed = [one.names != other.names for one, other in pairs]
    assert 0.08 < np.mean(changed) < 0.12


def test_varied_names_are_made_of_those_of_ontologies(modules, monkeypatch):
    names = import_module("_common.synthetic_names")
    monkeypatch.setattr(names, "ontology_names", lambda data: ["heart attack", "gout", "flu"])
    concepts = list(names.make_varied_concepts("data", 3000))
    assert concepts == list(names.make_varied_concepts("data", 3000))
    assert concepts[0].names == ("heart attack", "gout", "flu")
    assert len({concept.names for concept in concepts}) > 900
    changed = names.make_varied_concepts("data", 3000, changed=0.1)
    other = [one.names != two.names for one, two in zip(concepts, changed, strict=True)]
    assert 0.07 < np.mean(other) < 0.13


def test_trigrams_do_not_reach_into_the_next_text(made_up):
    texts = ["abc", "", "abc abc", "שלום", "abc"]
    counts = made_up.trigrams(texts)
    assert counts.shape[0] == 5
    assert counts.sum(axis=1).ravel().tolist()[0] == [4, 1, 8, 9, 4]
    for place, text in enumerate(texts):
        assert (counts[place] != made_up.trigrams([text])).nnz == 0


def test_vectors_depend_on_the_text_alone(made_up):
    encoder = made_up.make_encoder(256)
    vectors = encoder.encode(["heart attack", "heart attacks", "gout"])
    np.testing.assert_allclose(
        vectors[1], encoder.encode(["heart attacks"])[0], rtol=1e-4, atol=1e-4
    )
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    assert unit[0] @ unit[1] > unit[0] @ unit[2]


def test_sizes_are_told_by_kind(scale, tmp_path):
    for name, size in (("texts.codes.npy", 3), ("O-T.index", 2), ("keys.rows.npy", 1), ("x", 4)):
        (tmp_path / name).write_bytes(bytes(size * 1_000_000))
    found = {row["files"]: row["MB"] for row in scale.sizes_on_disk(tmp_path)}
    assert found == {"vectors": 3, "search": 2, "names": 0, "members": 1, "all": 10}


@pytest.mark.parametrize("dtype", ["float32", "int8"])
def test_everything_is_measured(scale, tmp_path, monkeypatch, dtype):
    # In this process: a fresh one takes seconds to start.
    monkeypatch.setattr(scale, "in_a_child", lambda task, *arguments: task(*arguments))
    monkeypatch.setattr(scale, "status_mb", lambda key: 0.0)
    monkeypatch.setattr(scale, "total", lambda pid: {"pss": 0.0})
    options = {
        "names": 600,
        "encoder": "made-up",
        "compared": 3,
        "dims": 8,
        "index": "exact",
        "dtype": dtype,
        "change": 0.1,
        "queries": 5,
    }
    tables = scale.measure(Namespace(**options), tmp_path)
    first, second = tables["Building"]
    assert first["names"] == second["names"] == 600
    assert first["copied"] == 0 < second["copied"] < 600
    (asked,) = tables["Asking"]
    assert asked["p95 ms"] > 0 < asked["cold p95 ms"]
    assert asked["recall@1"] == 100


def test_without_queries_there_is_no_recall(scale):
    assert scale.find_recall(None, np.empty((0, 3))) is None
