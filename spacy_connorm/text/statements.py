"""Find where the statements of a note begin: sentences, but also list items and headings."""

import re
from collections.abc import Sequence

_ENDS = frozenset(".!?")
_CONTINUED = re.compile(r"(?:,|\b(?:and|or|of|with|the|no|without))\s*\Z", re.IGNORECASE)


def find_statements(words: Sequence[str]) -> list[int]:
    """Find the words that begin a statement. A statement ends with its sentence, with an empty
    line, and with a line if the next one does not continue in lower case.

    words (Sequence[str]): The words and signs of a text; white space with a line break is a word,
        too.
    RETURNS (List[int]): Their numbers, in order; 0 is the first, if there are any.
    """
    starts = [0] if words else []
    for number, word in enumerate(words[1:], start=1):
        before = words[number - 1]
        if before in _ENDS or _is_line_end(before, words[number - 2 : number - 1], word):
            starts.append(number)
    return starts


def _is_line_end(white_space: str, before: Sequence[str], word: str) -> bool:
    if "\n" not in white_space:
        return False
    if white_space.count("\n") > 1:
        return True
    return not (word[:1].islower() or any(map(_CONTINUED.search, before)))
