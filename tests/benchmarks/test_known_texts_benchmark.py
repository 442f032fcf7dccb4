"""What the benchmark of known texts promises, on data of a few lines; no time is looked at."""

import json

from spacy_connorm.concepts import Candidate


def test_all_ways_answer_alike(run, data):
    out = data / "out.json"
    run("known_texts.py", "--data", data, "--json", out, "--encoder", "ngram")
    rows = json.loads(out.read_text())
    speeds = [row for row in rows if "per_s" in row]
    assert [row["way"] for row in speeds] == ["search", "memo", "cache"] * 2
    assert {row["texts"]: row["look_ups"] for row in speeds} == {
        "names of the ontology": 5,
        "mentions": 4,
    }
    agreements = [row for row in rows if "same_answers" in row]
    assert [row["way"] for row in agreements] == ["memo", "cache", "encoded anew"] * 2
    assert {row["same_answers"] for row in agreements} == {100}


def test_what_counts_as_the_same(modules):
    import known_texts

    one = [Candidate("C1", "cold", 1.0, "cold", "O-T"), Candidate("C2", "ague", 0.5, "ague", "O-T")]
    other = [one[0], one[1]._replace(score=0.4)]
    row = known_texts.agreement([one, one, [], []], [one, other, [], one])
    assert row == {"look_ups": 4, "same_answers": 50, "same_first_concept": 75}


def test_speeds_and_their_ratios(modules):
    import known_texts

    row = known_texts.speed_row([1.0, 2.0, 4.0], [8.0, 4.0, 2.0], 100)
    assert (row["per_s"], row["slowest"], row["fastest"]) == (50, 25, 100)
    assert (row["ratio"], row["lowest_ratio"], row["highest_ratio"]) == (2, 0.5, 8)
