"""Batches of texts of any length."""

import sys
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

Item = TypeVar("Item")


def batched(
    items: Iterable[Item], length: Callable[[Item], int], characters: int, most: int = sys.maxsize
) -> Iterator[list[Item]]:
    """Split items with texts into batches.

    items (Iterable[Any]): The items.
    length (Callable[[Any], int]): Returns the number of characters of an item.
    characters (int): The maximum number of characters in a batch of several items.
    most (int): The maximum number of items.
    YIELDS (List[Any]): One item or more, in order.
    """
    batch, total = list[Item](), 0
    for item in items:
        size = length(item)
        if batch and (len(batch) == most or total + size > characters):
            yield batch
            batch, total = [], 0
        batch.append(item)
        total += size
    if batch:
        yield batch
