"""The benchmarks of start-up and memory."""

import sys
from pathlib import Path

import pytest

# Loads nothing, and waits to be measured.
CHILD = """
import sys
print('{"import_s": 0.5, "load_s": 0.25}', flush=True)
sys.stdin.readline()
"""


def test_start_up_is_compared_with_the_side_without_the_plugin(modules, monkeypatch):
    import startup

    def run_child(side, repeat):
        plugin = side == "with"
        return {"ms": 100 + 10 * repeat + 5 * plugin, "imported": [], "plugin": plugin}

    monkeypatch.setattr(startup, "run_child", run_child)
    without, with_plugin = startup.measure(3)
    assert (without["median_ms"], without["fastest_ms"], without["slowest_ms"]) == (110, 100, 120)
    assert (without["plugin_imported"], with_plugin["plugin_imported"]) == (False, True)
    assert (without["more_ms"], with_plugin["more_ms"], with_plugin["imported"]) == (0, 5, "none")


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
def test_memory_is_a_mean_over_processes(modules, monkeypatch, tmp_path):
    import memory

    monkeypatch.setattr(memory, "CHILD", CHILD)
    row = memory.measure_processes(Path(tmp_path), ["a mention"], 2, "ngram")
    assert (row["encoder"], row["processes"]) == ("ngram", 2)
    assert (row["import_s"], row["load_s"], row["index_rss_mb"]) == (0.5, 0.25, 0)
    assert 1 < row["pss_mb"] <= row["rss_mb"] < 100
