"""How long the processor works for calls of some methods, all together, undisturbed."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from time import process_time
from typing import Any


class Stopwatch:
    """Runs while any of the methods that it watches does."""

    def __init__(self) -> None:
        self.seconds = 0.0  # of all threads, added up

    def watch(self, owner: Any, method: str) -> None:
        """Let calls of a method count from now on.

        owner (Any): The object; no other of its class is watched.
        method (str): Its method, which calls no other that is watched.
        """
        call = getattr(owner, method)

        def timed(*arguments: Any, **settings: Any) -> Any:
            start = process_time()
            try:
                return call(*arguments, **settings)
            finally:
                self.seconds += process_time() - start

        setattr(owner, method, timed)


@contextmanager
def frozen() -> Iterator[None]:
    """Keep Python's garbage collector from what stands already: a benchmark holds all its data and
    several pipelines, which are no part of what it times.
    """
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
