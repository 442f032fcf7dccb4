"""How the benchmark of several processes reads its turns."""

import multiprocessing
from pathlib import Path

import pytest


@pytest.fixture
def processes(modules):
    import processes

    return processes


def start(side, repeat, seconds, worker, **memory):
    way = {"method": "spawn", "processes": 2, "side": side, "repeat": repeat}
    return {**way, "seconds": seconds, "worker_s": worker, **memory}


TURNS = [
    start("spacy", 0, 2.0, 1.0),
    start("libraries", 0, 2.5, 1.5),
    start("pipeline", 0, 2.75, 1.75, rss_mb=10.0),
    # The sides take turns in another order.
    start("libraries", 1, 5.0, 1.5),
    start("pipeline", 1, 6.0, 1.5, rss_mb=30.0),
    start("spacy", 1, 4.0, 1.0),
    {"method": "-", "processes": 1, "mentions_per_s": 100.0, "same": True},
    {"method": "spawn", "processes": 2, "mentions_per_s": 150.0, "same": True},
    {"method": "spawn", "processes": 2, "mentions_per_s": 170.0, "same": False},
]


def test_a_start_is_split_turn_by_turn(processes):
    (row,) = processes.start_rows("ngram", TURNS)
    assert (row["start"], row["processes"], row["repeats"]) == ("spawn", 2, 2)
    assert (row["spacy_s"], row["libraries_s"], row["own_s"]) == (3.0, 0.75, 0.625)
    assert (row["own_lowest"], row["own_highest"]) == (0.25, 1.0)
    assert (row["worker_libraries_s"], row["worker_own_s"]) == (0.5, 0.125)


def test_memory_is_that_of_the_whole_pipeline(processes):
    (row,) = processes.memory_rows("ngram", TURNS)
    assert row["rss_mb"] == 20.0


def test_one_turn_with_other_answers_is_told(processes):
    alone, several = processes.speed_rows("ngram", TURNS)
    assert (alone["start"], alone["mentions_per_s"], alone["same_answers"]) == ("-", 100, "yes")
    assert (several["mentions_per_s"], several["slowest"], several["fastest"]) == (160, 150, 170)
    assert several["same_answers"] == "no"


@pytest.mark.skipif(
    not Path("/proc/self/smaps_rollup").is_file()
    or "fork" not in multiprocessing.get_all_start_methods(),
    reason="needs /proc and fork",
)
def test_it_runs(run, data, capsys):
    run("processes.py", "--data", data, "--processes", 1, 2, "--methods", "fork")
    printed = capsys.readouterr().out
    for title in ("Start of the workers", "Memory of a worker", "Mentions a second"):
        assert title in printed
    assert "| yes " in printed and "| no " not in printed
