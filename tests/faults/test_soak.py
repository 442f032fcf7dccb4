"""A pipeline that works for long holds no more than in the beginning, and answers the same."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import spacy
from long_run import is_long

from spacy_connorm import save_pipeline

from .soak import TEXTS, answers

pytestmark = pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="needs /proc")
SCRIPT = Path(__file__).with_name("soak.py")
SHARE = 0.05  # of memory, that may come and go


def pytest_generate_tests(metafunc):
    if "kind" in metafunc.fixturenames:
        metafunc.parametrize(
            "kind", ["ngrams", "hybrid"] if is_long(metafunc.config) else ["ngrams"]
        )


@pytest.fixture
def soak(tmp_path, without_torch):
    """A function that works for some rounds in a process of its own."""
    (tmp_path / "temporary").mkdir()
    path = os.pathsep.join([str(SCRIPT.parents[1]), without_torch["PYTHONPATH"]])

    def run(rounds, documents):
        finished = subprocess.run(
            [sys.executable, str(SCRIPT), str(tmp_path), str(rounds), str(documents)],
            stdout=subprocess.PIPE,
            env={
                **without_torch,
                "PYTHONPATH": path,
                "TMPDIR": str(tmp_path / "temporary"),
                "OMP_NUM_THREADS": "1",
            },
            check=True,
        )
        return json.loads(finished.stdout)

    return run


def test_nothing_grows(soak, make_pipeline, hybrid, tmp_path, trials, kind):
    settings = hybrid if kind == "hybrid" else {}
    nlp = make_pipeline(cache_size=200, **settings)
    save_pipeline(nlp, tmp_path / "pipeline")
    rounds = trials(short=5, long=25)
    warm = max(2, rounds // 4)
    found = soak(rounds, documents=trials(short=12, long=300))
    first, *later = found["holds"][warm:]
    for held in later:
        resident, objects = held.pop("resident"), held.pop("objects")
        assert resident <= first["resident"] * (1 + SHARE), found["holds"]
        assert objects <= first["objects"] + 100, found["holds"]
        assert held == {name: first[name] for name in held}, found["holds"]
    expected = answers(spacy.load(tmp_path / "pipeline"), TEXTS)
    assert found["answers"] == json.loads(json.dumps(expected))
    assert not list((tmp_path / "temporary").iterdir())
