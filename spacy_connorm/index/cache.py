"""Keep values in memory that take long to read or compute."""

from collections.abc import Callable, Iterable, Mapping
from typing import Generic, TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")


class Cache(Generic[Key, Value]):
    """Keeps values until there is no more room, then starts again without any. It can be shared
    between threads.

    size (int): The maximum number of values to keep; 0 for none.
    """

    def __init__(self, size: int) -> None:
        """Start empty.

        size (int): See `Cache`.
        """
        self.size = size
        self._values: dict[Key, Value] = {}

    def __len__(self) -> int:
        return len(self._values)

    def __reduce__(self) -> tuple:
        return Cache, (self.size,)

    def get(self, key: Key) -> Value | None:
        """Look up a value.

        RETURNS (Optional[Value]): The value; None if it is not in the cache.
        """
        return self._values.get(key)

    def put(self, key: Key, value: Value) -> None:
        """Keep a value.

        key (Key): Its key.
        value (Value): The value, which is not None.
        """
        if len(self._values) >= self.size:
            self._values = {}  # another thread may be reading the old ones
        if self.size:
            self._values[key] = value

    def resize(self, size: int) -> None:
        """Keep more or fewer values. Those that are kept are dropped if there are too many.

        size (int): See `Cache`.
        """
        self.size = size
        if len(self._values) > size:
            self._values = {}

    def get_all(
        self, keys: Iterable[Key], fetch: Callable[[list[Key]], Mapping[Key, Value]]
    ) -> dict[Key, Value]:
        """Get many values, and fetch the missing ones.

        keys (Iterable[Key]): Their keys.
        fetch (Callable): Returns the values of keys; unknown keys may be left out.
        RETURNS (Dict[Key, Value]): The values that exist, by key.
        """
        values, found, missing = self._values, {}, []
        for key in dict.fromkeys(keys):
            if key in values:
                found[key] = values[key]
            else:
                missing.append(key)
        if missing:
            for key, value in fetch(missing).items():
                self.put(key, value)
                found[key] = value
        return found
