"""The nouns that an adjective, a verb or a Latin plural stands for: "retina" for "retinal",
"hypertension" for "hypertensive", "wheezing" for "wheeze".

The endings allow many words that do not exist, such as "retinum". The caller keeps those that names
have.
"""

from functools import lru_cache

from spacy.lang.en.stop_words import STOP_WORDS as FUNCTION_WORDS

from .word_bags import hash_word

# At least so many letters begin both words.
_SHORTEST_STEM = 4
# Endings of adjectives, verbs and plurals, with those of nouns. "-ly", "-ant" and "-ent" are left
# out on purpose: such words rarely mean the noun ("dose-dependent" is no dependence).
_ENDINGS = {
    "al": ("a", "um", "us", "is", "e", "on", ""),
    "ial": ("y", "ium", "ia", "is"),
    "eal": ("us", "is"),
    "geal": ("x",),
    "cal": ("x",),
    "ar": ("e", "us", "um", "a"),
    "ular": ("le",),
    "icular": ("is",),
    "ary": ("a",),
    "ic": ("ia", "us", "e", "on", ""),
    "betic": ("betes",),
    "itic": ("itis",),
    "tic": ("sis", "sy", "sia"),
    "blastic": ("blast",),
    "clastic": ("clast",),
    "eatic": ("eas",),
    "petic": ("pes",),
    "istic": ("ism",),
    "pathic": ("pathy",),
    "trophic": ("trophy",),
    "allergic": ("allergy",),
    "yonic": ("yo",),
    "ian": ("y", "ism"),
    "sive": ("sion",),
    "inous": ("e",),
    "ous": ("a", "e", "ety"),
    "matous": ("ma",),
    "ese": ("esity",),
    "ive": ("ivity",),
    "y": ("iness", "ing"),
    "e": ("ing",),
    "cient": ("ciency",),
    "nant": ("nancy",),
    "erine": ("erus",),
    "i": ("us",),
    "ae": ("a",),
    "a": ("um", "on"),
    "mata": ("ma",),
    "se": ("sis",),
    "te": ("tis",),
}
_LONGEST_ENDING = max(map(len, _ENDINGS))


def base_forms(word: str) -> tuple[str, ...]:
    """List the nouns that a word may be derived from.

    word (str): A normalized word, see `word_bags.normalized_words`.
    RETURNS (Tuple[str, ...]): Normalized words, each once, most of which do not exist.
    """
    if word in FUNCTION_WORDS:
        return ()  # "several" is not severe
    found = (
        word[:cut] + noun_ending
        for cut in range(max(0, len(word) - _LONGEST_ENDING), len(word))
        for noun_ending in _ENDINGS.get(word[cut:], ())
    )
    return tuple(
        dict.fromkeys(
            form
            for form in found
            if form[:_SHORTEST_STEM] == word[:_SHORTEST_STEM] and form != word
        )
    )


@lru_cache(maxsize=65_536)
def hash_base_forms(word: str) -> tuple[int, ...]:
    """RETURNS (Tuple[int, ...]): The hash of each of `base_forms`, 64 bits."""
    return tuple(map(hash_word, base_forms(word)))
