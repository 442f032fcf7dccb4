"""What the benchmark of hybrid encoders promises, on data of a few lines."""

import json

import pytest

pytest.importorskip("safetensors")


def test_weights_are_scored_and_searches_timed(run, data, work, tiny_folder):
    out = data / "out.json"
    options = ("--encoder", tiny_folder, "--data", data, "--json", out)
    run("hybrid.py", *options, "--weights", "0", "0.5", "--part", "dev", "--ngram-range", "2", "3")
    rows = json.loads(out.read_text())
    scored = [row for row in rows if row["table"] == "Acc@1 in percent"]
    assert [(row["dataset"], row["lexical weight"]) for row in scored] == [
        (dataset, weight) for dataset in ("ncbi", "bc5cdr-d") for weight in (0.0, 0.5)
    ]
    assert {row["part"] for row in scored} == {"dev"}
    # of "apoplexy", whose concept has no such name, and "heart attacks", which train has
    assert all(row["lenient@1"] >= 50 for row in scored)
    timed = {row["search"]: row for row in rows if row["table"] == "Searches"}
    assert len(timed) == 6
    for row in timed.values():
        assert row["ms_per_mention"] > 0
        assert (row["ngram_range"], row["repeats"]) == ("2-3", 5)


def test_fewer_repeats_are_refused(run, data, capsys):
    with pytest.raises(SystemExit):
        run("hybrid.py", "--data", data, "--repeats", "2")
    assert "at least 5" in capsys.readouterr().err


def test_an_unknown_encoder(run, data, capsys):
    with pytest.raises(SystemExit) as exit:
        run("hybrid.py", "--data", data, "--encoder", "word2vec")
    assert exit.value.code == 1
    assert capsys.readouterr().err.splitlines()[-1].startswith("'word2vec' is no encoder")
