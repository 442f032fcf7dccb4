import os
import threading
from multiprocessing import get_context

import pytest

from spacy_connorm.files.threads import map_in_threads, thread_count


def test_threads(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    assert thread_count() == 3
    monkeypatch.delenv("OMP_NUM_THREADS")
    assert thread_count() == os.cpu_count()


def answering_threads(count):
    """The threads that answer calls which wait for each other."""
    meeting = threading.Barrier(count, timeout=60)

    def work(number):
        meeting.wait()
        return number, threading.get_ident()

    numbers, threads = zip(*map_in_threads(work, range(count)), strict=True)
    assert numbers == tuple(range(count))
    return set(threads)


def test_calls_run_at_the_same_time_and_answer_in_order(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    assert len(answering_threads(2)) == 2


def test_one_thread_is_the_own_one(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    assert answering_threads(1) == {threading.get_ident()}


@pytest.mark.parametrize("threads", ["1", "2"])
def test_an_error_is_raised(monkeypatch, threads):
    monkeypatch.setenv("OMP_NUM_THREADS", threads)
    with pytest.raises(ZeroDivisionError):
        list(map_in_threads(divmod, (1, 1), (1, 0)))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_after_a_fork_there_are_threads_again(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    assert len(answering_threads(2)) == 2
    child = os.fork()
    if not child:
        os._exit(0 if len(answering_threads(2)) == 2 else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_a_worker_process_has_one_thread(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    with get_context("spawn").Pool(1) as pool:
        assert pool.apply(thread_count) == 1
