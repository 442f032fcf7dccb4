"""What both children of `peers.py` have in common: they answer commands, one JSON object a line.

Only the standard library: scispaCy's environment imports it too.
"""

import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from time import perf_counter, process_time
from typing import Any


def serve(actions: Mapping[str, Callable[..., Any]]) -> None:
    """Answer commands until there are no more.

    actions (Mapping[str, Callable[..., Any]]): What to call for each, with the command's other
        fields; what it returns is the answer.
    """
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf8")
    # Libraries tell their progress on standard output, where answers must stand alone.
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    for line in sys.stdin:
        command = json.loads(line)
        answer = actions[command.pop("do")](**command)
        print(json.dumps(answer), file=answers, flush=True)


def seconds(work: Callable[[], object]) -> float:
    """RETURNS (float): How long it takes."""
    return both_seconds(work)[0]


def both_seconds(work: Callable[[], object]) -> tuple[float, float]:
    """RETURNS (Tuple[float, float]): How long it takes, and what all threads work for it."""
    clock, processor = perf_counter(), process_time()
    work()
    return perf_counter() - clock, process_time() - processor


def calls(by_document: Sequence[Sequence[str]], documents: int) -> Iterator[list[str]]:
    """Share mentions out to calls.

    by_document (Sequence[Sequence[str]]): The mentions of each document.
    documents (int): Of a call; 0 for one mention a call.
    YIELDS (List[str]): The mentions of each call, in order.
    """
    if not documents:
        yield from ([mention] for mentions in by_document for mention in mentions)
        return
    for first in range(0, len(by_document), documents):
        batch = by_document[first : first + documents]
        yield [mention for mentions in batch for mention in mentions]
