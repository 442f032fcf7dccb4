"""The benchmark of cascades, on two corpora of a few lines."""

import json


def test_both_encoders_and_cascades_of_them(run, data):
    out = data / "out.json"
    arguments = ["--dataset", "ncbi", "--first", "ngram", "--second", "ngram", "--repeats", "5"]
    run("cascade.py", *arguments, "--min-probability", 0, 1, "--data", data, "--json", out)
    rows = json.loads(out.read_text())
    assert [(row["side"], row["min_probability"]) for row in rows] == [
        *(("ngram", None), ("ngram", None)),
        *(("cascade", 0.0), ("cascade", 1.0)),
    ]
    # "infarkt" is no text of the index, but it has candidates.
    assert [row["asked"] for row in rows] == [None, None, 0.0, 25.0]
    assert len({row["lenient@1"] for row in rows}) == 1
    assert rows[0]["ratio"] == 1
