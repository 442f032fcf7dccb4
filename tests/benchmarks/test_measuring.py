"""Turns, start-up, memory and lean environments: what is measured of processes and files."""

import sys
from argparse import Namespace
from pathlib import Path

import pytest

from spacy_connorm import build_index
from spacy_connorm.concepts import Concept, Ontology

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
# Loads nothing, and waits to be measured.
LOADED = """
import sys
print('{"import_s": 0.5, "load_s": 0.25}', flush=True)
sys.stdin.readline()
"""
ANSWERED = """
import sys
sys.stdin.readline()
print(1, flush=True)
print("[]", flush=True)
sys.stdin.readline()
"""


@pytest.fixture
def interleaved(modules):
    from _measure import interleaved

    return interleaved


def test_each_repeat_starts_with_the_next_side(interleaved):
    order = []

    def side(name):
        def turn(repeat):
            order.append((repeat, name))
            return f"{name}{repeat}"

        return turn

    turns = interleaved.take_turns([side("a"), side("b"), side("c")], 2, warm_up=1)
    assert turns == [["a0", "a1"], ["b0", "b1"], ["c0", "c1"]]
    assert order == [
        (-1, "c"),
        (-1, "a"),
        (-1, "b"),
        (0, "a"),
        (0, "b"),
        (0, "c"),
        (1, "b"),
        (1, "c"),
        (1, "a"),
    ]


def test_without_repeats_nothing_runs(interleaved):
    assert interleaved.take_turns([pytest.fail], 0) == [[]]


def test_ratios_are_computed_turn_by_turn(interleaved):
    row = interleaved.ratio_columns([1.0, 2.0, 4.0], [8.0, 4.0, 2.0], prefix="again_")
    assert row == {"again_ratio": 2, "lowest_again_ratio": 0.5, "highest_again_ratio": 8}
    with pytest.raises(ValueError, match="longer"):
        interleaved.ratios([1.0], [1.0, 2.0])


def test_speeds_have_a_median_and_extremes(interleaved):
    row = interleaved.speed_columns([4.04, 8.0, 2.0, 6.0], "names_per_s", digits=1)
    assert row == {"names_per_s": 5.0, "slowest": 2.0, "fastest": 8.0}
    whole = interleaved.speed_columns([4.6], "per_s", prefix="again_")
    assert whole == {"again_per_s": 5, "again_slowest": 5, "again_fastest": 5}
    assert all(isinstance(value, int) for value in whole.values())


def test_start_up_is_compared_with_the_side_that_hides_nothing(modules, monkeypatch):
    import startup

    def run_child(side, repeat):
        plugin = side != "spacy-connorm"
        return {"ms": 100 + 10 * repeat + 5 * plugin, "imported": [], "plugin": plugin}

    monkeypatch.setattr(startup, "run_child", run_child)
    whole, without, _ = startup.measure(3)
    assert (without["median_ms"], without["fastest_ms"], without["slowest_ms"]) == (110, 100, 120)
    assert (without["plugin_imported"], whole["plugin_imported"]) == (False, True)
    assert (without["saved_ms"], whole["saved_ms"], whole["imported"]) == (5, 0, "none")


def test_a_rebuilt_index_is_compared_with_one_from_nothing(modules, monkeypatch, tmp_path, capsys):
    import rebuild

    listed = [Concept("D1", "fever", ("pyrexia",)), Concept("D2", "cough")]
    monkeypatch.setattr(rebuild, "stream_ontology", lambda *args, **files: iter(listed))
    found = list(rebuild.read_concepts(Path("data"), 5))
    assert found[:2] == listed
    assert found[2:] == [Concept("D1-1", "fever 1", ("pyrexia 1",))]

    monkeypatch.setattr(rebuild, "CHANGED", 0.5)
    built = []

    def build(ontology, folder, *, encoder, overrides, reuse=None):
        ontology = Ontology.from_disk(ontology)
        built.append(({concept.names for concept in ontology}, reuse))
        return build_index(ontology, folder, encoder="ngrams", overrides=overrides, reuse=reuse)

    monkeypatch.setattr(rebuild, "build_index", build)
    whole, reused = rebuild.measure(Namespace(data=Path("data"), work=tmp_path, names=40, runs=1))
    assert (whole["build"], whole["percent"], reused["build"]) == ("from nothing", 100, "--reuse")
    assert [reuse for _, reuse in built] == [None, None, tmp_path / "rebuild-older"]
    changed = built[2][0] - built[0][0]
    assert 0 < len(changed) < 27 and all(" as changed" in names[-1] for names in changed)

    index = tmp_path / "rebuild-reused" / "concept_normalizer" / "index"
    (index / "members.concept.npy").write_bytes(b"damaged")
    with pytest.raises(SystemExit):
        rebuild.require_same(tmp_path / "rebuild-whole", tmp_path / "rebuild-reused")
    assert "members.concept.npy" in capsys.readouterr().err


@LINUX
def test_memory_is_a_mean_over_processes(modules, monkeypatch, tmp_path):
    import memory

    monkeypatch.setattr(memory, "CHILD", LOADED)
    row = memory.measure_processes(Path(tmp_path), ["a mention"], 2, "ngram")
    assert (row["encoder"], row["processes"]) == ("ngram", 2)
    assert (row["import_s"], row["load_s"], row["index_rss_mb"]) == (0.5, 0.25, 0)
    assert 1 < row["pss_mb"] <= row["rss_mb"] < 100


@LINUX
def test_a_row_tells_start_memory_and_size(modules, monkeypatch, tmp_path):
    import lean

    monkeypatch.setattr(lean, "CHILD", ANSWERED)
    (tmp_path / "weights").write_bytes(bytes(3_000_000))
    runs = [
        lean.run_once(Path(sys.executable), tmp_path, ["a mention"], number) for number in (0, 1)
    ]
    row = lean.summary("dan", tmp_path, runs)
    assert (row["environment"], row["encoder"], row["runs"]) == ("dan", "dan", 2)
    assert 0 < row["fastest_s"] <= row["ready_s"] <= row["slowest_s"]
    assert 1 < row["peak_mb"] <= row["highest_mb"] < 100
    assert (row["folder_mb"], row["imported"]) == (3, "none")
    alone = lean.summary("dan", None, [lean.run_once(Path(sys.executable), None, ["a"], 0)])
    assert (alone["environment"], alone["encoder"], alone["folder_mb"]) == ("dan", "spaCy alone", 0)


@LINUX
def test_a_pipeline_that_does_not_answer_is_named(modules, monkeypatch, tmp_path, capsys):
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
        environments.make_environment(folder, [["one"], ["two", "three"]])
    assert [command[-1] for command in commands] == [str(folder), "one", "three"]
