"""A limit of the time that a long text may take."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from spacy_connorm.server import RequestLimits

# The longest text that a server takes.
LENGTH = RequestLimits().text
SECONDS = 1.0


@contextmanager
def at_most_a_second(*what: object) -> Iterator[None]:
    """Fail what takes more of this process's own time, whatever else runs on the machine.

    *what (object): What is told of a failure.
    """

    def stop(number: int, frame: object) -> None:
        pytest.fail(f"more than {SECONDS:g} s: {what}")

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
