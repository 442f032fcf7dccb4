"""Run functions in forked children, so that crashes, hangs and memory bombs are outcomes."""

import faulthandler
import os
import resource
import select
import signal
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from confection import ConfigValidationError

from spacy_connorm.errors import ConnormError

# A trial takes a fifth of a second.
SECONDS = 20
# What a trial may allocate beyond what its parent has.
MEMORY = 1 << 30


class Outcome(NamedTuple):
    """kind (str): "ok", the code of an error, or what must not happen: "raw", "hang", "signal N".
    detail (str): What was printed or raised.
    """

    kind: str
    detail: str = ""

    @property
    def is_allowed(self) -> bool:
        return self.kind == "ok" or self.kind.startswith("CN") or self.kind == "config"


def run_in_child(work: Callable[[], object]) -> Outcome:
    """Run some work in a fork with bounds of time and memory."""
    reading, writing = os.pipe()
    pid = os.fork()
    if not pid:
        os.close(reading)
        _run(work, writing)
    os.close(writing)
    said = _read(reading)
    os.close(reading)
    if said is None:
        os.kill(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    if said is None:
        return Outcome("hang")
    kind, _, detail = said.partition("\n")
    if os.WIFSIGNALED(status):
        return Outcome(f"signal {os.WTERMSIG(status)}", said[-3000:])
    return Outcome(kind, detail)


def _read(reading: int) -> str | None:
    parts, end = [], time.monotonic() + SECONDS
    while True:
        ready, _, _ = select.select([reading], [], [], max(0, end - time.monotonic()))
        if not ready:
            return None
        part = os.read(reading, 1 << 16)
        if not part:
            return b"".join(parts).decode(errors="replace")
        parts.append(part)


def _run(work: Callable[[], object], writing: int) -> None:
    os.dup2(writing, 1)
    os.dup2(writing, 2)
    faulthandler.enable(file=2)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    limit = _used() + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    try:
        outcome = _outcome(work)
    except BaseException:
        outcome = Outcome("raw", "the trial failed")
    os.write(writing, f"{outcome.kind}\n{outcome.detail}".encode(errors="replace"))
    os._exit(0)


def _used() -> int:
    return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()


def _outcome(work: Callable[[], object]) -> Outcome:
    try:
        work()
    except ConnormError as error:
        return Outcome(str(error)[1:6], str(error))
    except ConfigValidationError as error:
        return Outcome("config", str(error))
    except pytest.fail.Exception as error:
        return Outcome("malformed", str(error))
    except BaseException:
        return Outcome("raw", traceback.format_exc()[-3000:])
    return Outcome("ok")
