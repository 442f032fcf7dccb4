"""The cleaning that every concept text and every mention goes through first, and functions that
unify characters with several forms: compatibility characters, quotes, dashes, Greek letters.
"""

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from itertools import groupby

_DIRT = re.compile(r"[\s\x00-\x1f\x7f-\x9f\ud800-\udfff]+")


def clean(text: str) -> str:
    """Replace each run of whitespace, control characters and lone surrogates by one space, and
    strip the ends. Everything else, such as direction marks, joiners and emoji, is kept.

    text (str): Any string, even one that cannot be encoded as UTF-8.
    RETURNS (str): A string that files, sqlite and tokenizers accept; the same object if it was
        already clean.
    """
    # Printable text has no whitespace except U+0020, no controls and no surrogates.
    if text.isprintable() and "  " not in text and text[:1] != " " and text[-1:] != " ":
        return text
    cleaned = _DIRT.sub(" ", text).strip(" ")
    return text if cleaned == text else cleaned


def lower_in_place(text: str) -> str:
    """Write a text in lower case with as many characters: "İ", which would be two, stays.

    RETURNS (str): The text.
    """
    lower = text.lower()
    if len(lower) == len(text):
        return lower
    return "".join(letter.lower() if len(letter.lower()) == 1 else letter for letter in text)


def encodable(texts: Sequence[str]) -> list[str]:
    """Join surrogate pairs in texts, and replace lone surrogates by U+FFFD.

    texts (Sequence[str]): Any texts.
    RETURNS (List[str]): Texts that every encoder can read.
    """
    # `isprintable` is fast, and surrogates are not printable.
    if all(map(str.isprintable, texts)):
        return list(texts)
    return [text.encode("utf-16", "surrogatepass").decode("utf-16", "replace") for text in texts]


_ASIDE = re.compile(r" [(\[]([^()\[\]]*)[)\]](?![^\s,;])")


def find_asides(text: str) -> list[str]:
    """List what stands in brackets after a word.

    text (str): A cleaned text.
    RETURNS (List[str]): What is in each pair of brackets.
    """
    return list(filter(str.strip, _ASIDE.findall(text)))


def drop_asides(text: str) -> str:
    """Drop what stands in brackets after a word: "(CPS)" in "carbamyl phosphate synthetase (CPS)
    deficiency".

    text (str): A cleaned text.
    RETURNS (str): The text without them.
    """
    return _ASIDE.sub("", text)


_NAMES = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho "
    "sigma sigma tau upsilon phi chi psi omega"
)
_SMALL = {chr(ord("α") + place): name for place, name in enumerate(_NAMES.split())}
_CAPITAL = {letter.upper(): name.title() for letter, name in _SMALL.items()}
_SYMBOLS = {
    **{"ϐ": "beta", "ϑ": "theta", "ϕ": "phi", "ϖ": "pi", "ϰ": "kappa", "ϱ": "rho", "ϵ": "epsilon"},
}
NAMES = {**_SMALL, **_CAPITAL, **_SYMBOLS, "\N{MICRO SIGN}": "mu"}
_LETTER = "[" + "".join(NAMES) + "]"
_ANY_GREEK = r"[\u0370-\u03ff\u1f00-\u1fff]"
_UNIT = re.compile(r"[μ\N{MICRO SIGN}](?=(?:g|l|L|m|M|mol|s)(?![^\W\d_]))")
# "γδ T-cell" has two letters; three or more in a row are a Greek word.
_LETTERS = re.compile(rf"(?<!{_ANY_GREEK}){_LETTER}{{1,2}}(?!{_ANY_GREEK})")


def spell_greek(text: str) -> str:
    """Spell out Greek letters: "β-thalassemia" becomes "beta-thalassemia", as in most ontologies
    and word-piece vocabularies. Greek words do not change; the prefix of a unit becomes "u" ("ug").

    text (str): A cleaned text.
    RETURNS (str): The text with the names of the letters.
    """
    if text.isascii():
        return text
    return _LETTERS.sub(_spell, _UNIT.sub("u", text))


_SPELLED = {
    **{"œ": "oe", "æ": "ae", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "ħ": "h", "þ": "th"},
    **{"ŋ": "ng", "ŧ": "t"},
}
_CAPITALS = {letter.upper(): spelled.title() for letter, spelled in _SPELLED.items()}
_WITHOUT_PARTS = str.maketrans({**_SPELLED, **_CAPITALS, "ß": "ss", "ẞ": "SS", "ı": "i"})


def spell_letters(text: str) -> str:
    """Spell out Greek letters, and letters that Unicode does not decompose: "œdema" becomes
    "oedema", "Strauß" "Strauss".

    text (str): A cleaned text.
    RETURNS (str): The text.
    """
    return spell_greek(text.translate(_WITHOUT_PARTS))


def _spell(match: re.Match[str]) -> str:
    return "-".join(NAMES[letter] for letter in match[0])


_SINGLE = "\u2018\u2019\u201a\u201b\u02bc\u02b9\u02bb\u2032\u2035`\u00b4\u1fbd\u1fbf"
_DOUBLE = "\u201c\u201d\u201e\u201f\u2033\u2036\u02ba\u00ab\u00bb"
_QUOTES = str.maketrans(_SINGLE + _DOUBLE, "'" * len(_SINGLE) + '"' * len(_DOUBLE))
_INVISIBLE = str.maketrans("", "", "\u200b\u2060\ufeff")
_HYPHENS = "\u2010\u2011\u2012\u2013\u2014\u2015\u2043\u2212\u2e3a\u2e3b\ufe58\ufe63\uff0d"
_DASHES = str.maketrans(_HYPHENS, "-" * len(_HYPHENS), "\u00ad")
# In a shorter stretch of non-ASCII characters, runs of combining marks are too short to matter.
_FOREIGN_STRETCH = re.compile(r"[^\x00-\x7f]{32}")
# More characters than a single language has.
_CACHED = 50_000


def unify_unicode(text: str) -> str:
    """Replace compatibility characters (NFKC: ligatures, full width, superscripts), straighten
    curly quotes and primes, and drop zero-width characters.

    text (str): A cleaned text.
    RETURNS (str): The text; accents and scripts are kept.
    """
    if text.isascii():
        return text.replace("`", "'")
    # Quotes before NFKC, which splits some of them into a space and a mark, and after it, since it
    # produces others.
    visible = text.translate(_INVISIBLE).translate(_QUOTES)
    return _compose(visible).translate(_QUOTES)


def _compose(text: str) -> str:
    """Normalize to NFKC in linear time: `unicodedata` sorts each run of combining marks by
    insertion, so long runs are sorted here.
    """
    if not _FOREIGN_STRETCH.search(text):
        return unicodedata.normalize("NFKC", text)
    decomposed = "".join(map(_decomposed, text))
    runs = groupby(decomposed, key=lambda character: unicodedata.combining(character) > 0)
    in_order = (sorted(run, key=unicodedata.combining) if marks else run for marks, run in runs)
    return unicodedata.normalize("NFC", "".join(map("".join, in_order)))


@lru_cache(_CACHED)
def _decomposed(character: str) -> str:
    return unicodedata.normalize("NFKD", character)


def unify_dashes(text: str) -> str:
    """Replace every hyphen, dash and minus sign by "-", and drop soft hyphens.

    text (str): A cleaned text.
    RETURNS (str): The text.
    """
    return text if text.isascii() else text.translate(_DASHES)


_SIGNED = re.compile(r"(?<![^\W_])(?P<word>[^\W_]+)(?P<sign>[+-])(?![^\s,;:)\]/+-])")


def has_sign(text: str) -> bool:
    """Check whether a word of a text has a plus or a minus.

    RETURNS (bool): True if one has.
    """
    return bool(_SIGNED.search(text))


def are_opposite(text: str, other: str) -> bool:
    """Check whether a word has a plus in one text and a minus in the other, such as in "ER- breast
    cancer" and "ER+ breast cancer".

    text (str): Any text; a hyphen at the end of a word counts as a minus.
    other (str): Any text.
    RETURNS (bool): True if there is such a word.
    """
    signs = _signs(text)
    others = _signs(other).items() if signs else ()
    return any(signs.get(word, sign) != sign for word, sign in others)


def _signs(text: str) -> dict[str, str]:
    return {match["word"].lower(): match["sign"] for match in _SIGNED.finditer(text)}
