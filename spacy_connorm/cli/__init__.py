"""Command line: `connorm`, which is also registered with spaCy: `python -m spacy connorm`."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def _ending_at_once() -> Iterator[None]:
    """Let Ctrl-C end the process without a traceback while modules are imported."""
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


with _ending_at_once():
    from .app import app

__all__ = ["app"]
