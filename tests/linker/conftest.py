"""Fixtures that tests of the linker share."""

import threading

import pytest


@pytest.fixture
def in_thread():
    """A function that starts a function in a thread, which ends before the test does."""
    threads = []

    def start(function):
        threads.append(threading.Thread(target=function))
        threads[-1].start()
        return threads[-1]

    yield start
    for thread in threads:
        thread.join(timeout=60)
        assert not thread.is_alive()
