"""JSON that stays one line for every reader, and the items of a JSON array read one by one, so that
one odd item does not hide the others.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .text import read_text

# Where some readers end a line, and what UTF-8 can't hold. In JSON, they are only in strings.
_ODD = re.compile("[\x85\u2028\u2029\ud800-\udfff]")


def json_line(value: Any) -> str:
    """Write a value as JSON, with letters of all scripts as they are.

    value (Any): The value.
    RETURNS (str): One line, however its reader splits lines, without lone surrogates.
    """
    return _ODD.sub(lambda odd: f"\\u{ord(odd[0]):04x}", json.dumps(value, ensure_ascii=False))


# Strings and brackets: what decides where an item ends.
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*(?:"|\\?\Z)|[\[\]{},]', re.DOTALL)
_OPENING, _CLOSING = frozenset("[{"), frozenset("]}")


def read_items(path: str | Path) -> Iterator[tuple[int, str]]:
    """Read the items of an array.

    path (Union[str, Path]): A file with one JSON array; its text is in memory.
    YIELDS (Tuple[int, str]): The line in which an item begins, from 1, and its JSON, which may be
        damaged.
    RAISES (ConnormError): The errors of `read_text`.
    """
    text = read_text(path)
    start = text.index("[") + 1 if "[" in text else len(text)
    line, counted, depth = 1, 0, 0
    for token in _TOKEN.finditer(text, start):
        mark = token[0]
        depth += (mark in _OPENING) - (mark in _CLOSING)
        if depth < 0 or (mark == "," and not depth):
            item = text[start : token.start()]
            begin = start + len(item) - len(item.lstrip())
            line, counted = line + text.count("\n", counted, begin), begin
            if item.strip():
                yield line, item.strip()
            start = token.end()
        if depth < 0:
            return
    if rest := text[start:].strip():
        yield line + text.count("\n", counted, start), rest
