"""How much punctuation spaCy's tokenizer has to take off words."""

import re
from collections.abc import Iterable

_WORD = re.compile(r"\S+")
_FIRST = re.compile(r"[\W_]*")
# Of a reversed word. "'s" is the one suffix of letters that may be repeated.
_LAST = re.compile(r"(?:[sS]['\u2019]|[\W_])*")
# The tokenizer takes as long for so many as for a word or two.
_FREE = 10


def affix_work(texts: Iterable[str]) -> int:
    """Tell how long a tokenizer takes beyond what grows with the length of texts. It takes the
    punctuation at both ends of a word off one by one, and reads the rest of the word each time; a
    word is whatever has no spaces. It remembers words, so each counts once.

    texts (Iterable[str]): The texts.
    RETURNS (int): The sum over all words: their punctuation beyond ten characters, times their
        length.
    """
    words = {word for text in texts for word in _WORD.findall(text) if len(word) > _FREE}
    return sum(max(0, _affixes(word) - _FREE) * len(word) for word in words)


def _affixes(word: str) -> int:
    first, last = _FIRST.match(word), _LAST.match(word[::-1])
    found = sum(match.end() for match in (first, last) if match)
    return min(found, len(word))
