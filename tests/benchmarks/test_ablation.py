"""The ablation: one row a step, on notes with a definition, a composite and a British spelling."""

import gzip
import json

import pytest

MEDIC = "D1||Breast Cancer\nD2||Ovarian Cancer\nD3||Atrial Fibrillation\nD4||Anemia\n"
NOTE = (
    "1|t|Atrial fibrillation (AFB).\n"
    "1|a|AFB in breast and ovarian cancer, anaemia.\n"
    "1\t27\t30\tAFB\tDisease\tD3\n"
    "1\t34\t59\tbreast and ovarian cancer\tDisease\tD1|D2\n"
    "1\t61\t68\tanaemia\tDisease\tD4\n\n"
)
TRAIN = "2|t|anemia\n2|a|\n2\t0\t6\tanemia\tDisease\tD4\n\n"


@pytest.fixture
def notes(data):
    texts = {
        "medic_2012/medic_06Jul2012.txt.gz": MEDIC,
        "bc5cdr/train.pubtator.txt.gz": TRAIN,
        "bc5cdr/dev.pubtator.txt.gz": TRAIN,
        "bc5cdr/test.pubtator.txt.gz": NOTE,
    }
    for path, text in texts.items():
        (data / path).write_bytes(gzip.compress(text.encode()))
    return data


def test_what_each_step_gains(run, notes):
    out = notes / "out.json"
    given = ["--dataset", "bc5cdr-d", "--encoder", "ngram", "--data", notes, "--json", out]
    run("ablation.py", *given, "--search", "OD-T", "--normalization", "spelling", "dashes")
    rows = {row["steps"]: row for row in json.loads(out.read_text())}
    strict = {steps: round(row["strict@1"] * 3 / 100) for steps, row in rows.items()}
    assert strict["none"] == 1
    assert strict["abbreviations"] == strict["composites"] == 2
    assert strict["abbreviations, composites"] == 3
    assert all(strict[steps] == 1 for steps in strict if steps.startswith("normalization"))
    (papers,) = (steps for steps in strict if "number of gold ids" in steps)
    assert strict[papers] == 3
    assert strict["abbreviations, composites, spelling, dashes"] == 3
    assert not any("lexical" in steps for steps in rows)
