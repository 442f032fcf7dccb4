"""Align the letters of a short form with a long form (Schwartz & Hearst 2003, section 3).

Schwartz and Hearst take the shortest long form that has the letters in order, the first of them at
the start of a word. We take the one with the most letters at the start of words, and the shortest
of those: "attenuated adenomatous polyposis coli" for AAPC.
"""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Collection, Sequence
from math import inf
from typing import NamedTuple

# The score of a letter at the start of a word, at the start of a linking word, and directly after
# the previous letter.
_INITIAL = 2.0
_INITIAL_OF_LINK = 1.0
_FOLLOWING = 0.5
# The cost of a word without a letter or of a comma between letters, and its factor at the end.
_SKIPPED = 1.0
_TRAILING = 1.5
_LINKING = frozenset({"a", "an", "at", "by", "for", "from", "in", "of", "on", "the", "to", "with"})
_CONJUNCTIONS = frozenset({"and", "or"})
# Short forms often omit them.
_HEADS = frozenset({"gene", "genes", "locus", "protein"})
# Long forms don't start with these; some start with other links ("in situ hybridization").
_NO_START = frozenset(
    {"a", "also", "an", "and", "are", "as", "but", "by", "for", "from", "had", "has", "have", "is"}
    | {"of", "or", "that", "the", "this", "to", "was", "were", "which", "with"}
)
# Each letter is tried at each of its places: more letters or characters than these are not aligned.
_MOST_LETTERS = 50
_LONGEST_PASSAGE = 500
_WORD = re.compile(r"\S+")
_APOSTROPHES = "'’"
# Characters that don't end a word where a letter follows: "Wilms'", "i.e.".
_INSIDE = f"{_APOSTROPHES}."
_GREEK = str.maketrans("αβγδεζηθικλμνξοπρστυφχψω", "abgdezhtiklmnxoprstupcpo")


class LongForm(NamedTuple):
    """A long form at the end of a passage.

    start (int): Its offset in the passage.
    score (float): The average score of the short form's letters: 2 if all start words.
    """

    start: int
    score: float


class _Place(NamedTuple):
    """A possible place of a letter of the short form.

    at (int): The offset in the passage.
    word (int): The number of its word.
    gain (float): Its score there.
    before (float): The cost of skipping all words before its own.
    through (float): The same, including its own word.
    """

    at: int
    word: int
    gain: float
    before: float
    through: float


class _Way(NamedTuple):
    """The best placement of the last letters of the short form, starting at `place`."""

    place: _Place
    score: float


def align(short: str, passage: str) -> LongForm | None:
    """Find the best long form at the end of a passage. For n letters it has at most
    min(n + 5, 2 n) words.

    short (str): The short form.
    passage (str): The text before it, or in the bracket after it.
    RETURNS (Optional[LongForm]): None if the passage does not have the letters, if these are more
        than 50, or if the passage has more than 500 characters.
    """
    letters = [letter for letter in fold(short) if letter.isalnum()]
    if len(letters) > _MOST_LETTERS or len(passage) > _LONGEST_PASSAGE:
        return None
    most_words = min(len(letters) + 5, 2 * len(letters))
    words = list(_WORD.finditer(passage))[-most_words:] if letters else []
    places, cost = _find_places(passage, words, set(letters))
    last = places[letters[-1]] if words else []
    ways = [_Way(each, each.gain - _TRAILING * (cost - each.through)) for each in last]
    for letter in reversed(letters[:-1]):
        ways = _extend(places[letter], ways)
    best_first = sorted(ways, key=lambda way: (way.score, way.place.at), reverse=True)
    possible = (way for way in best_first if _may_start(passage, way.place.at, short))
    best = next(possible, None)
    return None if best is None else LongForm(best.place.at, best.score / len(letters))


def fold(text: str) -> str:
    """RETURNS (str): The text in lower case, without accents, Greek letters as Latin ones; of the
    same length.
    """
    if text.isascii():
        return text.lower()
    bases = (unicodedata.normalize("NFKD", character)[0].lower()[0] for character in text)
    return "".join(bases).translate(_GREEK)


def _find_places(
    passage: str, words: Sequence[re.Match], letters: Collection[str]
) -> tuple[dict[str, list[_Place]], float]:
    """RETURNS (Tuple[Dict[str, List[_Place]], float]): Places by letter, in order, and the cost of
    skipping all words.
    """
    places: dict[str, list[_Place]] = defaultdict(list)
    folded = fold(passage)
    cost = 0.0
    for number, word in enumerate(words):
        name = word.group()
        # A lower-case letter means little ("cytochrome c oxidase"), but "A" may be a name.
        is_link = name in _LINKING or (len(name) == 1 and name.islower())
        through = cost if is_link or name in _HEADS else cost + _SKIPPED
        initial = _INITIAL_OF_LINK if is_link or name in _CONJUNCTIONS else _INITIAL
        for at in range(*word.span()):
            if folded[at] in letters:
                gain = initial if _is_initial(folded, at) else 0.0
                places[folded[at]].append(_Place(at, number, gain, cost, through))
        cost = through + _SKIPPED if name.endswith(",") else through
    return places, cost


def _extend(places: Sequence[_Place], ways: Sequence[_Way]) -> list[_Way]:
    """Add one more letter in front. Places and ways are sorted, so each is visited once."""
    extended: list[_Way] = []
    ahead = _Ahead()
    waiting = list(ways)
    for place in reversed(places):
        while waiting and waiting[-1].place.at > place.at:
            ahead.pass_by(waiting.pop())
        if ahead.last is not None:
            extended.append(_Way(place, place.gain + ahead.best(place)))
    return extended[::-1]


class _Ahead:
    """The best of the ways that start after a place: in the nearest word, and in later words."""

    def __init__(self) -> None:
        self.last: _Way | None = None
        self.near = self.far = -inf

    def pass_by(self, way: _Way) -> None:
        if self.last is not None and self.last.place.word != way.place.word:
            self.far = max(self.far, self.near - self.last.place.before)
            self.near = -inf
        self.last = way
        self.near = max(self.near, way.score)

    def best(self, place: _Place) -> float:
        if self.last is None:
            return -inf
        nearest = self.last.place
        far, near = self.far + place.through, self.near
        if nearest.word != place.word:
            near += place.through - nearest.before
        elif nearest.at == place.at + 1:
            near = max(near, self.last.score + _FOLLOWING)
        return max(near, far)


def _is_initial(folded: str, at: int) -> bool:
    """RETURNS (bool): Whether a letter starts a word or a part of one ("B-cell", "IL2")."""
    previous = folded[at - 1 : at]
    if not previous or not (previous.isalnum() or previous in _APOSTROPHES):
        return True
    return previous.isdigit() != folded[at].isdigit()


def _may_start(passage: str, at: int, short: str) -> bool:
    """RETURNS (bool): Whether a long form may start there: at the start of a word that can start
    one, and without the short form itself.
    """
    if at and (passage[at - 1].isalnum() or passage[at - 1] in _INSIDE):
        return False
    name = passage[at:]
    first, *_ = name.split(maxsplit=1)
    # "WAS protein", "A disintegrin and metalloproteinase"
    if first.lower() in _NO_START and not first.isupper():
        return False
    return short not in name or not re.search(rf"(?<!\w){re.escape(short)}(?!\w)", name)
