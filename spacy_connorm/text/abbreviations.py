"""Find abbreviations that a text defines, after Schwartz & Hearst (2003): a short form in brackets
after its long form, or a long form in brackets after its short form.
"""

import re
from itertools import pairwise
from typing import NamedTuple

from .alignment import align
from .brackets import Passage, match_brackets, read_before, read_inside

# The length of a short form, and how much longer a one-word long form must be.
_FEWEST, _MOST = 2, 10
_FEWEST_MORE = 2
# From this length on, plain words no longer look clipped ("dex", but not "Indiana").
_WORD_LENGTH = 6
_SEPARATOR = re.compile(r"[,:](?=\s|$)|[;=]|\s(?:and/)?or\s")
_PREFACE = re.compile(
    r"(?:(?:(?:a\.?k\.?a|i\.e|e\.g)\.?,?|also|or|and|the|here(?:after|in)?|termed|called|known|"
    r"abbreviated|designated|denoted|referred|to|as|for)\s++)*[\s\"'`“‘„«]*",
    re.IGNORECASE,
)
_EDGES = " \t\r\n\"'`“”‘’„«»"
# What may come between a long form and its bracket.
_LOOSE_ENDS = _EDGES + ",-–"
_LAST_WORD = re.compile(r"(?<!\S)\S+\s*\Z")
_SHORT_FORM = re.compile(r"\w[^\s<>%≤≥±~|\\()\[\]]*(?:\s[^\s<>%≤≥±~|\\()\[\]]+)?")
_PLURAL = re.compile(r"(?<=[A-Z0-9])s\Z")
# Items "(ii)", asides "(i.e.", single letters "(A B)".
_NO_SHORT_FORM = re.compile(r"[ivx]+|[Ii]\.?e\.?|[Ee]\.?g\.?|\w\s\w")
# "(AOR = 2.7)" uses a short form rather than defining it.
_VALUE = re.compile(r"\s*=\s*[-+]?\.?\d")
_CONJUNCT = re.compile(r"(\S+)\s(?:and|or|and/or)\s\S+(?=\s)")
_PLAIN = re.compile(r"[A-Za-z]?[b-df-hj-np-tv-z]*[aeiou][a-z]*|[A-Z][a-z]{3,}")
# The least average score of a short form's letters, see `alignment`. High: for plain words, which
# are put in brackets for many reasons ("htn" is no plain word, it has no vowel), and where a
# definition is unlikely. Inside: where the long form is in the brackets. Low: anywhere else.
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


def find_abbreviations(text: str) -> list[Abbreviation]:
    """Find the abbreviations that a text defines, in linear time.

    text (str): One document.
    RETURNS (List[Abbreviation]): In the order of the short forms; a short form that is defined
        several times is listed several times.
    """
    pairs = match_brackets(text)
    openings = {closing: opening for opening, closing in pairs.items()}
    found: dict[int, Abbreviation] = {}
    for opening in sorted(pairs):
        inside = _segments(read_inside(text, opening, pairs))
        for abbreviation in _in_bracket(text, opening, inside, openings) if inside else ():
            found.setdefault(abbreviation.start, abbreviation)
    return sorted(found.values(), key=lambda abbreviation: abbreviation.start)


def _in_bracket(
    text: str, opening: int, segments: list[Passage], openings: dict[int, int]
) -> list[Abbreviation]:
    found = [
        abbreviation
        for one, other in pairwise(segments)
        for abbreviation in (_define_wholly(one, other), _define_wholly(other, one))
        if abbreviation
    ]
    known = {abbreviation.start for abbreviation in found}
    shorts = [each for each in segments if each.start not in known and _is_short_form(each.text)]
    if shorts:
        before = _trim(read_before(text, opening, openings))
        before = before._replace(text=before.text.rstrip(_LOOSE_ENDS))
        needed = [_score_needed(text, opening, short) for short in shorts]
        behind = (
            _define(short, before, least) for short, least in zip(shorts, needed, strict=True)
        )
        found += filter(None, behind)
    if not found:
        found += filter(None, [_define_wholly(_last_word(text, opening), segments[0])])
    return found


def _define_wholly(short: Passage, long: Passage) -> Abbreviation | None:
    """RETURNS (Optional[Abbreviation]): One with the whole passage as its long form."""
    if not _is_short_form(short.text) or _is_variant(short.text, long.text):
        return None
    # "(Carlsbad, CA)"
    least = _HIGH_SCORE if len(short.text) == _FEWEST else _INSIDE_SCORE
    abbreviation = _define(short, long, least)
    return abbreviation if abbreviation and abbreviation.long_start == long.start else None


def _score_needed(text: str, opening: int, short: Passage) -> float:
    """RETURNS (float): A higher score if the short form comes late in its bracket or has a value,
    or if no space precedes the bracket ("2(5H)-furanon").
    """
    late = not _PREFACE.fullmatch(text, opening + 1, short.start)
    attached = opening > 0 and not text[opening - 1].isspace()
    has_value = _VALUE.match(text, short.start + len(short.text))
    return _HIGH_SCORE if late or attached or has_value else _LOW_SCORE


def _is_variant(short: str, long: str) -> bool:
    """RETURNS (bool): Whether the long form just adds to the short form ("C2D")."""
    return long.casefold().startswith(short.casefold()) and not long.isalpha()


def _define(short: Passage, long: Passage, least: float) -> Abbreviation | None:
    found = align(_PLURAL.sub("", short.text), long.text)
    if found is None:
        return None
    name = " ".join(long.text[found.start :].split())
    if not _fits(short.text, name, found.score, least):
        return None
    start = long.start + found.start
    end = long.start + len(long.text)
    name = _without_conjunct(short.text, name)
    return Abbreviation(short.text, name, short.start, short.start + len(short.text), start, end)


def _without_conjunct(short: str, long: str) -> str:
    """RETURNS (str): "Duchenne muscular dystrophy" for DMD in "Duchenne or Becker muscular
    dystrophy".
    """
    both = _CONJUNCT.match(long)
    if both is None:
        return long
    shorter = both[1] + long[both.end() :]
    as_whole, as_one = align(short, long), align(short, shorter)
    return shorter if as_whole and as_one and as_one.score > as_whole.score else long


def _fits(short: str, long: str, score: float, least: float) -> bool:
    one_word = long.replace("-", "").isalnum()
    if one_word and len(long) < len(short) + _FEWEST_MORE:
        return False
    if _PLAIN.fullmatch(short):
        is_prefix = len(short) < _WORD_LENGTH and long.lower().startswith(short.lower())
        return score >= _HIGH_SCORE or (one_word and is_prefix)
    if one_word and least < _HIGH_SCORE:
        return True
    return score >= (max(least, _INSIDE_SCORE) if "," in long else least)


def _is_short_form(text: str) -> bool:
    length = len(_PLURAL.sub("", text))
    if not _FEWEST <= length <= _MOST or not _SHORT_FORM.fullmatch(text):
        return False
    if _NO_SHORT_FORM.fullmatch(text) or sum(map(str.isalnum, text)) < _FEWEST:
        return False
    return any(map(str.isalpha, text))


def _segments(inside: Passage) -> list[Passage]:
    """RETURNS (List[Passage]): The non-empty parts of a bracket between its separators."""
    segments, start = [], 0
    borders = [separator.span() for separator in _SEPARATOR.finditer(inside.text)]
    for end, following in [*borders, (len(inside.text), 0)]:
        segments.append(_trim(Passage(inside.start + start, inside.text[start:end])))
        start = following
    return [segment for segment in segments if segment.text]


def _trim(passage: Passage) -> Passage:
    """RETURNS (Passage): Without prefaces, and without whitespace and quotes at its ends."""
    text = passage.text.rstrip(_EDGES)
    start = len(text) - len(text.lstrip(_EDGES))
    preface = _PREFACE.match(text, start)
    start = preface.end() if preface else start
    return Passage(passage.start + start, text[start:])


def _last_word(text: str, end: int) -> Passage:
    start = max(0, end - 2 * _MOST)
    word = _LAST_WORD.search(text, start, end)
    return _trim(Passage(word.start(), word[0]) if word else Passage(end, ""))
