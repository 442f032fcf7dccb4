"""What two texts must not differ in if they are to mean the same, however alike they look: a
number, a letter, one of two opposite words. "Type 1" is not "type 2", and nothing increased is
decreased.
"""

from collections import defaultdict
from collections.abc import Iterator
from functools import lru_cache
from itertools import chain
from typing import TypeAlias

from .words import Words, words_of

# What a text says, and of what: ("number", "2"). Tuples of texts cost a garbage collector nothing.
Statements: TypeAlias = tuple[tuple[str, str], ...]
_NUMBER, _LETTER = "number", "letter"
# `Words` writes those up to nine in digits. "X" is a letter, too.
_ROMAN = frozenset(["xi", "xii", "xiii", "xiv", "xv", "xvi"])
_SIDE, _REST = " / ", "-"
# The minimum length of what opposite beginnings and endings have in common.
_SHORTEST = 3
_CACHED = 65_536
_MOST_LANGUAGES = 16


class Opposites:
    """Knows the opposites of one language. `opposites_of` makes one for each."""

    def __init__(self, words: Words) -> None:
        """Sort the rows of a language.

        words (Words): Reads its words.
        """
        self._words = defaultdict[str, dict[str, str]](dict)
        self._beginnings: dict[str, tuple[str, str]] = {}
        self._endings: dict[str, tuple[str, str]] = {}
        for row in words.language.opposites:
            for side in row.sides.split(_SIDE):
                for word in side.split():
                    if word.endswith(_REST):
                        self._beginnings[word.rstrip(_REST)] = row.sides, side
                    elif word.startswith(_REST):
                        self._endings[word.lstrip(_REST)] = row.sides, side
                    else:
                        for written in words.normalized(word):
                            self._words[written][row.sides] = side
        self.stated = lru_cache(_CACHED)(self._stated)
        self._said_by = lru_cache(_CACHED)(self._read)

    def _stated(self, words: tuple[str, ...]) -> Statements:
        """List what a text says that another must not say otherwise. It is called as `stated`,
        which caches.

        words (Tuple[str, ...]): Its normalized words, see `Words.bag`.
        RETURNS (Statements): What it says; empty for most texts.
        """
        return tuple(chain.from_iterable(map(self._said_by, words)))

    def _read(self, word: str) -> Statements:
        """RETURNS (Statements): What a word says."""
        if word.isdigit() or word in _ROMAN:
            return ((_NUMBER, word),)
        if len(word) == 1 and word.isascii():
            return ((_LETTER, word.lower()),)
        return (*self._words.get(word, {}).items(), *self._affixes(word))

    def _affixes(self, word: str) -> Iterator[tuple[str, str]]:
        for length in range(2, len(word) - _SHORTEST + 1):
            if word[:length] in self._beginnings:
                about, side = self._beginnings[word[:length]]
                yield f"{about} {word[length:]}", side
            if word[-length:] in self._endings:
                about, side = self._endings[word[-length:]]
                yield f"{about} {word[:-length]}", side


def are_contrary(stated: Statements, others: Statements) -> bool:
    """Check whether each of two texts says something of the same that the other does not say.

    stated (Statements): What one says, see `Opposites.stated`.
    others (Statements): What the other says.
    RETURNS (bool): True for "type 2" and "type 1", not for "type 1 or 2" and "type 1".
    """
    for about in {about for about, _ in stated}:
        ours, theirs = ({side for of, side in said if of == about} for said in (stated, others))
        if ours - theirs and theirs - ours:
            return True
    return False


@lru_cache(_MOST_LANGUAGES)
def opposites_of(code: str) -> Opposites:
    """Get what knows the opposites of a language.

    code (str): ISO 639-1, as in `nlp.lang`.
    RETURNS (Opposites): The same object for the same language.
    """
    return Opposites(words_of(code))
