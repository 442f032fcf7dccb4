"""Count what Python code does: the same on every machine, whatever else runs there.

Counted are the instructions of Python functions, the characters that methods of the text and of its
pieces handle, and those that regular expressions read. How many steps a regular expression takes
for a character is counted by `regex_steps`.
"""

import re
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import FrameType, ModuleType
from typing import Any, NamedTuple
from unittest.mock import patch


class Work(NamedTuple):
    """instructions (int): Byte code instructions.
    characters (int): Handled by methods of strings.
    scanned (int): Read by regular expressions.
    """

    instructions: int
    characters: int
    scanned: int


class _Counter:
    instructions = characters = scanned = 0


_COUNTER = _Counter()


def count_work(function: Callable[[Any], Any], value: Any, modules: Iterable[ModuleType]) -> Work:
    """Call a function, and count.

    function (Callable[[Any], Any]): The function.
    value (Any): Its argument; texts are replaced by ones that count.
    modules (Iterable[ModuleType]): Their regular expressions count.
    RETURNS (Work): What was done.
    """
    _COUNTER.instructions = _COUNTER.characters = _COUNTER.scanned = 0
    counted = _counted(value)
    tracer = sys.gettrace()
    with _counting_patterns(modules):
        sys.settrace(_trace)
        try:
            function(counted)
        finally:
            sys.settrace(tracer)
    return Work(_COUNTER.instructions, _COUNTER.characters, _COUNTER.scanned)


def _trace(frame: FrameType, event: str, argument: Any) -> Any:
    if frame.f_code.co_filename == __file__:
        return None
    frame.f_trace_lines, frame.f_trace_opcodes = False, True
    return _count_instruction


def _count_instruction(frame: FrameType, event: str, argument: Any) -> Any:
    _COUNTER.instructions += 1
    return _count_instruction


class _Text(str):
    """A text whose methods count the characters that they handle."""

    def __getitem__(self, key: Any) -> str:
        return _handled(super().__getitem__(key))

    def __contains__(self, part: object) -> bool:
        place = super().find(str(part))
        _COUNTER.characters += len(self) if place < 0 else place + 1
        return place >= 0

    def find(self, part: str, *borders: int) -> int:
        place = super().find(part, *borders)
        start, end = _borders(self, borders)
        _COUNTER.characters += (end if place < 0 else place + 1) - start
        return place

    def rfind(self, part: str, *borders: int) -> int:
        place = super().rfind(part, *borders)
        start, end = _borders(self, borders)
        _COUNTER.characters += end - max(start, place)
        return place


def _borders(text: str, borders: tuple[int, ...]) -> tuple[int, int]:
    return (*borders, *(0, len(text))[len(borders) :])  # type: ignore[return-value]


def _reading(name: str) -> Callable:
    method = getattr(str, name)

    def read(self: str, *arguments: Any, **options: Any) -> Any:
        _COUNTER.characters += len(self)
        return _handled(method(self, *arguments, **options))

    return read


_METHODS = """
__add__ __mod__ __mul__ capitalize casefold count encode expandtabs format index isalnum isalpha
isdecimal isdigit islower isnumeric isprintable isspace istitle isupper join ljust lower lstrip
partition removeprefix removesuffix replace rindex rpartition rsplit rstrip split splitlines strip
swapcase title translate upper zfill
"""
for _name in _METHODS.split():
    setattr(_Text, _name, _reading(_name))


def _handled(value: Any) -> Any:
    if isinstance(value, str):
        _COUNTER.characters += len(value)
    return _counted(value)


def _counted(value: Any) -> Any:
    if type(value) is str:
        return _Text(value)
    if type(value) in (list, tuple):
        return type(value)(map(_counted, value))
    if type(value) is dict:
        return {key: _counted(each) for key, each in value.items()}
    return value


class _Pattern:
    """A regular expression that counts the characters it reads."""

    def __init__(self, pattern: re.Pattern) -> None:
        self._pattern = pattern

    def __getattr__(self, name: str) -> Any:
        return getattr(self._pattern, name)

    def _once(self, name: str, text: str, *borders: int) -> re.Match | None:
        found: re.Match | None = getattr(self._pattern, name)(text, *borders)
        start, end = _borders(text, borders)
        if found is not None:
            end = found.end()
        elif name != "search":
            end = start
        _COUNTER.scanned += 1 + end - start
        return found

    def match(self, text: str, *borders: int) -> re.Match | None:
        return self._once("match", text, *borders)

    def fullmatch(self, text: str, *borders: int) -> re.Match | None:
        return self._once("fullmatch", text, *borders)

    def search(self, text: str, *borders: int) -> re.Match | None:
        return self._once("search", text, *borders)

    def finditer(self, text: str, *borders: int) -> Iterator[re.Match]:
        start, end = _borders(text, borders)
        _COUNTER.scanned += end - start
        return self._pattern.finditer(text, *borders)

    def findall(self, text: str) -> list:
        _COUNTER.scanned += len(text)
        return [_counted(match) for match in self._pattern.findall(text)]

    def split(self, text: str) -> list:
        _COUNTER.scanned += len(text)
        return [_counted(word) for word in self._pattern.split(text)]

    def sub(self, replacement: Any, text: str) -> str:
        _COUNTER.scanned += len(text)
        return _Text(self._pattern.sub(replacement, text))


@contextmanager
def _counting_patterns(modules: Iterable[ModuleType]) -> Iterator[None]:
    undo = []
    for module in modules:
        for name, value in vars(module).copy().items():
            if isinstance(value, re.Pattern):
                undo.append(patch.object(module, name, _Pattern(value)))
    for replacement in undo:
        replacement.start()
    try:
        yield
    finally:
        for replacement in undo:
            replacement.stop()
