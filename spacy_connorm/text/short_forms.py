"""What a short form looks like: "ALL", "DM1", "mRNA", and in the plural "CVAs". What a text defines
is found by `abbreviations`.
"""

import re
from functools import lru_cache
from string import ascii_uppercase, digits

# Longer words in capitals are names, in characters.
_LONGEST = 10
_FEWEST_SIGNS = 2
# "1", "2a", "IV".
NUMBER = re.compile(r"\d+[A-Za-z]?|[IVX]+")
_WORD = re.compile(r"[a-z]{4}|(?<![^\W_])[^\W\d_][a-z]{3,}(?![^\W_])|\s")
_SIGNS = frozenset(ascii_uppercase + digits)
# Longer words in capitals may be plurals: "TUMORS".
_LONGEST_WITHOUT_PLURAL = 4
_CACHED = 10_000


@lru_cache(maxsize=_CACHED)
def is_short_form(text: str) -> bool:
    """Check whether a text looks like a short form: at most ten characters, at least two of them
    capitals or digits, without a word ("L-Dopa", "McArdle"), and perhaps with a number after it
    ("MEN 2a").

    text (str): A text.
    RETURNS (bool): True if it does.
    """
    if len(text) > _LONGEST or not any(map(str.isalpha, text)):
        return False
    signs = sum(letter.isupper() or letter.isdigit() for letter in text)
    first, *rest = text.rsplit(maxsplit=1)
    is_numbered = bool(rest) and NUMBER.fullmatch(rest[0])
    return signs >= _FEWEST_SIGNS and not _WORD.search(first if is_numbered else text)


def drop_plural(short: str) -> str:
    """Remove the "s" after the capitals or digits of a short form: "CVAs" becomes "CVA".

    short (str): A word.
    RETURNS (str): The word without it.
    """
    is_plural = short.endswith("s") and len(short) > _FEWEST_SIGNS
    return short[:-1] if is_plural and _SIGNS.issuperset(short[-3:-1]) else short


def is_never_plural(word: str) -> bool:
    """Check whether a word in capitals is too short for a plural in capitals: "AIDS".

    word (str): A word.
    RETURNS (bool): True if its last letter is not a plural.
    """
    return len(word) <= _LONGEST_WITHOUT_PLURAL and word.isupper()
