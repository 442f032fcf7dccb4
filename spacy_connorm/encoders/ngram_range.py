"""The lengths of character n-grams."""

from collections.abc import Sequence

# Time grows with the length, and longer n-grams say nothing that shorter ones do not.
LONGEST_NGRAM = 100


def is_ngram_range(lengths: Sequence[int]) -> bool:
    """RETURNS (bool): Whether these are a shortest and a longest n-gram, in characters."""
    if len(lengths) != 2 or not all(type(length) is int for length in lengths):
        return False
    return 1 <= lengths[0] <= lengths[1] <= LONGEST_NGRAM
