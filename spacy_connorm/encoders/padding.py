"""Batches of token ids with little padding."""

from collections.abc import Iterator, Sequence
from itertools import chain

import numpy as np


def pad(rows: Sequence[Sequence[int]], padding: int) -> tuple[np.ndarray, np.ndarray]:
    """Pad rows at their end to the length of the longest one.

    rows (Sequence[Sequence[int]]): Token ids, at least one row.
    padding (int): The id of the padding token.
    RETURNS (Tuple[np.ndarray, np.ndarray]): The ids, int64, and the mask, bool, False for padding;
        both of shape (rows, longest row).
    """
    lengths = np.fromiter(map(len, rows), dtype=np.int64, count=len(rows))
    mask = np.arange(lengths.max()) < lengths[:, np.newaxis]
    ids = np.full(mask.shape, padding, dtype=np.int64)
    ids[mask] = np.fromiter(chain.from_iterable(rows), dtype=np.int64, count=lengths.sum())
    return ids, mask


def batches_by_length(lengths: Sequence[int], most: int) -> Iterator[list[int]]:
    """Group rows of similar length into batches, shortest first.

    lengths (Sequence[int]): The length of each row. Rows of length 0 are skipped.
    most (int): Tokens per batch, including padding; a longer row gets its own batch.
    YIELDS (List[int]): The numbers of a batch's rows.
    """
    batch: list[int] = []
    for row in sorted(filter(lengths.__getitem__, range(len(lengths))), key=lengths.__getitem__):
        # Lengths ascend, so this row would be the longest of its batch.
        if batch and (len(batch) + 1) * lengths[row] > most:
            yield batch
            batch = []
        batch.append(row)
    if batch:
        yield batch
