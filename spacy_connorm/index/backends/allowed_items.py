"""Which items of a search may be found."""

from functools import cached_property

import numpy as np


class AllowedItems:
    """Items that may be found. What searches need to know of them is worked out once, when it is
    first asked for, so that searches with the same filter cost nothing that grows with all items.
    """

    def __init__(self, mask: np.ndarray) -> None:
        """mask (np.ndarray): bool (items,): which may be found."""
        self.mask = mask

    @cached_property
    def count(self) -> int:
        """RETURNS (int): How many may be found."""
        return int(np.count_nonzero(self.mask))

    @cached_property
    def items(self) -> np.ndarray:
        """RETURNS (Ints1d): int64 (count,): the items, ascending."""
        return np.flatnonzero(self.mask)

    @cached_property
    def bits(self) -> np.ndarray:
        """RETURNS (np.ndarray): uint8: one bit per item, the first items in the lowest bits."""
        return np.packbits(self.mask, bitorder="little")
