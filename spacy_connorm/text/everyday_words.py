"""Which words are frequent in plain text."""

from collections import Counter
from collections.abc import Iterable

from .word_bags import STOP_WORDS, normalized_words

_MILLION = 1_000_000


def frequent_words(lines: Iterable[str], *, per_million: float) -> list[str]:
    """Find the words that are frequent in a text.

    lines (Iterable[str]): The lines of the text.
    per_million (float): How many of a million words a frequent one makes up, at least.
    RETURNS (List[str]): These words as `normalized_words` gives them, most frequent first.
    """
    counts = Counter(word for line in lines for word in normalized_words(line))
    least = per_million * counts.total() / _MILLION
    return [
        word
        for word, count in counts.most_common()
        if count >= least and word not in STOP_WORDS and word.isalpha()
    ]
