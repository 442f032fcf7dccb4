"""The finder's speed beside spaCy's matcher."""

import json


def test_a_row_a_side(run, data):
    out = data / "out.json"
    names = ("ncbi", "bc5cdr-d")
    run("finder.py", "--dataset", *names, "--data", data, "--json", out)
    *speed, cost = json.loads(out.read_text())
    sides = {row["side"]: row for row in speed}
    assert list(sides) == ["mention_finder", "without derivations", "PhraseMatcher"]
    # "Apoplexy", "infarct", "CVA" and "infarkt" of both corpora
    assert {row["tokens"] for row in speed} == {8}
    assert sides["PhraseMatcher"]["ratio"] == 1
    assert cost["names"] == 6 and cost["bytes_per_name"] > 12


def test_phrases_are_a_side_of_their_own(run, data):
    out = data / "out.json"
    run("finder.py", "--dataset", "ncbi", "--data", data, "--phrase-threshold", 0.5, "--json", out)
    sides = {row["side"]: row for row in json.loads(out.read_text())[:-1]}
    assert list(sides) == [
        *("mention_finder", "without derivations", "with phrases", "PhraseMatcher")
    ]
    assert sides["with phrases"]["tokens_per_second"] > 0
