"""Find abbreviations that a text defines, after Schwartz & Hearst (2003): a short form in brackets
after its long form, or a long form in brackets after its short form.
"""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Collection, Sequence
from functools import cache
from itertools import pairwise
from typing import NamedTuple

from ..lang import WordClasses, any_of, load_language
from .short_forms import drop_plural

_CLOSING = {"(": ")", "[": "]"}
_OPENING = {closing: opening for opening, closing in _CLOSING.items()}
# Possible ends of a sentence, and brackets.
_BORDER = re.compile(r"[()\[\].!?;:\n]")
# The number of characters to read on either side of a bracket: over fifteen long words.
_REACH = 250


class Passage(NamedTuple):
    """A piece of a text. Inner brackets are blanked out, so that offsets stay valid.

    start (int): The offset of its first character in the text.
    text (str): Its characters.
    """

    start: int
    text: str


def match_brackets(text: str) -> dict[int, int]:
    """Match opening and closing brackets, round and square ones separately.

    text (str): Any text; unmatched brackets are ignored.
    RETURNS (Dict[int, int]): The offset of the other bracket by that of each.
    """
    partners: dict[int, int] = {}
    waiting: dict[str, list[int]] = {opening: [] for opening in _CLOSING}
    for border in _BORDER.finditer(text):
        character, at = border[0], border.start()
        if character in _CLOSING:
            waiting[character].append(at)
        elif character in _OPENING and waiting[_OPENING[character]]:
            opening = waiting[_OPENING[character]].pop()
            partners[opening], partners[at] = at, opening
    return partners


def read_inside(text: str, opening: int, partners: dict[int, int]) -> Passage:
    """Read the text (or its beginning) in the bracket that opens at an offset.

    RETURNS (Passage): The passage.
    """
    start = opening + 1
    return _passage(text, start, min(partners[opening], start + _REACH), partners)


def read_before(text: str, end: int, partners: dict[int, int]) -> Passage:
    """Read the text before a bracket, back to the start of the sentence, to an enclosing bracket or
    to an unmatched one.

    text (str): The text.
    end (int): The offset where the passage ends.
    partners (Dict[int, int]): See `match_brackets`.
    RETURNS (Passage): The passage.
    """
    first = max(0, end - _REACH)
    start, passed = first, end
    for border in reversed([border.start() for border in _BORDER.finditer(text, first, end)]):
        if border >= passed:
            continue
        opening = partners.get(border, end)
        if first <= opening < border:
            passed = opening
        elif text[border] in "()[]" or _ends_sentence(text, border):
            start = border + 1
            break
    return _passage(text, start, end, partners)


def _passage(text: str, start: int, end: int, partners: dict[int, int]) -> Passage:
    characters = list(text[start:end])
    for border in _BORDER.finditer(text, start, end):
        at = border.start()
        if partners.get(at, 0) > at and _stands_apart(text, at):
            after = min(partners[at] + 1, end)
            characters[at - start : after - start] = " " * (after - at)
    return Passage(start, "".join(characters))


def _stands_apart(text: str, opening: int) -> bool:
    # Brackets elsewhere are part of a name: "poly(ADP-ribose) polymerase".
    return opening == 0 or text[opening - 1].isspace()


def _ends_sentence(text: str, at: int) -> bool:
    if not text[at + 1 : at + 2].isspace():
        return False
    if text[at] == "\n":
        return text.startswith(("\n", "\r\n"), at + 1)
    if text[at] in ".!?":
        # Short words with a full stop are abbreviations: "St. Louis", "vs. placebo".
        word = text[max(0, at - 3) : at]
        return word[-1:].isdigit() or (len(word) == 3 and word.isalpha() and word.islower())
    return text[at] in ";:"


# The score of a letter at the start of a word, at the start of a linking word, and directly after
# the previous letter.
_INITIAL = 2.0
_INITIAL_OF_LINK = 1.0
_FOLLOWING = 0.5
# The cost of a word without a letter or of a comma between letters, and its factor at the end.
_SKIPPED = 1.0
_TRAILING = 1.5
# Each letter is tried at each of its positions, so longer short forms or passages are not aligned.
_MOST_LETTERS = 50
_LONGEST_PASSAGE = 500
_WORD = re.compile(r"\S+")
_PART = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
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


def fold(text: str) -> str:
    """Convert a text to lower case, without accents, and with Greek letters as Latin ones.

    RETURNS (str): A text of the same length.
    """
    if text.isascii():
        return text.lower()
    bases = (unicodedata.normalize("NFKD", character)[0].lower()[0] for character in text)
    return "".join(bases).translate(_GREEK)


def _extend(places: Sequence[_Place], ways: Sequence[_Way]) -> list[_Way]:
    """Add one more letter in front."""
    extended = []
    for place in places:
        later = (way.score - _cost(place, way.place) for way in ways if way.place.at > place.at)
        if (best := max(later, default=None)) is not None:
            extended.append(_Way(place, place.gain + best))
    return extended


def _cost(place: _Place, following: _Place) -> float:
    if place.word != following.word:
        return following.before - place.through
    return -_FOLLOWING if following.at == place.at + 1 else 0.0


def _reorder(short: str, passage: str) -> LongForm | None:
    """Find the words at the end of a passage that begin with the letters of a short form in another
    order, as the terms that it comes from did: "myotonic dystrophy (DM)" was dystrophia myotonica.
    """
    words = list(_PART.finditer(passage))[-len(short) :]
    initials = [word[0][0].upper() for word in words]
    return LongForm(words[0].start(), _INITIAL) if sorted(initials) == sorted(short) else None


def _is_initial(folded: str, at: int) -> bool:
    """Check whether a letter starts a word or a part of a word ("B-cell", "IL2")."""
    previous = folded[at - 1 : at]
    if not previous or not (previous.isalnum() or previous in _APOSTROPHES):
        return True
    return previous.isdigit() != folded[at].isdigit()


# The length of a short form, and how much longer a one-word long form must be.
_FEWEST, _MOST = 2, 10
_FEWEST_MORE = 2
# From this length on, plain words no longer look clipped ("dex", but not "Indiana").
_WORD_LENGTH = 6
_EDGES = " \t\r\n\"'`“”‘’„«»"
# What may come between a long form and its bracket.
_LOOSE_ENDS = _EDGES + ",-–"
# "MEN 2a", "NAD(+)"
_ONE_OR_TWO_WORDS = re.compile(
    r"\w[^\s<>%≤≥±~|\\()\[\]]*(?:\s[^\s<>%≤≥±~|\\()\[\]]+)?(?:\([+-]\))?"
)
_NUMERALS = frozenset("ivx")
_VOWELS = frozenset("aeiou")
# From this length on, a word with a capital is a plain one even if it has no vowel.
_LONG = 4
# The minimum average score of a short form's letters, see `align`. High: for plain words, which
# are in brackets for many reasons ("htn" is not a plain word, since it has no vowel), and where a
# definition is unlikely. Inside: if the long form is in the brackets. Low: anywhere else.
_HIGH_SCORE = 1.5
_INSIDE_SCORE = 1.0
_LOW_SCORE = 0.75


class Abbreviation(NamedTuple):
    """A short form and the long form that the text gives for it.

    short (str): The short form.
    long (str): The long form, with single spaces and without inner brackets.
    start (int): The offset of the short form in the text.
    end (int): Its end.
    long_start (int): The offset of the long form in the text.
    long_end (int): Its end.
    """

    short: str
    long: str
    start: int
    end: int
    long_start: int
    long_end: int


def _is_variant(short: str, long: str) -> bool:
    """Check whether the long form only adds to the short form ("C2D")."""
    return long.casefold().startswith(short.casefold()) and not long.isalpha()


def _fits(short: str, long: str, score: float, least: float) -> bool:
    one_word = long.replace("-", "").isalnum()
    if one_word and len(long) < len(short) + _FEWEST_MORE:
        return False
    if _is_plain(short):
        is_prefix = len(short) < _WORD_LENGTH and long.lower().startswith(short.lower())
        return score >= _HIGH_SCORE or (one_word and is_prefix)
    if one_word and least < _HIGH_SCORE:
        return True
    return score >= (max(least, _INSIDE_SCORE) if "," in long else least)


def _is_plain(short: str) -> bool:
    """Check whether a short form looks like a word: "Indiana", "dex", but not "htn"."""
    is_word = short.isascii() and short.isalpha() and short[1:].islower()
    has_vowel = not _VOWELS.isdisjoint(short)
    return is_word and (has_vowel or (len(short) >= _LONG and short[0].isupper()))


class AbbreviationFinder:
    """Finds the abbreviations that texts in one language define."""

    def __init__(self, words: WordClasses) -> None:
        """Compile the words around short forms.

        words (WordClasses): The classes of words of the language.
        """
        self._words = words
        self._separator = re.compile(rf"[,:](?=\s|$)|[;=]|\s{any_of(words.alternatives)}\s")
        prefaces = any_of(words.definition_prefaces)
        self._preface = re.compile(rf"(?:{prefaces}\s++)*[\s\"'`“‘„«]*", re.IGNORECASE)

    def align(self, short: str, passage: str) -> LongForm | None:
        """Find the best long form at the end of a passage. For n letters it has at most
        min(n + 5, 2 n) words.

        short (str): The short form.
        passage (str): The text before it, or in the bracket after it.
        RETURNS (Optional[LongForm]): None if the passage does not have the letters, if these are
            more than 50, or if the passage has more than 500 characters.
        """
        letters = [letter for letter in fold(short) if letter.isalnum()]
        if len(letters) > _MOST_LETTERS or len(passage) > _LONGEST_PASSAGE:
            return None
        most_words = min(len(letters) + 5, 2 * len(letters))
        words = list(_WORD.finditer(passage))[-most_words:] if letters else []
        places, cost = self._find_places(passage, words, set(letters))
        last = places[letters[-1]] if words else []
        ways = [_Way(place, place.gain - _TRAILING * (cost - place.through)) for place in last]
        for letter in reversed(letters[:-1]):
            ways = _extend(places[letter], ways)
        best_first = sorted(ways, key=lambda way: (way.score, way.place.at), reverse=True)
        possible = (way for way in best_first if self._may_start(passage, way.place.at, short))
        best = next(possible, None)
        return None if best is None else LongForm(best.place.at, best.score / len(letters))

    def _find_places(
        self, passage: str, words: Sequence[re.Match], letters: Collection[str]
    ) -> tuple[dict[str, list[_Place]], float]:
        """Find the possible positions of each letter.

        RETURNS (Tuple[Dict[str, List[_Place]], float]): Positions by letter, in order, and the
            cost of skipping all words.
        """
        places: dict[str, list[_Place]] = defaultdict(list)
        folded = fold(passage)
        cost = 0.0
        for number, word in enumerate(words):
            name = word.group()
            # A single lower-case letter means little ("cytochrome c oxidase"), but "A" may be a
            # name.
            is_link = name in self._words.linking_words or (len(name) == 1 and name.islower())
            through = cost if is_link or name in self._words.short_form_heads else cost + _SKIPPED
            joins = is_link or name in self._words.linking_conjunctions
            initial = _INITIAL_OF_LINK if joins else _INITIAL
            for at in range(*word.span()):
                if folded[at] in letters:
                    gain = initial if _is_initial(folded, at) else 0.0
                    places[folded[at]].append(_Place(at, number, gain, cost, through))
            cost = through + _SKIPPED if name.endswith(",") else through
        return places, cost

    def _may_start(self, passage: str, at: int, short: str) -> bool:
        """Check whether a long form may start at an offset: at the start of a word that can start
        one, and without the short form itself.
        """
        if at and (passage[at - 1].isalnum() or passage[at - 1] in _INSIDE):
            return False
        name = passage[at:]
        first, *_ = name.split(maxsplit=1)
        # "WAS protein", "A disintegrin and metalloproteinase"
        if first.lower() in self._words.no_long_form_starts and not first.isupper():
            return False
        beside = (before[-1:] + after[:1] for before, after in pairwise(name.split(short)))
        return all(any(map(str.isalnum, signs)) for signs in beside)

    def find(self, text: str) -> list[Abbreviation]:
        """Find the abbreviations that a text defines, in linear time.

        text (str): One document.
        RETURNS (List[Abbreviation]): In the order of the short forms; a short form that is defined
            several times is listed several times.
        """
        partners = match_brackets(text)
        by_place: dict[int, Abbreviation] = {}
        for opening in sorted(at for at, other in partners.items() if at < other):
            inside = self._segments(read_inside(text, opening, partners))
            for abbreviation in self._in_bracket(text, opening, inside, partners) if inside else ():
                by_place.setdefault(abbreviation.start, abbreviation)
        return sorted(by_place.values(), key=lambda abbreviation: abbreviation.start)

    def _in_bracket(
        self, text: str, opening: int, segments: list[Passage], partners: dict[int, int]
    ) -> list[Abbreviation]:
        abbreviations = [
            abbreviation
            for one, other in pairwise(segments)
            for abbreviation in (self._define_wholly(one, other), self._define_wholly(other, one))
            if abbreviation
        ]
        known = {abbreviation.start for abbreviation in abbreviations}
        shorts = [
            segment
            for segment in segments
            if segment.start not in known and self._may_be_defined(segment.text)
        ]
        if shorts:
            before = self._trim(read_before(text, opening, partners))
            before = before._replace(text=before.text.rstrip(_LOOSE_ENDS))
            definitions = [
                self._define(short, before, self._score_needed(text, opening, short))
                for short in shorts
            ]
            abbreviations += filter(None, definitions)
        if not abbreviations:
            last = self._define_wholly(self._last_word(text, opening), segments[0])
            abbreviations += filter(None, [last])
        return abbreviations

    def _define_wholly(self, short: Passage, long: Passage) -> Abbreviation | None:
        """Create a definition with the whole passage as its long form.

        RETURNS (Optional[Abbreviation]): The definition, if the passage fits.
        """
        if not self._may_be_defined(short.text) or _is_variant(short.text, long.text):
            return None
        # "(Carlsbad, CA)"
        least = _HIGH_SCORE if len(short.text) == _FEWEST else _INSIDE_SCORE
        abbreviation = self._define(short, long, least)
        return abbreviation if abbreviation and abbreviation.long_start == long.start else None

    def _score_needed(self, text: str, opening: int, short: Passage) -> float:
        """Choose the score that a long form needs: higher if the short form comes late in its
        bracket or has a value, or if no space precedes the bracket ("2(5H)-furanon").
        """
        late = not self._preface.fullmatch(text, opening + 1, short.start)
        attached = opening > 0 and not text[opening - 1].isspace()
        end = short.start + len(short.text)
        return _HIGH_SCORE if late or attached or _has_value(text, end) else _LOW_SCORE

    def _define(self, short: Passage, long: Passage, least: float) -> Abbreviation | None:
        aligned = self.align(drop_plural(short.text), long.text)
        for form in filter(None, (aligned, _reorder(short.text, long.text))):
            name = " ".join(long.text[form.start :].split())
            if _fits(short.text, name, form.score, least):
                start, end = long.start + form.start, long.start + len(long.text)
                place = (short.start, short.start + len(short.text))
                return Abbreviation(short.text, name, *place, start, end)
        return None

    def _may_be_defined(self, text: str) -> bool:
        """Check whether a bracket may hold a text as a short form, which may be a plain word:
        "(dex)".
        """
        length = len(drop_plural(text))
        if not _FEWEST <= length <= _MOST or not _ONE_OR_TWO_WORDS.fullmatch(text):
            return False
        if self._is_aside(text) or sum(map(str.isalnum, text)) < _FEWEST:
            return False
        return any(map(str.isalpha, text))

    def _is_aside(self, text: str) -> bool:
        """Check for the number of an item, "(ii)", an aside, "(i.e.", or single letters, "(A B)".

        RETURNS (bool): True for one of these.
        """
        is_known = text[0].lower() + text[1:] in self._words.no_short_forms
        return is_known or _NUMERALS.issuperset(text) or [*map(len, text.split())] == [1, 1]

    def _segments(self, inside: Passage) -> list[Passage]:
        """Split the text in a bracket at its separators.

        RETURNS (List[Passage]): The non-empty parts.
        """
        segments, start = [], 0
        borders = [separator.span() for separator in self._separator.finditer(inside.text)]
        for end, following in [*borders, (len(inside.text), 0)]:
            segments.append(self._trim(Passage(inside.start + start, inside.text[start:end])))
            start = following
        return [segment for segment in segments if segment.text]

    def _trim(self, passage: Passage) -> Passage:
        """Remove introductory words, and whitespace and quotes at the ends.

        RETURNS (Passage): The rest of the passage.
        """
        text = passage.text.rstrip(_EDGES)
        start = len(text) - len(text.lstrip(_EDGES))
        preface = self._preface.match(text, start)
        start = preface.end() if preface else start
        return Passage(passage.start + start, text[start:])

    def _last_word(self, text: str, end: int) -> Passage:
        start = max(0, end - 2 * _MOST)
        words = list(_WORD.finditer(text, start, end))
        return self._trim(Passage(words[-1].start(), words[-1][0]) if words else Passage(end, ""))


def _has_value(text: str, end: int) -> bool:
    """Check for a value: "(AOR = 2.7)" uses a short form rather than defining it."""
    after = text[end : end + _MOST].lstrip()
    return after.startswith("=") and after[1:].lstrip(" +-.")[:1].isdigit()


@cache
def abbreviation_finder(code: str) -> AbbreviationFinder:
    """Get what finds the abbreviations of a language.

    code (str): ISO 639-1, as in `nlp.lang`.
    RETURNS (AbbreviationFinder): The same object for the same language.
    """
    return AbbreviationFinder(load_language(code).words)


def find_abbreviations(text: str, code: str) -> list[Abbreviation]:
    """Find the abbreviations that a text defines, in linear time.

    text (str): One document.
    code (str): Its language, as in `nlp.lang`.
    RETURNS (List[Abbreviation]): See `AbbreviationFinder.find`.
    """
    return abbreviation_finder(code).find(text)
