"""How both children of `peers.py` answer commands: one JSON object per line. Standard library only:
scispaCy's environment imports it, too.
"""

import gc
import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any


def serve(actions: Mapping[str, Callable[..., Any]]) -> None:
    """Answer commands until standard input ends.

    actions (Mapping[str, Callable[..., Any]]): The function of each command. It is called with the
        command's other fields; what it returns is the answer.
    """
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf8")
    # Libraries print progress to standard output, which is for answers only.
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    for line in sys.stdin:
        command = json.loads(line)
        # Whether a full collection, a tenth of a second, falls into a reading would be chance.
        gc.collect()
        answer = actions[command.pop("do")](**command)
        print(json.dumps(answer), file=answers, flush=True)


def calls(by_document: Sequence[Sequence[str]], documents: int) -> Iterator[list[str]]:
    """Group mentions into calls.

    by_document (Sequence[Sequence[str]]): The mentions of each document.
    documents (int): Documents per call; 0 for one mention per call.
    YIELDS (List[str]): The mentions of each call, in order.
    """
    if not documents:
        yield from ([mention] for mentions in by_document for mention in mentions)
        return
    for first in range(0, len(by_document), documents):
        batch = by_document[first : first + documents]
        yield [mention for mentions in batch for mention in mentions]
