"""A bounded cache of recently used values."""

from collections.abc import Callable, Iterable, Mapping
from typing import Generic, TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")


class Cache(Generic[Key, Value]):
    """Keeps recently used values, in two generations: when the young one is full, it becomes the
    old one, and values that were not used since are dropped. Threads may share it.
    """

    def __init__(self, size: int) -> None:
        """size (int): At most how many values to keep, at least 2; 0 for none."""
        self._size = size
        self._young: dict[Key, Value] = {}
        self._old: dict[Key, Value] = {}

    def __len__(self) -> int:
        return len(self._young.keys() | self._old.keys())

    def __reduce__(self) -> tuple:
        return Cache, (self._size,)

    def get(self, key: Key) -> Value | None:
        """RETURNS (Optional[Value]): The value, now recently used; None if it is not there."""
        value = self._young.get(key)
        if value is None:
            value = self._old.get(key)
            if value is not None:
                self.put(key, value)
        return value

    def put(self, key: Key, value: Value) -> None:
        """Keep a value.

        key (Key): Its key.
        value (Value): The value, which is not None.
        """
        if 2 * len(self._young) >= self._size - 1:
            self._old, self._young = self._young, {}
        if self._size:
            self._young[key] = value

    def get_all(
        self, keys: Iterable[Key], fetch: Callable[[list[Key]], Mapping[Key, Value]]
    ) -> dict[Key, Value]:
        """Get many values, and fetch the missing ones.

        keys (Iterable[Key]): Their keys.
        fetch (Callable): Returns the values of keys; unknown keys may be left out.
        RETURNS (Dict[Key, Value]): The values that there are, by key.
        """
        found: dict[Key, Value] = {}
        missing = []
        for key in set(keys):
            # As `get`, inlined for the young values: most keys are among them.
            value = self._young.get(key)
            if value is None:
                value = self.get(key)
            if value is None:
                missing.append(key)
            else:
                found[key] = value
        if missing:
            for key, value in fetch(missing).items():
                self.put(key, value)
                found[key] = value
        return found
