"""Kill a process at each of its steps on the disk, one after the other."""

import functools
import os
import signal
import sys
from collections.abc import Callable, Iterator

from spacy_connorm.files import atomic as exchange

STEPS = ("open", "mkdir", "rename", "replace", "link", "chmod", "fsync", "unlink", "rmdir")


def kill_at_each_step(work: Callable[[], object], *, every: int = 1) -> Iterator[int]:
    """Run some work again and again, each time in a fork that is killed one step later.

    work (Callable): What to do; it must not depend on what it did before.
    every (int): Leave out all steps but each n-th.
    YIELDS (int): The number of the step before which the process was killed. The last run, which
        comes to its end, is not yielded.
    """
    step = 0
    while _is_killed(work, step):
        yield step
        step += every


def _is_killed(work: Callable[[], object], step: int) -> bool:
    pid = os.fork()
    if not pid:
        try:
            _count_down(step)
            work()
            os._exit(0)
        except BaseException as error:
            sys.stderr.write(f"{error!r}\n")
            os._exit(1)
    _, status = os.waitpid(pid, 0)
    killed = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
    assert killed or os.waitstatus_to_exitcode(status) == 0
    return killed


def _count_down(step: int) -> None:
    left = step

    def counted(function: Callable) -> Callable:
        @functools.wraps(function)
        def call(*args, **kwargs):
            nonlocal left
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            left -= 1
            return function(*args, **kwargs)

        return call

    for name in STEPS:
        setattr(os, name, counted(getattr(os, name)))
    exchange.swap = counted(exchange.swap)
