"""The curves, and the names made up for them."""

import random
from itertools import islice, product

import numpy as np
import pytest

from spacy_connorm.index.backends.protocol import Neighbours


@pytest.fixture
def curve(modules):
    import index_curve

    return index_curve


@pytest.fixture
def names(modules):
    from _common import synthetic_names as many_names

    return many_names


def row(index, recall, us, megabytes):
    return {
        "index": index,
        "setting": "",
        "recall@10": recall,
        "us": us,
        "queries_per_s": 1,
        "file_mb": megabytes,
        "resident_mb": megabytes,
    }


def test_summary_takes_the_fastest_that_reaches_the_level(curve):
    rows = [
        row("AnnoyIndex", 96, 100, 40),
        row("AnnoyIndex", 97, 200, 40),
        row("IvfIndex", 94, 1, 10),
        row("IvfIndex", 95, 10, 10),
        row("IvfIndex", 99.5, 50, 10),
    ]
    at_95, at_99 = curve.summary(rows)[:2], curve.summary(rows)[2:]
    assert [(row["index"], row["us"]) for row in at_95] == [
        ("AnnoyIndex", 100),
        ("IvfIndex", 10),
    ]
    assert [row["times_annoys_speed"] for row in at_95] == [1, 10]
    assert [row["percent_of_annoys_memory"] for row in at_95] == [100, 25]
    # Annoy does not get there, so there is nothing to compare with.
    assert [(row["index"], row["times_annoys_speed"]) for row in at_99] == [("IvfIndex", None)]


def test_every_setting_of_every_index_has_a_row(rows_of, data, names, monkeypatch, tiny_folder):
    pytest.importorskip("safetensors")
    pytest.importorskip("faiss")
    # The tiny tokenizer knows single letters.
    words = map(" ".join, product("abcdefghijkl", repeat=3))
    monkeypatch.setattr(names, "many_names", lambda data: words)
    rows = rows_of(
        "index_curve.py",
        "--data",
        data,
        "--encoder",
        tiny_folder,
        "--names",
        1000,
        "--search-k",
        500,
        "--probes",
        2,
    )
    curves = [row for row in rows if row["table"] == "Curves"]
    assert [(row["index"], row["setting"]) for row in curves] == [
        ("exact", ""),
        ("AnnoyIndex", "default"),
        ("AnnoyIndex", "search_k 500"),
        ("IvfIndex", "default"),
        ("IvfIndex", "probes 2"),
    ]
    assert (curves[0]["recall@1"], curves[0]["recall@10"]) == (100, 100)
    for row in curves:
        assert row["vectors"] == 1000
        assert row["fastest_us"] <= row["us"] <= row["slowest_us"]
    fastest = [row for row in rows if row["table"] == "Fastest at a recall"]
    assert {row["recall@10 of"] for row in fastest} == {95, 99}


def test_recall_counts_repeated_mentions_and_takes_equal_scores_as_equal(curve):
    exact = np.tile(np.linspace(1, 0.5, 20, dtype="float32"), (2, 1))
    found = exact.copy()
    found[0] += 1e-6
    found[1, :10] = 0
    items = np.zeros(exact.shape, dtype="int64")
    queries = curve.Queries(np.zeros((2, 3)), np.array([3, 1]))
    result = curve.recall(Neighbours(items, found), Neighbours(items, exact), queries)
    assert result == {"recall@1": 75, "recall@10": 75}


def test_each_turn_searches_other_mentions(curve):
    seen = []

    class Searcher:
        def nearest(self, queries, count):
            seen.append(queries[0, 0])
            shape = (len(queries), count)
            return Neighbours(np.zeros(shape, dtype="int64"), np.zeros(shape, dtype="float32"))

    count = 3 * curve.TURN
    queries = curve.Queries(np.arange(count, dtype="float32")[:, None], np.ones(count))
    turn = curve.make_timer(Searcher(), queries, batch=curve.TURN)
    assert all(turn(repeat) > 0 for repeat in range(3))
    assert seen == [0, curve.TURN, 0]


@pytest.mark.parametrize("name", ["a", "heart attack", "Stroke, acute", "ß-thalassämie", "x y z"])
def test_variants_are_texts(names, name):
    rng = random.Random(0)
    variants = [names.vary(name, rng) for _ in range(200)]
    assert all(variant.strip() == variant != "" for variant in variants)
    assert len(set(variants)) > 5


def test_changes(names):
    rng = random.Random(0)
    assert names.reorder("Stroke, acute", rng) == "acute Stroke"
    assert names.reorder("stroke", rng) == "stroke"
    assert names.inflect("attack", rng) == "attacks"
    assert names.inflect("attacks", rng) == "attack"
    assert names.inflect("myopathy", rng) == "myopathies"


def test_names_of_one_input_are_one(names, monkeypatch):
    monkeypatch.setattr(
        names, "encoder_inputs", lambda encoder, texts: [text.lower().encode() for text in texts]
    )
    endless = (f"{letter}{number // 2}" for number in range(100) for letter in "aA")
    assert list(names.distinct(endless, None, 4)) == ["a0", "a1", "a2", "a3"]
    assert list(islice(names.chunks(iter("abc")), 2)) == [["a", "b", "c"]]
