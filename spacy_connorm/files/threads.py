"""Threads, for work that waits for memory or computes without the GIL."""

import multiprocessing
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait

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
    asked = os.environ.get("OMP_NUM_THREADS", "")
    return max(int(asked), 1) if asked.isdigit() else os.cpu_count() or 1


def divide_among_threads(work: Callable[[int, int], None], size: int, *, least: int) -> None:
    """Divide a range among the calling thread and others, and wait for all of them.

    work (Callable[[int, int], None]): Works on a part, from its first number to the one after its
        last. It must not divide its part again.
    size (int): The range is 0 to `size`.
    least (int): A part that is smaller than this takes no longer than starting a thread.
    RAISES (Exception): What `work` raises.
    """
    parts = max(min(size // least, thread_count()), 1)
    bounds = [size * part // parts for part in range(parts + 1)]
    running = [_pool().submit(work, bounds[part], bounds[part + 1]) for part in range(1, parts)]
    try:
        work(0, bounds[1])
    finally:
        wait(running)
    for part in running:
        part.result()


def _pool() -> ThreadPoolExecutor:
    if not _POOL:
        _POOL.append(ThreadPoolExecutor(thread_count()))
    return _POOL[0]
