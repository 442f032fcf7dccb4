import os
import threading
from multiprocessing import get_context

import pytest

from spacy_connorm.files.threads import divide_among_threads, thread_count


def divided(size, *, least):
    parts, threads = [], set()

    def work(start, stop):
        parts.append((start, stop))
        threads.add(threading.get_ident())

    divide_among_threads(work, size, least=least)
    return sorted(parts), threads


def test_threads(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    assert thread_count() == 3
    monkeypatch.delenv("OMP_NUM_THREADS")
    assert thread_count() == os.cpu_count()


@pytest.mark.parametrize(
    ("size", "parts"),
    [
        (100, [(0, 33), (33, 66), (66, 100)]),
        (20, [(0, 10), (10, 20)]),
        (19, [(0, 19)]),
        (0, [(0, 0)]),
    ],
)
def test_parts_are_not_too_small(monkeypatch, size, parts):
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    found, threads = divided(size, least=10)
    assert found == parts
    assert threading.get_ident() in threads and len(threads) <= len(parts)


@pytest.mark.parametrize("failing", [0, 1])
def test_an_error_is_raised_when_all_parts_have_ended(monkeypatch, failing):
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    ended = []

    def work(start, stop):
        ended.append(start)
        if start == failing:
            raise ValueError(start)

    with pytest.raises(ValueError, match=str(failing)):
        divide_among_threads(work, 2, least=1)
    assert sorted(ended) == [0, 1]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_after_a_fork_there_are_threads_again(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    assert divided(2, least=1)[0] == [(0, 1), (1, 2)]
    child = os.fork()
    if not child:
        found, threads = divided(2, least=1)
        os._exit(0 if found == [(0, 1), (1, 2)] and len(threads) == 2 else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_a_worker_process_has_one_thread(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    with get_context("spawn").Pool(1) as pool:
        assert pool.apply(thread_count) == 1
