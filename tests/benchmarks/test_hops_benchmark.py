"""One unknown mention is cleaned, tokenized and looked up once, and not in too many places."""

import json


def test_an_unknown_mention_takes_a_short_way(run, data):
    run("hops.py", "--json", data / "out.json")
    (row,) = json.loads((data / "out.json").read_text())
    assert 0 < row["depth"] <= row["functions"]
    assert row["files"] < row["functions"]
    assert min(row["cleaned"], row["tokenized"], row["row looked up"]) >= 1
