"""The benchmark of the objectives, on batches of a few vectors."""

import json
import runpy
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "objectives.py"

OF_OWN_BATCHES = (".ranked_lists", ".conceptual_grounding")


@pytest.fixture
def run(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(str(SCRIPT.parent))

    def invoke(*arguments):
        monkeypatch.setattr(sys, "argv", [str(SCRIPT), "--work", str(tmp_path), *arguments])
        runpy.run_path(str(SCRIPT), run_name="__main__")

    return invoke


def test_every_registered_objective_is_measured(run, tmp_path, setup_names):
    out = tmp_path / "out.json"
    run("--batch", "20", "--width", "4", "8", "--repeats", "1", "--json", str(out))
    rows = json.loads(out.read_text())
    for width in (4, 8):
        assert {row["objective"] for row in rows if row["width"] == width} == setup_names
    for row in rows:
        assert row["fastest_ms"] <= row["median_ms"] <= row["slowest_ms"]
        assert (row["batch"], row["repeats"]) == (20, 1)


@pytest.fixture
def setup_names():
    from spacy import registry

    prefix, suffix = "spacy-connorm.", ".v1"
    # These score the candidates of mentions, or triplets and concepts, not the pairs of a batch.
    return {
        name.removeprefix(prefix).removesuffix(suffix)
        for name, make in registry.losses.get_all().items()
        if name.startswith(prefix) and not make.__module__.endswith(OF_OWN_BATCHES)
    }


def test_too_small_a_batch(run, capsys):
    with pytest.raises(SystemExit):
        run("--batch", "3")
    assert "at least 20, not '3'" in capsys.readouterr().err
