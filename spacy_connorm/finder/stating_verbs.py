"""The verbs of statements, which say no more than "is": "liver was not found to be enlarged"."""

import re
from collections.abc import Iterator
from functools import lru_cache

from ..lang import any_of
from ..text.words import MOST_READERS, Words

_COLON = ":"


class StatingVerbs:
    """Finds the verbs of statements in one language. `stating_verbs_of` makes one for each."""

    def __init__(self, words: Words) -> None:
        """Compile the words of these verbs.

        words (Words): Reads the words of the language.
        """
        finder, copulas = words.language.finder, words.classes.copulas
        verbs = any_of(copulas | finder.statement_verbs | finder.showing_verbs)
        denial = any_of(finder.statement_denials)
        adverb = rf"(?:{any_of(finder.adverbs)}|\w{{1,20}}{any_of(finder.adverb_endings)})"
        reports, joints = any_of(finder.reports), any_of(finder.report_joints)
        start = rf"(?:{any_of(finder.relatives)}\s+)?(?:{denial}\s?)?"
        verb = rf"{start}\b{verbs}(?:\s?{denial}\b|\s+{verbs}\b){{0,4}}"
        prepositions = any_of(finder.report_prepositions)
        report = rf"(?:(?:\s+{adverb})?(?:\s+{reports}\s+(?:{prepositions}|{joints})|\s+{joints}))?"
        pattern = rf"(?<=\s)(?:{verb}{report}|{joints})(?=\s)|:(?=[ ])"
        self._verb = re.compile(rf"(?i){pattern}")
        # Twice as fast.
        self._lower_verb = re.compile(pattern)
        showing = any_of(finder.showing_verbs)
        self._stated = re.compile(rf"(?i)\b(?:({any_of(copulas)})|{showing})(?={denial}|\W|$)|:")
        self._shows = min(copulas & finder.showing_verbs, default="")

    def find(self, text: str) -> Iterator[tuple[int, int]]:
        """Find the verbs of several words, those that show something, and the colons that may stand
        for one: "nose: broad".

        text (str): Any text in lower case.
        YIELDS (Tuple[int, int]): The first character of each, and the one after it.
        """
        for match in self._lower_verb.finditer(text):
            if self._own_copula(match) not in (match[0], ""):
                yield match.span()

    def simplify(self, text: str) -> str:
        """Replace these by one copula: "was" for "was not found to be", "had" for "shows".

        text (str): The text of a window.
        RETURNS (str): The text.
        """
        return self._verb.sub(lambda match: self._own_copula(match) or match[0], text)

    def _own_copula(self, match: re.Match[str]) -> str:
        stated = self._stated.findall(match[0])
        if copulas := [*filter(None, stated)]:
            return copulas[-1]
        space = " " if match[0] == _COLON else ""
        return f"{space}{self._shows}" if stated and self._shows else ""


@lru_cache(MOST_READERS)
def stating_verbs_of(words: Words) -> StatingVerbs:
    """Get what finds the verbs of statements in a language.

    words (Words): Reads the words of the language.
    RETURNS (StatingVerbs): The same object for the same words while it is kept.
    """
    return StatingVerbs(words)
