"""Token ids: batches with little padding, cheap substitutes, tokenizers in forked processes."""

import os
import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import chain
from typing import Any

import numpy as np

# Marks a text that is its own form, so that no other text has an equal form.
_AS_IT_IS = "\0"


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
    most (int): Tokens per batch, including padding; a longer row gets its own batch.
    YIELDS (Ints1d): int64, the numbers of a batch's rows; each row is in one batch.
    """
    order = np.argsort(lengths, kind="stable")
    start = 0
    for end, row in enumerate(order.tolist()):
        # Lengths ascend, so this row would be the longest of its batch.
        if end > start and (end - start + 1) * lengths[row] > most:
            yield order[start:end]
            start = end
    if len(order):
        yield order[start:]


class TokenizerForms:
    """Computes normalized texts: cheaper than token ids, and equal only where these are equal."""

    def __init__(self, tokenizer: Any) -> None:
        """tokenizer (tokenizers.Tokenizer): Texts with equal forms have equal token ids."""
        self._normalizer = tokenizer.normalizer
        # In printable ASCII, BERT's normalizer changes only capitals; `str.lower` is faster.
        self._lowers = type(self._normalizer).__name__ == "BertNormalizer" and bool(
            self._normalizer.lowercase
        )
        special = [each.content for each in tokenizer.get_added_tokens_decoder().values()]
        # Special tokens are found before normalization: "[SEP]" is one, "[sep]" is not.
        self._special = re.compile("|".join(map(re.escape, special)) or "(?!)")

    def __call__(self, texts: list[str]) -> list[str]:
        """RETURNS (List[str]): One form per text."""
        return [self._form(text) for text in texts]

    def _form(self, text: str) -> str:
        if self._special.search(text):
            return _AS_IT_IS + text
        if self._lowers and text.isascii() and text.isprintable():
            return text.lower()
        return text if self._normalizer is None else self._normalizer.normalize_str(text)


@cache
def tokenize_without_threads() -> None:
    """Make the library tokenizers work without threads from the first fork on: its threads do not
    survive one.
    """
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=_set_no_threads)


def _set_no_threads() -> None:
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
