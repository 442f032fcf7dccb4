"""Time calls by the clock and by the processor. Standard library only: scispaCy's environment
imports it, too.
"""

from collections.abc import Callable
from time import perf_counter, process_time
from typing import NamedTuple


class Seconds(NamedTuple):
    """How long a call took.

    clock (float): Seconds by the clock.
    processor (float): Processor seconds of all threads.
    """

    clock: float
    processor: float


def time_call(work: Callable[[], object]) -> Seconds:
    """RETURNS (Seconds): How long a call takes."""
    clock, processor = perf_counter(), process_time()
    work()
    return Seconds(perf_counter() - clock, process_time() - processor)


def clock_of(device: str) -> Callable[[], float]:
    """RETURNS (Callable[[], float]): A clock in seconds that first waits for the device."""
    if not device.startswith("cuda"):
        return perf_counter
    import torch

    def clock() -> float:
        torch.cuda.synchronize(device)
        return perf_counter()

    return clock
