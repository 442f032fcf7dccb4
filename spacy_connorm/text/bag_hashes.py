"""Hashes of words and of bags of words. The hash of a bag is the sum of the hashes of its words, so
the hash of any window of words is a difference of running sums. Indexes store these hashes: if you
change them, or how bags are made (`words`), raise `FORMAT_VERSION`.
"""

from collections.abc import Callable, Iterable
from functools import lru_cache

import numpy as np
from spacy.strings import hash_string  # type: ignore[attr-defined]

MODULUS = 1 << 64
# 64 bits of a normalized word, as spaCy hashes strings.
hash_word: Callable[[str], int] = hash_string


def hash_bags(bags: Iterable[tuple[str, ...]]) -> np.ndarray:
    """Hash bags of words.

    RETURNS (np.ndarray): uint64 (b,).
    """
    return np.fromiter(map(hash_bag, bags), dtype="uint64")


def hash_bag(bag: tuple[str, ...]) -> int:
    """Hash a bag of words. The hash is the sum of its words' hashes, so the hash of any window of
    words is a difference of running sums.

    RETURNS (int): 64 bits.
    """
    return sum(map(hash_word, bag)) % MODULUS


def hash_parts(words: np.ndarray) -> np.ndarray:
    """Hash the parts that a substitution may replace in bags: no word, one word, or two words if at
    least one other is left.

    words (np.ndarray): uint64 (b, k): the hashes of the words of b bags.
    RETURNS (np.ndarray): uint64 (b, 1 + k + k * (k - 1) / 2): hashes, beginning with that of no
        word.
    """
    size = words.shape[1]
    one, other = pair_places(size)
    parts = [np.zeros((len(words), 1), dtype="uint64")]
    if size > 1:
        parts.append(words)
    if size > 2:
        parts.append(words[:, one] + words[:, other])
    return np.hstack(parts)


@lru_cache(maxsize=128)
def pair_places(size: int) -> tuple[np.ndarray, np.ndarray]:
    """List all pairs of a number of words. Mentions of the same length share them.

    RETURNS (Tuple[Ints1d, Ints1d]): int64: the positions of the first and the second word of each
        pair.
    """
    one, other = np.triu_indices(size, 1)
    return one, other
