"""How a command ends when it is stopped, or when nobody reads what it prints."""

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import NoReturn

from wasabi import Printer

from ..errors import Errors

# Shells say that a program was ended by a signal with 128 and its number.
_BY_SIGNAL = 128
_SIGPIPE = 13


@contextmanager
def stoppable() -> Iterator[None]:
    """Exit with one line when the process is interrupted or terminated, after what was being done
    has cleaned up; and without any when the reader of the output has left, as other programs do.
    """
    with _terminable():
        try:
            yield
            sys.stdout.flush()
        except KeyboardInterrupt as error:
            number = signal.Signals(error.args[0] if error.args else signal.SIGINT)
            fail(Errors.CN718.format(signal=number.name), exits=_BY_SIGNAL + number)
        except OSError as error:
            if not _is_stdout_lost():
                raise
            _silence_stdout()
            if isinstance(error, BrokenPipeError):
                sys.exit(_BY_SIGNAL + _SIGPIPE)
            message = Errors.CN108.format(path="standard output", reason=error.strerror)
            print(message, file=sys.stderr)
            sys.exit(1)


def fail(message: str, *, exits: int) -> NoReturn:
    """Print a message as an error, on the error output if the usual one is lost, and exit.

    message (str): One of `Errors`, formatted.
    exits (int): The exit code.
    """
    line = Printer(no_print=True).fail(message)
    try:
        print(f"\n{line}\n", flush=True)
    except OSError:
        _silence_stdout()
        print(line, file=sys.stderr)
    sys.exit(exits)


@contextmanager
def _terminable() -> Iterator[None]:
    """Handle SIGTERM like Ctrl-C, unless it has a handler already."""
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _interrupt(number: int, frame: FrameType | None) -> NoReturn:
    raise KeyboardInterrupt(number)


def _is_stdout_lost() -> bool:
    try:
        print(flush=True)  # what has failed is not tried again
    except OSError:
        return True
    return False


def _silence_stdout() -> None:
    """Drop what is left in the buffer: Python would complain at its exit that it can't write it."""
    with suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
