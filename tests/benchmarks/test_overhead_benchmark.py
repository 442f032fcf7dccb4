"""Phases exclude what runs inside of them, and their sums say whose they are."""

import json
from itertools import count

import pytest


class Work:
    def outer(self):
        self.inner()
        return "done"

    def inner(self):
        pass

    def failing(self):
        raise ValueError("no")


@pytest.fixture
def clocks(modules, monkeypatch):
    """Clocks that go on by a second whenever somebody looks."""
    from _measure import profiler as phases

    monkeypatch.setattr(phases, "process_time", count().__next__)
    return phases.Phases()


def test_an_inner_phase_stops_the_outer_one(clocks):
    work = Work()
    clocks.watch(work, "outer", "outer")
    clocks.watch(work, "inner", "inner")
    assert work.outer() == "done"
    assert clocks.seconds == {"outer": 2, "inner": 1}
    clocks.reset()
    assert not clocks.seconds


def test_a_phase_that_fails_ends(clocks):
    work = Work()
    clocks.watch(work, "failing", "failing")
    clocks.watch(work, "inner", "inner")
    with pytest.raises(ValueError, match="no"):
        work.failing()
    work.inner()
    assert clocks.seconds == {"failing": 1, "inner": 1}


TURNS = [
    {"encoder: vectors": 3e-6, "search: neighbours": 4e-6, "readings": 1e-6},
    {"encoder: vectors": 1e-6, "search: neighbours": 3e-6, "memo": 5e-6},
    {"encoder: vectors": 2e-6, "encoder: tokens": 6e-6},
]


def test_sums_of_parts(modules):
    import overhead

    rows = {row["part"]: row for row in overhead.sum_rows(TURNS, mentions=1)}
    assert rows["encoder"]["us"] == pytest.approx(3)
    assert rows["encoder"]["highest_us"] == pytest.approx(8)
    assert rows["our own"]["lowest_us"] == 0
    assert rows["our own"]["highest_us"] == pytest.approx(5)
    assert rows["all"]["us"] == pytest.approx(8)


def test_phases_of_all_turns_the_longest_first(modules):
    import overhead

    rows = overhead.phase_rows(TURNS, mentions=2)
    assert [row["phase"] for row in rows][:2] == ["search: neighbours", "encoder: vectors"]
    assert rows[0]["us"] == pytest.approx(1.5)
    assert (rows[0]["lowest_us"], rows[0]["highest_us"]) == (0, pytest.approx(2))


def test_both_pipelines_are_timed(run, data):
    run("overhead.py", "--data", data, "--json", data / "out.json", "--encoder", "ngram")
    rows = json.loads((data / "out.json").read_text())
    assert {row["pipeline"] for row in rows} == {"shipped", "no memo, no cache"}
    phases = {(row["pipeline"], row.get("phase")) for row in rows}
    assert ("shipped", "memo") in phases
    assert ("no memo, no cache", "memo") not in phases
    assert {row["part"] for row in rows if "part" in row} == {"encoder", "search", "our own", "all"}
