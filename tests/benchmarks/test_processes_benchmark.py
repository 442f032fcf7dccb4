"""How the benchmark of several processes reads its turns."""

import multiprocessing
from argparse import Namespace
from pathlib import Path

import pytest


@pytest.fixture
def processes(modules):
    import processes

    return processes


def start(side, seconds, worker, **memory):
    way = {"method": "spawn", "processes": 2, "side": side}
    return {**way, "seconds": seconds, "worker_s": worker, **memory}


TURNS = [
    start("spacy", 2.0, 1.0),
    start("libraries", 2.5, 1.5),
    start("pipeline", 2.75, 1.75, rss_mb=10.0),
    start("libraries", 5.0, 1.5),
    start("pipeline", 6.0, 1.5, rss_mb=30.0),
    start("spacy", 4.0, 1.0),
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
def test_workers_answer_like_one_process(processes, data, work):
    work.mkdir()
    turns = processes.run_worker(
        Namespace(
            data=data, work=work, encoder="ngram", processes=[1, 2], methods=["fork"], repeats=1
        )
    )
    sides = [turn.get("side", turn["processes"]) for turn in turns]
    assert sides == [1, "spacy", "libraries", "pipeline", 2]
    assert all(turn["same"] for turn in turns if "same" in turn)
    (start,) = processes.start_rows("ngram", turns)
    assert (start["processes"], start["repeats"]) == (2, 1)
    (memory,) = processes.memory_rows("ngram", turns)
    assert memory["rss_mb"] > memory["index_rss_mb"] >= 0
    alone, both = processes.speed_rows("ngram", turns)
    assert alone["mentions_per_s"] > 0 < both["mentions_per_s"]
