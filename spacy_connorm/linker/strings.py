"""Strings of a store by number, cached."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

_Read = Callable[[Iterable[int]], Mapping[int, Any]]


class Strings:
    """Caches the values that a store has for some numbers, so that many are read at once, much
    faster than from SQLite. Threads may share it.
    """

    def __init__(self, numbers: np.ndarray) -> None:
        """numbers (Ints1d): All numbers that may be read."""
        self._numbers = numbers
        # The last one is the value at place -1.
        self._values = np.full(len(numbers) + 1, None, dtype="object")
        self._values[-1] = ""

    def get(self, places: np.ndarray, read: _Read) -> list[Any]:
        """Read values.

        places (Ints1d): n places in `numbers`; -1 for none.
        read (Callable): Returns the values of numbers.
        RETURNS (List[Any]): n values; an empty string for none.
        """
        values = self._values[places].tolist()
        if None in values:
            missing = {
                place for place, value in zip(places.tolist(), values, strict=True) if value is None
            }
            self._fill(sorted(missing), read)
            values = self._values[places].tolist()
        return values

    def _fill(self, places: list[int], read: _Read) -> None:
        numbers = self._numbers[places].tolist()
        known = read(numbers)
        for place, number in zip(places, numbers, strict=True):
            self._values[place] = known[number]
