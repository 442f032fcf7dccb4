"""Token ids: batches with little padding, and tokenizers in forked processes."""

import os
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from tokenizers import Tokenizer

# The fewest that leave room for a text: the two at the ends are special ones.
FEWEST_TOKENS = 3
# To hand fewer texts than these to other threads takes longer than to tokenize them.
_WORTH_THREADS = 64


def tokenize(tokenizer: "Tokenizer", texts: list[str], **options: Any) -> list[list[int]]:
    """Get the token ids of texts.

    tokenizer (Tokenizer): Of the library tokenizers.
    texts (List[str]): b texts.
    **options (Any): Those of its `encode`.
    RETURNS (List[List[int]]): The ids of each.
    """
    if len(texts) < _WORTH_THREADS:
        return [tokenizer.encode(text, **options).ids for text in texts]
    return [encoding.ids for encoding in tokenizer.encode_batch_fast(texts, **options)]


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


def batches_by_length(lengths: Sequence[int] | np.ndarray, most: int) -> Iterator[np.ndarray]:
    """Group rows of similar length into batches, shortest first.

    lengths (Sequence[int]): The length of each row.
    most (int): The maximum number of tokens per batch, including padding; a longer row gets its own
        batch.
    YIELDS (Ints1d): int64, the numbers of a batch's rows; each row is in one batch.
    """
    order = np.argsort(lengths, kind="stable")
    ordered = np.asarray(lengths)[order]
    start = 0
    while start < len(order):
        # The last row of a batch is its longest.
        shortest = int(ordered[start])
        most_rows = max(1, most // shortest) if shortest else len(order)
        window = ordered[start : start + most_rows]
        sizes = window * np.arange(1, len(window) + 1)
        end = start + max(1, int(np.searchsorted(sizes, most, side="right")))
        yield order[start:end]
        start = end


@cache
def tokenize_without_threads() -> None:
    """Make the library tokenizers work without threads after the first fork, since its threads do
    not survive it.
    """
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=lambda: os.environ.setdefault("TOKENIZERS_PARALLELISM", "false"))
