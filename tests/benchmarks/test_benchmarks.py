"""The benchmarks' command lines, on data of a few lines."""

import gzip
import json
import runpy
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
MEDIC = "D1|100||Heart Attack|Infarct\nD2||Stroke|CVA\nD3||Angle|CVA\n"
NOTE = "{id}|t|{text}\n{id}|a|\n{id}\t0\t{length}\t{text}\tSpecificDisease\t{gold}\n\n"
PARTS = {
    "train": [("heart attacks", "OMIM:100")],
    "dev": [("apoplexy", "D2")],
    "test": [("Apoplexy", "D2"), ("infarct", "D1"), ("CVA", "D3"), ("infarkt", "D1|D2")],
}
KEYS = {"dataset", "encoder", "search", "lenient@1", "lenient@5", "strict@1", "strict@5", "mrr"}


def pack(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(text.encode()))


@pytest.fixture
def data(tmp_path):
    pack(tmp_path / "medic_2012" / "medic_06Jul2012.txt.gz", MEDIC)
    for part, mentions in PARTS.items():
        notes = [
            NOTE.format(id=number, text=text, length=len(text), gold=gold)
            for number, (text, gold) in enumerate(mentions, start=1)
        ]
        pack(tmp_path / "ncbi_disease" / f"{part}.pubtator.txt.gz", "".join(notes))
    return tmp_path


@pytest.fixture
def run(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(str(BENCHMARKS))

    def invoke(script, *arguments):
        path = BENCHMARKS / script
        command = [str(path), "--work", str(tmp_path / "kept"), *map(str, arguments)]
        monkeypatch.setattr(sys, "argv", command)
        runpy.run_path(str(path), run_name="__main__")

    return invoke


@pytest.mark.parametrize(
    ("encoder", "scores"),
    [
        # of apoplexy, infarct, CVA (tied) and the composite: O lacks the first
        ("exact", {"O-T": (50.0, 25.0), "OD-T": (75.0, 50.0)}),
        ("ngram", {"O-T": (75.0, 25.0), "OD-T": (100.0, 50.0), "D-T+OD-T": (100.0, 50.0)}),
    ],
)
def test_accuracy_keeps_its_promise_to_scripts(run, data, encoder, scores):
    out = data / "out.json"
    run("accuracy.py", "--dataset", "ncbi", "--encoder", encoder, "--data", data, "--json", out)
    rows = json.loads(out.read_text())
    found = {row["search"]: (row["lenient@1"], row["strict@1"]) for row in rows}
    assert found == scores
    for row in rows:
        assert {*KEYS, "mentions", "unseen_lenient@1"} <= row.keys()
        assert (row["mentions"], row["unseen_mentions"]) == (4, 3)


@pytest.mark.parametrize(
    ("script", "arguments", "message"),
    [
        ("accuracy.py", ["--dataset", "ncbi", "--encoder", "exact"], "No data: "),
        ("index_curve.py", [], "No data: "),
        ("memory.py", [], "No data: "),
    ],
)
def test_without_data_it_is_one_line_and_exit_code_1(
    run, tmp_path, capsys, script, arguments, message
):
    with pytest.raises(SystemExit) as exit:
        run(script, *arguments, "--data", tmp_path)
    assert exit.value.code == 1
    assert capsys.readouterr().err.splitlines()[-1].startswith(message)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--encoder", "dan"], "The DAN encoder comes with training"),
        (["--encoder", "word2vec"], "'word2vec' is no encoder"),
        (["--encoder", "ngram", "--search", "X-T"], "[CN500]"),
        (["--encoder", "exact", "--search", "OD-C"], "Exact matching"),
    ],
)
def test_unknown_encoders_and_searches(run, data, capsys, arguments, message):
    with pytest.raises(SystemExit) as exit:
        run("accuracy.py", "--dataset", "ncbi", "--data", data, *arguments)
    assert exit.value.code == 1
    assert capsys.readouterr().err.splitlines()[-1].startswith(message)
