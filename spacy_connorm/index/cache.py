"""A bounded memory of what was used last."""

from collections.abc import Callable, Iterable, Mapping
from typing import Generic, TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")


class Cache(Generic[Key, Value]):
    """Keeps the values that were used last, in two generations: once the younger one is full, it
    becomes the older one, and what nobody has asked for since goes. Threads may share it.
    """

    def __init__(self, size: int) -> None:
        """size (int): Most values kept, at least 2; 0 to keep none."""
        self._size = size
        self._young: dict[Key, Value] = {}
        self._old: dict[Key, Value] = {}

    def __len__(self) -> int:
        return len(self._young.keys() | self._old.keys())

    def __reduce__(self) -> tuple:
        return Cache, (self._size,)

    def get(self, key: Key) -> Value | None:
        """RETURNS (Optional[Value]): The value, if it is still there; used from now on."""
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
        """Get many values, and fetch those that are not there.

        keys (Iterable[Key]): Their keys.
        fetch (Callable): Gives the values of some keys; those that there are not may be missing.
        RETURNS (Dict[Key, Value]): What is known of the keys.
        """
        found: dict[Key, Value] = {}
        missing = []
        for key in set(keys):
            # What `get` does, for the young: most of a long stream of names are among them.
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
