"""How long a tokenizer takes for punctuation, before it reads a text."""

import re
from collections import Counter
from typing import Any

from spacy.tokenizer import Tokenizer

_WORD = re.compile(r"\S+")
# The tokenizer takes as long for this many affixes as for a word or two.
_FREE = 10
# The number of characters that are searched for a prefix or a suffix.
_REACH = 100


def affix_work(text: str, tokenizer: Any, *, limit: int) -> int:
    """Estimate how long a tokenizer takes beyond the time that is linear in the length of a text.
    It strips the prefixes and suffixes of a word one by one, and reads the rest of the word each
    time; a word is any text without spaces.

    text (str): The text.
    tokenizer (Tokenizer): spaCy's, with its own prefixes and suffixes. For other tokenizers, the
        result is 0.
    limit (int): The value at which counting may stop.
    RETURNS (int): The sum over all words of the number of their affixes above ten, times their
        length.
    """
    if not isinstance(tokenizer, Tokenizer):
        return 0
    work = 0
    for word, times in Counter(_WORD.findall(text)).items():
        if len(word) > _FREE and work <= limit:
            most = _FREE + 1 + limit // len(word)
            affixes = _count_affixes(word, tokenizer, most)
            work += times * max(0, affixes - _FREE) * len(word)
    return work


def _count_affixes(word: str, tokenizer: Tokenizer, most: int) -> int:
    start, end, count = 0, len(word), 0
    while start < end and count < most:
        prefix = tokenizer.find_prefix(word[start : min(end, start + _REACH)])
        start += prefix
        suffix = tokenizer.find_suffix(word[max(start, end - _REACH) : end])
        end -= suffix
        if not prefix and not suffix:
            break
        count += bool(prefix) + bool(suffix)
    return count
