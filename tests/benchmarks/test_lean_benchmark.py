"""Lean environments, with the present interpreter in their place."""

import sys

import pytest

CHILD = """
import sys
sys.stdin.readline()
print(1, flush=True)
print("[]", flush=True)
sys.stdin.readline()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
def test_a_row_tells_start_memory_and_size(modules, monkeypatch, tmp_path):
    from pathlib import Path

    import lean

    monkeypatch.setattr(lean, "CHILD", CHILD)
    monkeypatch.setattr(lean, "BARE", "pass")
    (tmp_path / "weights").write_bytes(bytes(3_000_000))
    runs = [lean.run_once(Path(sys.executable), tmp_path, ["a mention"], each) for each in (0, 1)]
    row = lean.summary("dan", tmp_path, runs)
    assert (row["environment"], row["encoder"], row["runs"]) == ("dan", "dan", 2)
    assert 0 < row["fastest_s"] <= row["ready_s"] <= row["slowest_s"]
    assert row["spacy_s"] > 0
    assert 1 < row["peak_mb"] <= row["highest_mb"] < 100
    assert (row["folder_mb"], row["imported"]) == (3, "none")


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
def test_a_pipeline_that_does_not_answer_is_named(modules, monkeypatch, tmp_path, capsys):
    from pathlib import Path

    import lean

    monkeypatch.setattr(lean, "CHILD", "print(0)")
    with pytest.raises(SystemExit):
        lean.run_once(Path(sys.executable), tmp_path, ["a mention"], 0)
    assert str(tmp_path) in capsys.readouterr().err


def test_an_environment_is_made_once(modules, monkeypatch, tmp_path):
    from _measure import environments

    commands = []
    monkeypatch.setattr(environments, "_run", lambda command: commands.append(command))
    folder = tmp_path / "kept"
    folder.mkdir()
    for _ in range(2):
        environments.make_environment(folder, [["one"], ["two", "three"]], python="python")
    assert [command[-1] for command in commands] == [str(folder), "one", "three"]
