"""Roman numerals of types, stages and the like in Arabic digits."""

import re

from .word_classes import NUMBERED

_TENS = ("", "X", "XX")
_ONES = ("", "I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX")
_VALUES = {
    tens + ones: str(10 * ten + one)
    for ten, tens in enumerate(_TENS)
    for one, ones in enumerate(_ONES)
    if tens + ones
}
# "XX" is a karyotype, "X" and "V" have other meanings, "IV" is also intravenous.
_CERTAIN = [roman for roman in _VALUES if len(roman) > 1 and "XX" not in roman and roman != "IV"]


def _any_of(romans: list[str]) -> str:
    return "|".join(sorted(romans, key=len, reverse=True))


_ANY = _any_of([*_VALUES])
_ITEM = rf"(?:(?:{_ANY})[A-Da-d]?|(?:{_ANY.lower()}))"
_AFTER_CUE = re.compile(
    rf"\b(?i:{NUMBERED})(?i:s?)[ -]{_ITEM}(?:(?:,? (?i:and|or|to) | ?[,/&-] ?){_ITEM})*(?!-?[\w'])"
)
_IN_LIST = re.compile(rf"(?<![^\W_])(?P<roman>{_ANY}|{_ANY.lower()})(?=[A-Da-d]?(?![^\W_]))")
_HAS_ONE = re.compile(r"(?<![^\W_])[IVXivx]")
_ALONE = re.compile(
    rf"(?<![\w'.])(?P<roman>{_any_of(_CERTAIN)})(?![\w'])"
    r"|(?<=[^\W\d_][ -])(?P<last>IV?)(?=$|,)"
)


def write_arabic(text: str) -> str:
    """Write Roman numerals in Arabic digits, which are more common in names and mentions alike:
    after words such as "type", "stage" and "factor" ("type IIa", "types I and II"), as a last word
    ("MPS I"), and where they are unambiguous ("angiotensin II"). "X-linked", "fragile X", "IV
    fluids", "MI" and "CD" stay.

    text (str): A cleaned text, not yet in lower case: lower-case numerals are recognized only
        after such words.
    RETURNS (str): The text.
    """
    if not _HAS_ONE.search(text):
        return text
    after_cues = _AFTER_CUE.sub(_list, text)
    return _ALONE.sub(_arabic, after_cues)


def _list(match: re.Match[str]) -> str:
    return _IN_LIST.sub(_arabic, match[0])


def _arabic(match: re.Match[str]) -> str:
    return _VALUES[match[match.lastgroup or 0].upper()]
