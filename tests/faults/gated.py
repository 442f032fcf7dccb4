"""Components that stop where a test wants them to, and processes that are watched from outside."""

import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

from spacy.language import Language

LIMIT = 120.0  # seconds until a test gives up; nothing takes that long


class Gate:
    """Tells that a process has come to a text with a word in it, and waits for a file. What other
    words do has to wait until a process is there.
    """

    def __init__(self, folder: str) -> None:
        self.folder = Path(folder)

    def __call__(self, doc):
        if "wait" in doc.text:
            (self.folder / f"reached-{os.getpid()}").touch()
            wait_for((self.folder / "open").exists)
        if any(word in doc.text for word in ("raise", "memory", "kill")):
            wait_for(lambda: any(self.folder.glob("reached-*")))
        if "raise" in doc.text:
            raise ValueError("a secret text")
        if "memory" in doc.text:
            raise MemoryError
        if "kill" in doc.text:
            os.kill(os.getpid(), signal.SIGKILL)
        return doc


@Language.factory("gate", default_config={"folder": ""})
def make_gate(nlp, name, folder):
    return Gate(folder)


def wait_for(condition: Callable[[], object]) -> None:
    """Wait until something holds; fail if it never does."""
    end = time.monotonic() + LIMIT
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError
        time.sleep(0.005)


def fork(work: Callable[[], object], output: Path) -> int:
    """Run some work in a process and a process group of its own.

    work (Callable): What to do; it may exit with a code.
    output (Path): A file for all that it prints.
    RETURNS (int): The process.
    """
    pid = os.fork()
    if not pid:
        code = 70
        try:
            os.setsid()
            signal.signal(signal.SIGINT, signal.default_int_handler)
            descriptor = os.open(output, os.O_CREAT | os.O_WRONLY | os.O_APPEND)
            os.dup2(descriptor, 1)
            os.dup2(descriptor, 2)
            sys.stdout = os.fdopen(1, "w")
            sys.stderr = os.fdopen(2, "w")
            work()
            code = 0
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 71
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
    return pid


def exit_code(pid: int) -> int:
    """Wait for the end of a process that was forked: its code, or minus the signal."""
    end = time.monotonic() + LIMIT
    while time.monotonic() < end:
        found, status = os.waitpid(pid, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.005)
    os.killpg(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    raise TimeoutError


def is_running(pid: int) -> bool:
    """Whether a process, of anybody, has not ended."""
    try:
        os.kill(pid, 0)
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except ProcessLookupError:
        return False
    except FileNotFoundError:
        return Path("/proc/self").exists() is False
    return state != "Z"  # nobody may have asked for its exit code
