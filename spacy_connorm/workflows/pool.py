"""Map batches over worker processes. Nothing waits for a dead worker, and no worker outlives the
process that started it.

`concurrent.futures.ProcessPoolExecutor`, and loky, which is built on it, can't guarantee the first:
they keep the writing end of the workers' pipe open, so they wait forever for the rest of an answer
if its worker was killed. spaCy's `nlp.pipe` guarantees neither.
"""

import gc
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from multiprocessing.connection import Connection, wait
from multiprocessing.reduction import ForkingPickler
from typing import Any, TypeVar

from ..errors import ConnormError, Errors, describe_error, refuse

Batch = TypeVar("Batch")
Result = TypeVar("Result")
# The number of batches per worker that are in progress or not yet yielded.
_IN_FLIGHT = 3
_SECONDS_TO_END = 2.0
_END = None
_SIGNALS = (signal.SIGINT, signal.SIGTERM)
# A worker must not inherit the end of another worker's pipe, which must close when that one dies.
_STARTING = threading.Lock()


def map_batches(
    work: Callable[[Batch], Result], batches: Iterable[Batch], *, processes: int
) -> Generator[Result, None, None]:
    """Apply a function to batches: in this process if it is the only one, otherwise in worker
    processes. The number of batches in memory is bounded.

    work (Callable): The function; it must be picklable if processes are spawned.
    batches (Iterable): Its arguments, read in this thread.
    processes (int): The number of processes; -1 for one per core.
    YIELDS (Any): The results, in the order of the batches.
    RAISES (ConnormError): CN716 if a worker dies, CN717 if `work` raises, CN719 if a worker can't
        start, or its own ConnormError.
    """
    if processes == 1:
        yield from map(work, batches)
        return
    count = (os.cpu_count() or 1) if processes < 0 else processes
    workers: list[_Worker] = []
    try:
        for _ in range(count):
            workers.append(_Worker(work))
        for worker in workers:
            worker.send_work()
        for worker in workers:
            worker.receive(if_dead=Errors.CN719)
        yield from _in_order(workers, enumerate(batches, start=1))
        for worker in workers:
            worker.finish()
    finally:
        for worker in workers:
            worker.process.kill()
        for worker in workers:
            worker.close()


def require_processes(n_process: int) -> None:
    """Refuse an invalid number of processes.

    n_process (int): The number; -1 means one per core.
    RAISES (ConnormError): CN006 for 0, and below -1.
    """
    if n_process < -1 or n_process == 0:
        refuse("n_process", n_process, "at least 1, or -1 for all cores")


def _in_order(workers: "Iterable[_Worker]", batches: Iterator[tuple[int, Any]]) -> Iterator[Any]:
    idle = list(workers)
    most, yielded = _IN_FLIGHT * len(idle), 0
    busy: dict[Connection, tuple[int, _Worker]] = {}
    results: dict[int, Any] = {}
    while True:
        # All workers are busy before the consumer of the results blocks this thread.
        while idle and len(busy) + len(results) < most and (following := next(batches, None)):
            worker = idle.pop()
            worker.ask(*following)
            busy[worker.pipe] = following[0], worker
        if yielded + 1 in results:
            yielded += 1
            yield results.pop(yielded)
        elif busy:
            for pipe in wait(list(busy)):
                number, worker = busy.pop(pipe)  # type: ignore[call-overload]
                results[number] = worker.receive(if_dead=Errors.CN716, number=number)
                idle.append(worker)
        else:
            return


class _Worker:
    """A process, and a pipe to it that closes when it dies."""

    def __init__(self, work: Callable[[Any], Any]) -> None:
        self._work = _Work(work)
        with _STARTING, _no_signals():
            self.pipe, far_end = multiprocessing.Pipe()
            arguments = (far_end, self._work)
            self.process = multiprocessing.Process(target=_serve, args=arguments, daemon=True)
            self.process.start()
            far_end.close()

    def send_work(self) -> None:
        with self._explaining_death(Errors.CN719):
            if self._work.pickled:  # false if it was forked
                self.pipe.send_bytes(self._work.pickled)
        self._work.pickled = b""

    def ask(self, number: int, batch: Any) -> None:
        with self._explaining_death(Errors.CN716, number=number):
            self.pipe.send((number, batch))

    def receive(self, if_dead: Errors, **facts: Any) -> Any:
        """Receive what the process has computed. Its error is raised here."""
        with self._explaining_death(if_dead, **facts):
            result, error = self.pipe.recv()
        if error is not None:
            raise error
        return result

    def finish(self) -> None:
        with suppress(OSError):  # killed after its last answer
            self.pipe.send(_END)
        self.process.join(_SECONDS_TO_END)

    def close(self) -> None:
        self.process.join()
        self.pipe.close()

    def _explaining_death(self, message: Errors, **facts: Any) -> AbstractContextManager[None]:
        """Raise an error that tells how the process has ended, if its pipe is closed."""
        return message.instead_of(EOFError, OSError, tell=lambda error: self._end(), **facts)

    def _end(self) -> str:
        self.process.join(_SECONDS_TO_END)
        code = self.process.exitcode
        return signal.Signals(-code).name if code is not None and code < 0 else f"exit code {code}"


class _Work:
    """The function of a worker. It is pickled while a process starts, as required for mapped files
    of the parent, but not sent at that time: `start` waits forever for a process that dies before
    it has read everything.
    """

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self.function = function
        self.pickled: bytes | memoryview = b""

    def __reduce__(self) -> tuple:
        self.pickled = ForkingPickler.dumps(self.function)
        return type(None), ()


def _serve(pipe: Connection, given: _Work | None) -> None:
    """The main function of a worker: answer batches until `_END`. A spawned worker is sent its
    function first.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which ends the workers
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if os.name != "nt":
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    with suppress(EOFError, OSError):  # the parent has ended
        try:
            with Errors.CN719.instead_of(Exception, tell=describe_error):
                work = pipe.recv() if given is None else given.function
        except ConnormError as error:
            pipe.send((None, error))
            return
        # What is there now stays: the collector need not read it again and again.
        gc.freeze()
        pipe.send((None, None))
        while (asked := pipe.recv()) is not _END:
            number, batch = asked
            try:
                with Errors.CN717.instead_of(Exception, tell=describe_error, number=number):
                    pipe.send((work(batch), None))
            except ConnormError as error:
                pipe.send((None, error))


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
    os._exit(1)


@contextmanager
def _no_signals() -> Iterator[None]:
    """Block signals while a process starts, since it can't handle them yet."""
    if os.name == "nt":
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
