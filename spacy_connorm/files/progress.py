"""Progress bars on a terminal."""

from collections.abc import Iterable
from typing import Any

from tqdm import tqdm

BYTES = "B"
# Seconds before a bar is drawn.
_DELAY = 2


def progress_bar(
    items: Iterable[Any] | None = None,
    *,
    unit: str,
    description: str | None = None,
    total: int | None = None,
    initial: int = 0,
) -> "tqdm[Any]":
    """Create a bar on standard error that shows how far some work is: only if that is a terminal,
    only after two seconds, and only as long as the work takes.

    items (Optional[Iterable]): What is worked on, if the bar counts it while it is iterated over.
    unit (str): What is counted, e.g. "texts". `BYTES` are written as kB, MB and GB.
    description (Optional[str]): What is done with it.
    total (Optional[int]): The number of items; counted without an end if it is not known.
    initial (int): The number of items that are already done.
    RETURNS (tqdm): The bar, which is an iterator over the items, and a context manager that closes
        it. Without items, `update` counts.
    """
    return tqdm(
        items,
        description,
        total,
        unit=unit if unit == BYTES else f" {unit}",
        unit_scale=unit == BYTES,
        initial=initial,
        delay=_DELAY,
        leave=False,
        disable=None,
    )
