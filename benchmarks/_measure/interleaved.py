"""Loops that take turns, and the clock of a training step; for `training.py`."""

from collections.abc import Callable, Iterator, Sequence
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from _common.training_loops import Batches, House, Loop


def race(
    loops: "Sequence[Loop]", batches: "Batches", steps: int, repeats: int
) -> list[list[float]]:
    """Let loops take turns on the same batches, so that what else the machine does falls on all of
    them alike.

    loops (Sequence[Loop]): The loops; their encoders change.
    batches (Batches): The batches.
    steps (int): Steps of a turn.
    repeats (int): Turns of each.
    RETURNS (List[List[float]]): Of each loop: the seconds of its turns.
    """
    for loop in loops:
        loop.step(batches, 0)  # the first fills caches
    times: list[list[float]] = [[] for _ in loops]
    for repeat in range(repeats):
        turn = repeat % len(loops)
        for place in [*range(turn, len(loops)), *range(turn)]:
            clock = clock_of(loops[place].device)
            start = clock()
            for number in numbers(batches, repeat, steps):
                loops[place].step(batches, number)
            times[place].append(clock() - start)
    return times


def numbers(batches: "Batches", repeat: int, steps: int) -> Iterator[int]:
    """RETURNS (Iterator[int]): The batches of a turn; the first of all is for warming up."""
    return ((1 + repeat * steps + step) % len(batches) for step in range(steps))


def texts_of_turns(batches: "Batches", steps: int, repeats: int) -> list[int]:
    """RETURNS (List[int]): How many texts each turn of a `race` has."""
    return [
        sum(len(batches.rows[number]) for number in numbers(batches, repeat, steps))
        for repeat in range(repeats)
    ]


def clock_of(device: str) -> Callable[[], float]:
    """RETURNS (Callable[[], float]): Seconds, once the device has done what it was told."""
    if not device.startswith("cuda"):
        return perf_counter
    import torch

    def clock() -> float:
        torch.cuda.synchronize(device)
        return perf_counter()

    return clock


def timed_step(
    loop: "House", batches: "Batches", number: int, objectives: dict[str, Any]
) -> dict[str, float]:
    """RETURNS (Dict[str, float]): Seconds of each objective, and of the rest of the step."""
    import torch

    from spacy_connorm.training.relations import relate

    clock = clock_of(loop.device)
    start = clock()
    rows = batches.rows[number]
    places, micro_batches = zip(*batches.house.micro_batches(rows), strict=True)
    vectors = loop.encode(micro_batches, torch.from_numpy(np.concatenate(places)))
    seconds = {"rest": clock() - start}
    for name, objective in objectives.items():
        leaf = vectors.detach().requires_grad_()
        start = clock()
        relations = relate([batches.pool.concepts[row] for row in rows], loop.device)
        objective(leaf, relations).backward()
        seconds[name] = clock() - start
    start = clock()
    vectors.backward(leaf.grad)
    loop.optimizer.step()
    loop.optimizer.zero_grad()
    seconds["rest"] += clock() - start
    return seconds
