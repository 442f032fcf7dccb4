"""The bag of words of a name: its words, ignoring order, spelling and inflection; and the nouns
that an adjective, a verb or a Latin plural stands for: "retina" for "retinal".

"Cancer of the Breasts", "breast cancer" and "Breast-Cancer" have the same bag. Indexes store hashes
of bags: if you change how bags are made, give the files of `index.word_bags` a new name.
"""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import lru_cache
from hashlib import blake2b
from itertools import product, repeat
from typing import NamedTuple

import numpy as np
from spacy.lang.en.stop_words import STOP_WORDS as FUNCTION_WORDS

from .cleaning import spell_greek, unify_dashes, unify_unicode
from .normalization import drop_plurals, drop_possessives, strip_tags, write_american
from .word_classes import (
    CHANGES,
    DISEASES_OF,
    OTHER_ROOTS,
    OWN_MEANINGS,
    PLAIN_ADJECTIVES,
    SAID_FOR,
    SAID_WITHIN,
    STATES,
    SYSTEMS,
)

STOP_WORDS = frozenset(
    ["a", "an", "and", "by", "due", "for", "in", "of", "on", "or", "the", "to", "with"]
)
_NUMERALS = {
    **{"i": "1", "ii": "2", "iii": "3", "iv": "4", "v": "5"},
    **{"vi": "6", "vii": "7", "viii": "8", "ix": "9"},
}
MODULUS = 1 << 64
_WORD = re.compile(r"[^\W\d_]+|\d+")
# A capital "A" is not an article: "hepatitis A"; nor is the letter of a number: "stage 3a".
_LETTER = "A"
_NUMBER = re.compile(r"\d")
_NUMBERED = re.compile(r"a(?:(?<=\da)(?![^\W\d_])|(?=\d)(?<![^\W\d_]a))")
# "Stage IIIb", "IIIB".
_ROMAN = re.compile(r"(?<![^\W_])(?:(II|III|IV|VII|VIII|IX)([A-Da-d])|(I|V|VI)([a-d]))(?![^\W_])")
# Longer runs of letters are not English words.
_LONGEST = 60
# Words in capitals up to this length may be short forms, whose last letter is not a plural: "AIDS".
_SHORT_FORM = 4
_PLURAL_FORM = re.compile("[A-Z]{2,}s")


def word_bag(text: str) -> tuple[str, ...]:
    """Split a text into its words.

    text (str): A name or a mention.
    RETURNS (Tuple[str, ...]): Its normalized words in alphabetical order, each as often as it
        occurs. Stop words are left out, unless there is nothing else.
    """
    words = normalized_words(text)
    return tuple(sorted([word for word in words if word not in STOP_WORDS] or words))


def content_words(text: str) -> list[str]:
    """List the words of a text without stop words, unless there is nothing else.

    text (str): Any text.
    RETURNS (List[str]): Normalized words in order; see `normalized_words`.
    """
    words = normalized_words(text)
    return [word for word in words if word not in STOP_WORDS] or words


def normalized_words(text: str) -> list[str]:
    """List the words of a text in order: in lower case and American spelling, without plurals,
    possessives, accents and the tags of terminologies, Greek letters spelled out, "ß" as "ss", and
    Roman numerals up to nine as digits, also before a letter: "IIIb". Letters and digits are
    separate words: "CD4" is "cd" and "4". A single "A", also that of "3a", stays a capital, unlike
    the article.

    text (str): Any text.
    RETURNS (List[str]): The words, including stop words.
    """
    plain = text if text.isascii() else spell_greek(unify_dashes(unify_unicode(text)))
    words = drop_possessives((strip_tags(plain) or text).replace("`", "'"))
    if "I" in words or "V" in words:
        words = _ROMAN.sub(_split_numeral, words)
    if _NUMBER.search(words):  # Most texts have none, and searching is fast.
        words = _NUMBERED.sub(_LETTER, words)
    return list(map(_normalized, _WORD.findall(words)))


def _split_numeral(match: re.Match[str]) -> str:
    numeral, letter = filter(None, match.groups())
    return f"{_NUMERALS[numeral.lower()]}{letter.lower()}"


@lru_cache(maxsize=65_536)
def _normalized(word: str) -> str:
    if word == _LETTER:
        return word
    if len(word) > _LONGEST:
        return word.casefold()
    is_short_form = len(word) <= _SHORT_FORM and word.isupper()
    written = word if is_short_form or _PLURAL_FORM.fullmatch(word) else word.lower()
    singular = drop_plurals(write_american(written)).casefold()
    if not singular.isascii():
        decomposed = unicodedata.normalize("NFKD", singular)
        singular = "".join(each for each in decomposed if not unicodedata.combining(each))
    return _NUMERALS.get(singular, singular)


def hash_bags(bags: Iterable[tuple[str, ...]]) -> np.ndarray:
    """Hash bags of words.

    RETURNS (np.ndarray): uint64 (b,).
    """
    return np.fromiter(map(hash_bag, bags), dtype="uint64")


def hash_bag(bag: tuple[str, ...]) -> int:
    """Hash a bag of words. The hash is the sum of its words' hashes, so the hash of any window of
    words is a difference of running sums.

    RETURNS (int): 64 bits.
    """
    return sum(map(hash_word, bag)) % MODULUS


@lru_cache(maxsize=65_536)
def hash_word(word: str) -> int:
    """Hash a normalized word.

    RETURNS (int): 64 bits.
    """
    return int.from_bytes(blake2b(word.encode(), digest_size=8).digest(), "big")


def hash_parts(words: np.ndarray) -> np.ndarray:
    """Hash the parts that a substitution may replace in bags: no word, one word, or two words if at
    least one other is left.

    words (np.ndarray): uint64 (b, k): the hashes of the words of b bags.
    RETURNS (np.ndarray): uint64 (b, 1 + k + k * (k - 1) / 2): hashes, beginning with that of no
        word.
    """
    size = words.shape[1]
    one, other = pair_places(size)
    parts = [np.zeros((len(words), 1), dtype="uint64")]
    if size > 1:
        parts.append(words)
    if size > 2:
        parts.append(words[:, one] + words[:, other])
    return np.hstack(parts)


@lru_cache(maxsize=128)
def pair_places(size: int) -> tuple[np.ndarray, np.ndarray]:
    """List all pairs of a number of words. Mentions of the same length share them.

    RETURNS (Tuple[Ints1d, Ints1d]): int64: the positions of the first and the second word of each
        pair.
    """
    one, other = np.triu_indices(size, 1)
    return one, other


# The minimum number of letters that both words begin with.
_SHORTEST_STEM = 4
# Endings of adjectives, verbs and plurals, with those of nouns. "-ly", "-ant" and "-ent" are left
# out on purpose: such words rarely mean the noun ("dose-dependent" is not a dependence).
_ENDINGS = {
    **{"al": ("a", "um", "us", "is", "e", "on", ""), "ial": ("y", "ium", "ia", "is")},
    **{"eal": ("us", "is"), "geal": ("x",), "cal": ("x",), "ical": ("ex", "ix"), "atic": ("",)},
    **{"ar": ("e", "us", "um", "a"), "ular": ("le",), "icular": ("is",), "ary": ("a", "e")},
    **{"ic": ("ia", "us", "e", "on", ""), "betic": ("betes",), "itic": ("itis",)},
    **{"tic": ("sis", "sy", "sia"), "ptic": ("pse",), "blastic": ("blast",), "clastic": ("clast",)},
    **{"eatic": ("eas",), "petic": ("pes",), "pneic": ("pnea",), "istic": ("ism",)},
    **{"less": ("lessness",), "ful": ("fulness",), "pathic": ("pathy",), "cephalic": ("cephaly",)},
    **{"thyroid": ("thyroidism",), "trophic": ("trophy",), "allergic": ("allergy",)},
    **{"yonic": ("yo",), "ian": ("y", "ism"), "sive": ("sion",), "inous": ("e",)},
    **{"ous": ("a", "e", "ety"), "matous": ("ma",), "ese": ("esity",), "ive": ("ivity",)},
    **{"y": ("iness", "ing"), "e": ("ing",), "cient": ("ciency",), "nant": ("nancy",)},
    **{"erine": ("erus",), "i": ("us",), "ae": ("a",), "a": ("um", "on"), "mata": ("ma",)},
    **{"se": ("sis",), "te": ("tis",)},
}
_LONGEST_ENDING = max(map(len, _ENDINGS))
# The endings of adjectives that say where or of what.
_OF_NOUNS = ("al", "ial", "eal", "ar", "ary", "ic", "atic", "ous")


def _inverted(values: Mapping[str, Iterable[str]]) -> dict[str, list[str]]:
    keys = defaultdict[str, list[str]](list)
    for key, own in values.items():
        for each in own:
            keys[each].append(key)
    return dict(keys)


# "Retinal" by "retina", and "hepatic" by "liver".
_ADJECTIVE_ENDINGS = _inverted({each: _ENDINGS[each] for each in _OF_NOUNS})
_OTHER_ADJECTIVES = _inverted(OTHER_ROOTS)
# What names write as a word of its own: "pre-eclampsia", "maculo-papular".
_PREFIXES = (
    *("angio", "anti", "atlanto", "branchio", "broncho", "bronchiolo", "bulbo", "cardio"),
    *("cerebello", "cerebro", "cortico", "cranio", "entero", "esophago", "extra", "femoro"),
    *("gastro", "genito", "hemi", "hepato", "hyper", "hypo", "immuno", "inter", "intra"),
    *("lympho", "maculo", "maxillo", "micro", "multi", "musculo", "myelo", "naso", "nephro"),
    *("neuro", "non", "oculo", "oro", "osteo", "oto", "over", "para", "peri", "pharyngo"),
    *("pleuro", "poly", "post", "pre", "pseudo", "radio", "rhino", "semi", "septo", "sino"),
    *("sub", "super", "supra", "thrombo", "tracheo", "trans", "uretero", "vaso", "veno"),
    *("ventriculo", "vertebro", "vesico", "vestibulo"),
)
_SHORTEST_REST = 4
# Endings of nouns, and the two words that names have for what happens: "apoptotic process" for
# "apoptosis", "inflammatory response" for "inflammation".
_ACHE = "ache"
_EVENTS = (("osis", "otic", "process"), ("ation", "atory", "response"))


class Form(NamedTuple):
    """What a word may stand for.

    hash (int): The hash of one noun, or of the bag of several words.
    least (int): The minimum number of words in a text where the word stands for this.
    is_certain (bool): Whether it is the same: what longer names say for the word, and the parts of
        a compound.
    is_adjective (bool): Whether it is an adjective of the word: in a text, only words after a
        preposition stand for these, as in "atrophy of the cerebellum".
    """

    hash: int
    least: int
    is_certain: bool = False
    is_adjective: bool = False


def base_forms(word: str) -> tuple[str, ...]:
    """List the nouns that an adjective or another derived word may come from.

    word (str): A normalized word, see `word_bags.normalized_words`.
    RETURNS (Tuple[str, ...]): Normalized words, each once. Most of them do not exist.
    """
    if word in FUNCTION_WORDS:
        return ()  # "several" does not mean "severe"
    found = dict.fromkeys((*OTHER_ROOTS.get(word, ()), *STATES.get(word, ())))
    for cut in range(max(0, len(word) - _LONGEST_ENDING), len(word)):
        for noun_ending in _ENDINGS.get(word[cut:], ()):
            if noun_ending == "ing" and word in PLAIN_ADJECTIVES:
                continue  # a white arrow is no whiting
            form = word[:cut] + noun_ending
            if form[:_SHORTEST_STEM] == word[:_SHORTEST_STEM] and form != word:
                found[form] = None
    return tuple(found)


def adjectives_of(word: str) -> tuple[str, ...]:
    """List the adjectives of a noun: "retinal" for "retina".

    word (str): A normalized word, see `word_bags.normalized_words`.
    RETURNS (Tuple[str, ...]): Normalized words, each once. Most of them do not exist.
    """
    if word in FUNCTION_WORDS or len(word) < _SHORTEST_STEM:
        return ()
    found = dict.fromkeys(_OTHER_ADJECTIVES.get(word, ()))
    for cut in range(_SHORTEST_STEM, len(word) + 1):
        for ending in _ADJECTIVE_ENDINGS.get(word[cut:], ()):
            found[word[:cut] + ending] = None
    return tuple(found)


def paraphrases(word: str) -> tuple[tuple[str, ...], ...]:
    """List what names may say in other words: "kidney disease" for "nephropathy", "respiratory
    system" for "respiratory", "apoptotic process" for "apoptosis", and "diabetes mellitus" for
    "diabetes".

    word (str): A normalized word, see `word_bags.normalized_words`.
    RETURNS (Tuple[Tuple[str, ...], ...]): Bags of normalized words. Many of them are no names.
    """
    found = [*product(DISEASES_OF.get(word, ()), ("disease", "disorder"))]
    if word in SYSTEMS:
        found.append((SYSTEMS[word], "system"))
    found += [
        (word.removesuffix(noun) + adjective, head)
        for noun, adjective, head in _EVENTS
        if word.endswith(noun)
    ]
    if word.endswith(_ACHE):
        found.append((word.removesuffix(_ACHE), "pain"))
    return (*found, *(tuple(each.split()) for each in SAID_FOR.get(word, ())))


def compounds(word: str) -> tuple[tuple[str, str], ...]:
    """List the two words that names may write a compound as: "pre-eclampsia" for "preeclampsia".

    word (str): A normalized word, see `word_bags.normalized_words`.
    RETURNS (Tuple[Tuple[str, str], ...]): Pairs of normalized words.
    """
    if not word.startswith(_PREFIXES):
        return ()
    parts = ((each, word[len(each) :]) for each in _PREFIXES if word.startswith(each))
    return tuple((prefix, rest) for prefix, rest in parts if len(rest) >= _SHORTEST_REST)


@lru_cache(maxsize=65_536)
def forms_of(word: str) -> tuple[Form, ...]:
    """List what a word may stand for, by hash.

    word (str): A normalized word.
    RETURNS (Tuple[Form, ...]): Its `base_forms`, `paraphrases` and `compounds`, what longer names
        say for it ("dryness" for "dry"), and its adjectives.
    """
    nouns, words = map(hash_word, base_forms(word)), map(hash_bag, paraphrases(word))
    qualities = (f"{word}ness",) if word in PLAIN_ADJECTIVES else ()
    changed = map(hash_word, CHANGES.get(word, qualities))
    least = 2 if word in OWN_MEANINGS else 1
    within = (hash_bag(tuple(each.split())) for each in SAID_WITHIN.get(word, ()))
    return (
        *map(Form, nouns, repeat(least)),
        *map(Form, changed, repeat(2)),
        *map(Form, words, repeat(1)),
        *map(Form, map(hash_bag, compounds(word)), repeat(1), repeat(True)),
        *map(Form, within, repeat(2), repeat(True)),
        *map(Form, map(hash_word, adjectives_of(word)), repeat(2), repeat(False), repeat(True)),
    )
