"""A corpus of a few texts, annotated by one and by two processes."""

import json
import os
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/smaps_rollup").is_file(), reason="memory is read from /proc"
)


def test_both_sides_write_the_same(run, data, work, tmp_path):
    out = tmp_path / "rows.json"
    options = ("--texts", 5, "--fragment", 2, "--engine", "local", "--processes", 1, 2)
    run("corpora.py", "--data", data, *options, "--json", out)
    alone, both = json.loads(out.read_text(encoding="utf8"))
    assert (alone["engine"], alone["processes"], both["processes"]) == ("local", 1, 2)
    for row in (alone, both):
        assert row["texts"] == 5 and row["mentions"] > 0
        assert row["texts_per_s"] > 0 and row["peak_mb"] > 10
        assert row["same_bytes"] == "yes"
    assert len(list((work / "corpus-5-2").iterdir())) == 3


def test_memory_is_that_of_all_processes(modules):
    from _measure.memory_usage import total, tree_pss

    assert tree_pss(os.getpid()) >= total(os.getpid())["pss"] * 0.9 > 0
    assert tree_pss(2**31) == 0
