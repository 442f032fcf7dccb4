"""Threads, for work that waits for memory or computes without the GIL."""

import multiprocessing
import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

_T = TypeVar("_T")
_POOL: list[ThreadPoolExecutor] = []

if hasattr(os, "register_at_fork"):
    # Threads do not survive a fork.
    os.register_at_fork(after_in_child=_POOL.clear)


def thread_count() -> int:
    """Choose the number of threads.

    RETURNS (int): 1 in a worker process, otherwise OMP_NUM_THREADS or the number of cores.
    """
    if multiprocessing.parent_process() is not None:
        return 1
    count = os.environ.get("OMP_NUM_THREADS", "")
    return max(int(count), 1) if count.isdigit() else os.cpu_count() or 1


def map_in_threads(work: Callable[..., _T], *arguments: Iterable[object]) -> Iterator[_T]:
    """Call a function several times, in threads if there may be more than one.

    work (Callable): The function. It must not map in threads itself.
    arguments (Iterable): The values of each of its parameters, as for `map`.
    YIELDS (Any): What it returns, in order.
    RAISES (Exception): What it raises.
    """
    if thread_count() == 1:
        return map(work, *arguments)
    if not _POOL:
        _POOL.append(ThreadPoolExecutor(thread_count()))
    return _POOL[0].map(work, *arguments)
