"""Unify characters with several forms: compatibility characters, quotes, dashes, punctuation."""

import re
import unicodedata

_QUOTES = str.maketrans(
    {
        **dict.fromkeys(
            "\u2018\u2019\u201a\u201b\u02bc\u02b9\u02bb\u2032\u2035`\u00b4\u1fbd\u1fbf", "'"
        ),
        **dict.fromkeys("\u201c\u201d\u201e\u201f\u2033\u2036\u02ba\u00ab\u00bb", '"'),
    }
)
_INVISIBLE = dict.fromkeys(map(ord, "\u200b\u2060\ufeff"))
_DASHES = {
    **dict.fromkeys(
        map(ord, "\u2010\u2011\u2012\u2013\u2014\u2015\u2043\u2212\u2e3a\u2e3b\ufe58\ufe63\uff0d"),
        "-",
    ),
    0xAD: None,
}
_ASCII_PUNCTUATION = re.compile(r"(?:(?!(?<=\d)\.\d)[!-$&-*,-/:-@\[-`{-~])+")


class _Spaced(dict[int, int]):
    """A table for `str.translate`, filled on demand: non-ASCII punctuation and symbols become a
    space.
    """

    def __missing__(self, code: int) -> int:
        foreign = code > 127 and unicodedata.category(chr(code))[0] in "PS"
        self[code] = ord(" ") if foreign else code
        return self[code]


_SPACED = _Spaced()


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
    return unicodedata.normalize("NFKC", visible).translate(_QUOTES)


def unify_dashes(text: str) -> str:
    """Replace every hyphen, dash and minus sign by "-", and drop soft hyphens.

    text (str): A cleaned text.
    RETURNS (str): The text.
    """
    return text if text.isascii() else text.translate(_DASHES)


def drop_punctuation(text: str) -> str:
    """Replace each run of punctuation and symbols by a space, as BioSyn does (Sung et al. 2020),
    but keep decimal points, "+" ("CD4+") and "%".

    text (str): A cleaned text.
    RETURNS (str): The text.
    """
    plain = text if text.isascii() else text.translate(_SPACED)
    return _ASCII_PUNCTUATION.sub(" ", plain)
