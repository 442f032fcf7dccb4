"""Parts of composites: of mentions in a corpus, and of names left out of an ontology."""

import gzip
import json

NOTE = (
    "1|t|Heart and kidney failure, Sjogren and Larsson syndrome.\n1|a|\n"
    "1\t0\t24\tHeart and kidney failure\tDisease\tD1|D2\n"
    "1\t26\t54\tSjogren and Larsson syndrome\tDisease\tD3\n\n"
)
MEDIC = (
    "D1||Heart Failure\nD2||Kidney Failure\n"
    "D3||Ichthyosis|Sjogren and Larsson syndrome\nD4||Sjogren syndrome\nD5||Larsson syndrome\n"
)


def measure(run, data, *options):
    (data / "medic_2012" / "medic_06Jul2012.txt.gz").write_bytes(gzip.compress(MEDIC.encode()))
    (data / "bc5cdr" / "test.pubtator.txt.gz").write_bytes(gzip.compress(NOTE.encode()))
    out = data / "out.json"
    given = ["--dataset", "bc5cdr-d", "--encoder", "ngram", "--data", data, "--json", out]
    run("composites.py", *given, *options)
    return json.loads(out.read_text())


def test_mentions_are_right_in_one_way_only(run, data):
    rows = measure(run, data)
    assert [row["search"] for row in rows] == ["O-T", "OD-T"]
    for row in rows:
        # The second mention is a name, which is not split.
        assert (row["mentions"], row["splittable"], row["parts answer"]) == (2, 1, 1)
        assert (row["only parts right"], row["only whole right"]) == (1, 0)


def test_names_that_are_left_out_are_no_composites(run, data):
    (row,) = measure(run, data, "--names")
    assert (row["texts"], row["mentions"], row["parts answer"]) == ("names left out", 1, 1)
    assert row["only parts right"] == 0
