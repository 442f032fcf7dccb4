"""Count the steps of a regular expression, which are the same on every machine: a backtracking
matcher over Python's own parse trees that does what the compiled one does.
"""

import re
import sys
from collections.abc import Callable, Sequence
from functools import cache
from re import _compiler, _constants, _parser
from typing import Any

# Given the position behind a match, whether the rest matches.
_Rest = Callable[[int], bool]
# Given a position and the rest, whether there is a match that starts there.
_Matcher = Callable[[int, _Rest], bool]

_SINGLE = {_constants.LITERAL, _constants.NOT_LITERAL, _constants.ANY, _constants.IN}
_REPEATS = {_constants.MAX_REPEAT, _constants.MIN_REPEAT, _constants.POSSESSIVE_REPEAT}
_DEEP = 100_000


class RegexSteps:
    """Runs one regular expression over one text and counts its steps."""

    def __init__(self, pattern: re.Pattern, text: str) -> None:
        self.steps = 0
        self.text = text
        self._groups: dict[int, str] = {}
        self._marks: list[tuple[int, int]] = []
        self._flags = pattern.flags
        self._match = self._sequence(_parser.parse(pattern.pattern, pattern.flags), pattern.flags)

    def scan(self) -> list[tuple[int, int]]:
        """As `re.finditer` does. RETURNS (List[Tuple[int, int]]): The spans that match."""
        spans: list[tuple[int, int]] = []
        start, last_empty = 0, -1
        while start <= len(self.text):
            least = start + (start == last_empty)
            end = self._run(start, lambda end, least=least: end >= least)
            if end is None:
                start += 1
                continue
            spans.append((start, end))
            last_empty = end if end == start else -1
            start = end
        return spans

    def match(self) -> int | None:
        """As `re.match` does. RETURNS (Optional[int]): Where the match ends."""
        return self._run(0, lambda end: True)

    def matches_fully(self) -> bool:
        """As `re.fullmatch` does."""
        return self._run(0, lambda end: end == len(self.text)) is not None

    def _run(self, start: int, accept: _Rest) -> int | None:
        ends: list[int] = []

        def rest(end: int) -> bool:
            if accept(end):
                ends.append(end)
                return True
            return False

        limit = sys.getrecursionlimit()
        sys.setrecursionlimit(_DEEP)
        try:
            return ends[0] if self._match(start, rest) else None
        finally:
            sys.setrecursionlimit(limit)

    def _sequence(self, items: Sequence[Any], flags: int) -> _Matcher:
        matchers = [self._item(*item, flags) for item in items]

        def match(at: int, rest: _Rest, number: int = 0) -> bool:
            if number == len(matchers):
                return rest(at)
            return matchers[number](at, lambda end: match(end, rest, number + 1))

        return matchers[0] if len(matchers) == 1 else match

    def _item(self, code: Any, value: Any, flags: int) -> _Matcher:
        if code in _SINGLE:
            return self._single(code, value, flags)
        if code in _REPEATS:
            return self._repeat(code, *value, flags)
        if code is _constants.BRANCH:
            ways = [self._sequence(way, flags) for way in value[1]]
            return lambda at, rest: any(way(at, rest) for way in ways)
        if code is _constants.SUBPATTERN:
            _, added, removed, items = value
            return self._sequence(items, (flags | added) & ~removed)
        if code is _constants.ATOMIC_GROUP:
            return self._alone(self._sequence(value, flags))
        if code in (_constants.ASSERT, _constants.ASSERT_NOT):
            return self._assertion(code, *value, flags)
        if code is _constants.AT:
            return self._border(code, value, flags)
        raise NameError(f"not counted: {code}")

    def _single(self, code: Any, value: Any, flags: int) -> _Matcher:
        is_match = _is_one(code, _frozen(value), flags)

        def match(at: int, rest: _Rest) -> bool:
            self.steps += 1
            return at < len(self.text) and is_match(self.text[at]) and rest(at + 1)

        return match

    def _border(self, code: Any, value: Any, flags: int) -> _Matcher:
        border = _compile(code, value, flags)

        def match(at: int, rest: _Rest) -> bool:
            self.steps += 1
            return border.match(self.text, at) is not None and rest(at)

        return match

    def _assertion(self, code: Any, direction: int, items: Any, flags: int) -> _Matcher:
        inner = self._sequence(items, flags)
        back = items.getwidth()[0] if direction < 0 else 0
        wanted = code is _constants.ASSERT

        def match(at: int, rest: _Rest) -> bool:
            found = at >= back and inner(at - back, lambda end: True)
            return found == wanted and rest(at)

        return match

    def _alone(self, inner: _Matcher) -> _Matcher:
        """Without going back into it."""

        def match(at: int, rest: _Rest) -> bool:
            ends: list[int] = []
            return inner(at, lambda end: not ends.append(end)) and rest(ends[0])  # type: ignore[func-returns-value]

        return match

    def _repeat(self, code: Any, least: int, most: Any, items: Any, flags: int) -> _Matcher:
        inner = self._sequence(items, flags)
        lazy = code is _constants.MIN_REPEAT

        def match(at: int, rest: _Rest, count: int = 0) -> bool:
            self.steps += 1

            def again(end: int) -> bool:
                # What matches nothing is not repeated for ever.
                return (end > at or count < least) and match(end, rest, count + 1)

            if count < least:
                return inner(at, again)
            if lazy:
                return rest(at) or (count < most and inner(at, again))
            return (count < most and inner(at, again)) or rest(at)

        return self._alone(match) if code is _constants.POSSESSIVE_REPEAT else match


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


@cache
def _is_one(code: Any, value: Any, flags: int) -> Callable[[str], bool]:
    one = _compile(code, list(value) if isinstance(value, tuple) else value, flags)
    return cache(lambda character: one.fullmatch(character) is not None)


def _compile(code: Any, value: Any, flags: int) -> re.Pattern:
    state = _parser.State()
    state.flags = flags
    state.str = ""
    return _compiler.compile(_parser.SubPattern(state, [(code, value)]), flags)
