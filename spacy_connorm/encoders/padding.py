"""Token ids in rectangles, with little padding."""

from collections.abc import Iterator, Sequence
from itertools import chain

import numpy as np


def pad(rows: Sequence[Sequence[int]], padding: int) -> tuple[np.ndarray, np.ndarray]:
    """Put rows of different lengths into one array.

    rows (Sequence[Sequence[int]]): Token ids, at least one row.
    padding (int): The id that fills rows up at their end.
    RETURNS (Tuple[np.ndarray, np.ndarray]): The ids, int64, and where they are not padding, bool;
        both of shape (rows, longest row).
    """
    lengths = np.fromiter(map(len, rows), dtype=np.int64, count=len(rows))
    mask = np.arange(lengths.max()) < lengths[:, np.newaxis]
    ids = np.full(mask.shape, padding, dtype=np.int64)
    ids[mask] = np.fromiter(chain.from_iterable(rows), dtype=np.int64, count=lengths.sum())
    return ids, mask


def batches_by_length(lengths: Sequence[int], most: int) -> Iterator[list[int]]:
    """Put rows of about one length together.

    lengths (Sequence[int]): The length of each row. Rows without tokens are in no batch.
    most (int): Tokens of a batch, padding included; a longer row is alone.
    YIELDS (List[int]): The rows of a batch, by number; short ones first.
    """
    batch: list[int] = []
    for row in sorted(filter(lengths.__getitem__, range(len(lengths))), key=lengths.__getitem__):
        # The rows ascend, so the last one is as long as the batch is wide.
        if batch and (len(batch) + 1) * lengths[row] > most:
            yield batch
            batch = []
        batch.append(row)
    if batch:
        yield batch
