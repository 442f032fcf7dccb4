"""The benchmark of the server's answers."""

import json


def test_letters_are_typed(run, data):
    out = data / "out.json"
    given = ("--dataset", "ncbi", "--encoder", "ngram", "--data", data, "--json", out)
    run("serve.py", *given, "--index", "exact", "--mentions", 3)
    (row,) = json.loads(out.read_text())
    assert row["requests"] > 10 and row["concepts"] > 1
    assert 0 < row["median_ms"] <= row["p95_ms"] <= row["p99_ms"] <= row["slowest_ms"]
