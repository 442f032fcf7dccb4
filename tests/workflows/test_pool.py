import multiprocessing
import os
import threading
from functools import partial
from multiprocessing.context import get_spawning_popen

import pytest

from spacy_connorm.errors import ConnormError
from spacy_connorm.workflows.pool import map_batches, require_processes


def double(number):
    return 2 * number


def fail_at_two(number):
    if number == 2:
        raise ValueError("the text of somebody")
    return number


def refuse_at_two(number):
    if number == 2:
        raise ConnormError("[CN999] refused")
    return number


def unpicklable(number):
    return threading.Lock()


def wait_for_ever(number):
    threading.Event().wait()


def process(number):
    return os.getpid()


class Unloadable:
    """Work that other processes can't load, and that no pipe holds at once."""

    def __init__(self, load, *arguments):
        self.loaded = load, arguments
        self.payload = bytes(1_000_000)

    def __call__(self, number):
        return number

    def __reduce__(self):
        return (*self.loaded, {"payload": self.payload})


class Spawned:
    """Work that tells whether it was pickled for a process that starts."""

    def __reduce__(self):
        return partial, (told, get_spawning_popen() is not None)


def told(is_spawned, number):
    return is_spawned


def refuse_to_load():
    raise ConnormError("[CN999] refused")


@pytest.fixture
def spawned():
    """Processes are spawned, on all systems."""
    default = multiprocessing.get_start_method()
    multiprocessing.set_start_method("spawn", force=True)
    yield
    multiprocessing.set_start_method(default, force=True)


def test_results_come_in_order():
    assert list(map_batches(double, range(50), processes=3)) == list(range(0, 100, 2))
    assert list(map_batches(double, [], processes=2)) == []


def test_batches_are_worked_on_in_other_processes():
    assert os.getpid() not in map_batches(process, range(4), processes=2)


def test_few_batches_are_in_memory():
    read = []

    def batches():
        for number in range(100):
            read.append(number)
            yield number

    results = map_batches(double, batches(), processes=2)
    for taken in range(1, 11):
        next(results)
        assert len(read) <= taken + 6
    results.close()


def test_failures_of_workers(monkeypatch):
    with pytest.raises(ConnormError, match=r"CN717.*batch 3 .*\(ValueError\)") as caught:
        list(map_batches(fail_at_two, range(5), processes=2))
    assert "somebody" not in str(caught.value)
    monkeypatch.setenv("SPACY_CONNORM_SHOW_TEXT", "1")
    with pytest.raises(ConnormError, match="CN717.*the text of somebody"):
        list(map_batches(fail_at_two, range(5), processes=2))
    with pytest.raises(ConnormError, match="CN999"):
        list(map_batches(refuse_at_two, range(5), processes=2))
    with pytest.raises(ConnormError, match="CN717"):
        list(map_batches(unpicklable, range(5), processes=2))


def test_a_failure_of_the_reader_is_its_own():
    def batches():
        yield 1
        raise KeyError("reader")

    # A worker that is at work is killed then, which is no failure of its own.
    for work in (double, wait_for_ever):
        with pytest.raises(KeyError, match="reader"):
            list(map_batches(work, batches(), processes=2))


@pytest.mark.parametrize(
    ("load", "arguments", "message"),
    [
        (int, ("the text of somebody",), r"CN719.*start \(ValueError\).*__main__"),
        (os._exit, (3,), r"CN719.*\(exit code 3\)"),
        (refuse_to_load, (), "CN999"),
    ],
)
def test_workers_that_cannot_load_their_work(spawned, load, arguments, message):
    with pytest.raises(ConnormError, match=message) as caught:
        list(map_batches(Unloadable(load, *arguments), range(4), processes=2))
    assert "somebody" not in str(caught.value)
    assert not multiprocessing.active_children()


def test_spawned_workers_answer_too(spawned):
    assert list(map_batches(double, range(5), processes=2)) == [0, 2, 4, 6, 8]
    # What maps files is pickled in another way for a worker of the same machine.
    assert list(map_batches(Spawned(), range(2), processes=2)) == [True, True]


def test_a_process_per_core(monkeypatch):
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    assert list(map_batches(double, range(4), processes=-1)) == [0, 2, 4, 6]
    require_processes(-1)
    with pytest.raises(ConnormError, match="CN006.*n_process"):
        require_processes(0)
