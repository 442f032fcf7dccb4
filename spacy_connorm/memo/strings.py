"""What a store knows by number, without asking it twice."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

_Read = Callable[[Iterable[int]], Mapping[int, Any]]


class Strings:
    """Keeps what a store says of some numbers, once it has been asked: many are then found at once,
    in a small part of the time that SQLite takes. Threads may share it.
    """

    def __init__(self, numbers: np.ndarray) -> None:
        """numbers (Ints1d): All that will be asked for."""
        self._numbers = numbers
        # The last is what the place -1 stands for.
        self._values = np.full(len(numbers) + 1, None, dtype="object")
        self._values[-1] = ""

    def get(self, places: np.ndarray, read: _Read) -> list[Any]:
        """Read values.

        places (Ints1d): n places of those numbers; -1 for none.
        read (Callable): Gives the values of some numbers.
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
