"""What a reranker gains: its rows, and that it is trained on D."""

import json

import pytest


@pytest.mark.parametrize("part", ["dev", "test"])
def test_a_row_for_the_sieve_and_each_reranker(run, data, part, tmp_path):
    out = tmp_path / "out.json"
    options = ("--encoder", "ngram", "--part", part, "--seeds", 2, "--epochs", 1)
    run(
        *("reranker.py", "--dataset", "ncbi", *options, "--rerankers", "sieve", "reranker"),
        *("--data", data, "--json", out),
    )
    rows = json.loads(out.read_text())
    assert [row["reranker"] for row in rows] == ["sieve", "reranker"]
    sieve, reranker = rows
    assert sieve["seeds"] == reranker["seeds"] == 2 and sieve["part"] == part
    assert sieve["mentions"] == reranker["mentions"] > 0
    assert sieve["strict@1 +-"] == 0 and sieve["ms_per_document"] == 0
    assert reranker["ms_per_document"] > 0
