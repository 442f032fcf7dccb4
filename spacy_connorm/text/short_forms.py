"""What a short form looks like: "ALL", "DM1", "mRNA", and in the plural "CVAs". What a text defines
is found by `abbreviations`.
"""

import re
from functools import lru_cache

# Longer texts in capitals are headings, in characters.
_LONGEST = 10
_FEWEST_SIGNS = 2
_WHOLE_WORD = re.compile(r"(?<![^\W_])[^\W\d_][a-z]{3,}(?![^\W_])")
_PLURAL = re.compile(r"(?<=[A-Z0-9]{2})s\Z")
# Longer words in capitals may be plurals: "TUMORS".
_LONGEST_WITHOUT_PLURAL = 4
_CACHED = 10_000


@lru_cache(maxsize=_CACHED)
def is_short_form(text: str) -> bool:
    """Check whether a text looks like a short form: a single word of at most ten characters, with
    two capitals or digits, without a whole word ("L-Dopa"), and with a digit or no fewer capitals
    than small letters ("McArdle").

    text (str): A text.
    RETURNS (bool): True if it does.
    """
    if len(text) > _LONGEST or any(map(str.isspace, text)) or not any(map(str.isalpha, text)):
        return False
    capitals, digits, small = (
        sum(map(kind, text)) for kind in (str.isupper, str.isdigit, str.islower)
    )
    looks_short = capitals + digits >= _FEWEST_SIGNS and (digits or capitals >= small)
    return bool(looks_short) and not _WHOLE_WORD.search(text)


def drop_plural(short: str) -> str:
    """Remove the "s" after the capitals or digits of a short form: "CVAs" becomes "CVA".

    short (str): A word.
    RETURNS (str): The word without it.
    """
    return _PLURAL.sub("", short)


def is_never_plural(word: str) -> bool:
    """Check whether a word in capitals is too short for a plural in capitals: "AIDS".

    word (str): A word.
    RETURNS (bool): True if its last letter is not a plural.
    """
    return len(word) <= _LONGEST_WITHOUT_PLURAL and word.isupper()
