"""Stems of the words of a language, which stand for all of its forms: number, gender, agreement."""

import unicodedata
from collections.abc import Callable
from functools import cache

Stem = Callable[[str], str]


def strip_accents(word: str) -> str:
    """Remove the accents of a word, which notes often lack.

    word (str): A word in lower case.
    RETURNS (str): The word without combining marks.
    """
    if word.isascii():
        return word
    decomposed = unicodedata.normalize("NFKD", word)
    return "".join(letter for letter in decomposed if not unicodedata.combining(letter))


@cache
def stemmer_of(algorithm: str) -> Stem:
    """Get the stemmer of a language.

    algorithm (str): The name of an algorithm of Snowball, "french"; empty for none.
    RETURNS (Callable[[str], str]): From a word in lower case without accents to its stem. Words are
        stemmed until nothing changes, since an accent may say that an ending is one: "implantées"
        and "implanté" have the same stem without them, too.
    """
    if not algorithm:
        return str
    import snowballstemmer

    stem = snowballstemmer.stemmer(algorithm).stemWord

    def stem_fully(word: str) -> str:
        while (shorter := stem(word)) != word:
            word = shorter
        return word

    return stem_fully
