"""Words with a wrong, missing or extra letter, or two in the wrong order: "hypertention"; two words
written as one: "nightblindness"; and one written as two: "nose bleed".
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import chain, compress, takewhile

import numpy as np

from ..documents.token_texts import JoinedTexts
from ..index.cache import Cache
from ..text.bag_hashes import MODULUS, hash_bag, hash_word
from ..text.word_forms import DERIVED
from .known_names import KnownNames, words_beginning
from .name_windows import ADVERB, WORD, Replacements, TokenArrays

# Shorter words are too often one letter away from others, and even more so with another letter in
# the place of one ("desmoid", "dermoid"), unless both are vowels ("pulmunary") or sound alike
# ("jaundise").
_SHORTEST, _SHORTEST_CHANGED = 7, 10
# Shorter words and names of people count beside another word of a name: "breast cacner", "early
# Alzhiemer's disease".
_SHORTEST_BESIDE, _BESIDE = 5, 2
# The minimum number of letters of each of two words.
_SHORTEST_PART = 3
# No word of a name is longer.
_LONGEST = 60
_VOWELS = frozenset("aeiouy")
_ALIKE = (frozenset("cks"), frozenset("sz"))
# Between sentences, where any word may begin with a capital.
_ENDS = frozenset(".:;!?-*•")
_CACHED = 100_000
_UNCHANGED = 0


class MisspelledWords:
    """Finds the one word of names, or the two, that an unknown word is meant to be."""

    def __init__(self, names: KnownNames) -> None:
        """Start with an empty cache.

        names (KnownNames): The names.
        """
        self._names = names
        self._words = names.index.words
        self._forms = sorted(self._words.classes.combining_forms, key=len, reverse=True)
        self._known: Cache[str, int] = Cache(_CACHED)

    def read(self, texts: JoinedTexts, tokens: TokenArrays) -> Replacements:
        """List what the misspelled tokens of documents stand for.

        texts (JoinedTexts): The documents.
        tokens (TokenArrays): Their tokens.
        RETURNS (Replacements): The words of names, by token.
        """
        # "Splenomegally" looks like an adverb.
        is_word = (tokens.kinds == WORD) | (tokens.kinds == ADVERB)
        has_length = (tokens.letters >= _SHORTEST_BESIDE) & (tokens.letters <= _LONGEST)
        places = np.flatnonzero(is_word & (tokens.sizes == 1) & has_length)
        places = places[~self._names.have_words(tokens.hashes[places])]
        written = {
            place: texts.tokens[place]
            for place in places.tolist()
            if texts.tokens[place].isalpha() and texts.tokens[place][1:].islower()
        }
        changes = self._known.get_all(set(map(str.lower, written.values())), self._read)
        meant = ((place, changes[text.lower()]) for place, text in written.items())
        words = (
            (place, change, DERIVED, 1 if _may_be_alone(texts, place) else _BESIDE)
            for place, change in meant
            if change
        )
        return Replacements.of(sorted(chain(words, self._divided(texts, tokens))))

    def _divided(
        self, texts: JoinedTexts, tokens: TokenArrays
    ) -> Iterator[tuple[int, int, float, int]]:
        """List the words of names that are written as two: "nose bleed", "cardio myopathy".

        YIELDS (Tuple[int, int, float, int]): A replacement of the first of both, and one of the
            second, so that the window goes on.
        """
        are_parts = (tokens.kinds == WORD) & (tokens.sizes == 1)
        are_parts &= tokens.letters >= _SHORTEST_PART
        small = self._words.classes.stop_words
        places = np.flatnonzero(are_parts[:-1] & are_parts[1:]).tolist()
        for place in places if self._vocabulary else ():
            first, second = (text.lower() for text in texts.tokens[place : place + 2])
            if first in small or second in small:
                continue
            joined = first + self._words.normalized(second)[0]
            if joined in self._vocabulary:
                both = int(tokens.hashes[place]) + int(tokens.hashes[place + 1])
                yield place, (hash_word(joined) - both) % MODULUS, DERIVED, _BESIDE
                yield place + 1, _UNCHANGED, DERIVED, _BESIDE

    def _read(self, texts: Sequence[str]) -> dict[str, int]:
        words = {text: self._words.normalized(text) for text in texts if all(self._sorted)}
        single = {text: words_of[0] for text, words_of in words.items() if len(words_of) == 1}
        parts = self._parts(set(single.values()))
        changes = dict.fromkeys(texts, _UNCHANGED)
        for text, word in single.items():
            meant = parts.get(word) or self._meant(text, word)
            if meant:
                changes[text] = (hash_bag(meant) - hash_word(word)) % MODULUS
        return changes

    def _parts(self, words: Iterable[str]) -> dict[str, tuple[str, ...]]:
        """Find words that are made of two that stand side by side in names.

        RETURNS (Dict[str, Tuple[str, ...]]): The two, by word.
        """
        pairs = [
            (word[:cut], word[cut:])
            for word in words
            for cut in range(_SHORTEST_PART, len(word) - _SHORTEST_PART + 1)
        ]
        are_known = self._names.are_neighbours(pairs)
        return {first + last: (first, last) for first, last in compress(pairs, are_known)}

    def _meant(self, text: str, word: str) -> tuple[str, ...]:
        """Find the word of names that is one mistake away from another.

        text (str): The other word, in lower case.
        word (str): The same, normalized.
        RETURNS (Tuple[str, ...]): The word; empty if it is none, or could be several.
        """
        if any(map(self._words.language.lemma, (text, word))):
            return ()
        # "Nystagmas" is not a plural, nor is "pancreatits".
        for form in dict.fromkeys((text, word)):
            meant = {other for other in self._like(form) if self._may_mean(form, other)}
            if meant:
                return tuple(meant) if len(meant) == 1 else ()
        return ()

    @cached_property
    def _vocabulary(self) -> frozenset[str]:
        """The words of names."""
        return frozenset(self._sorted[0])

    @cached_property
    def _sorted(self) -> tuple[list[str], list[str]]:
        """The words of names, and the same from their last letter to the first, both sorted."""
        if not self._words.classes.inflected_endings:
            return [], []
        words = [word for word in self._names.sorted_words if len(word) >= _SHORTEST_BESIDE]
        return words, sorted(word[::-1] for word in words)

    def _like(self, word: str) -> Iterator[str]:
        """List the words of names with the same first or second half: one mistake leaves one of
        them as it is.

        YIELDS (str): The words.
        """
        half = len(word) // 2
        forward, backward = self._sorted
        # Two letters in the wrong order may be on both sides of the middle.
        yield from _beginning(word[: half - 1], forward, len(word))
        turned = _beginning(word[: half - 1 : -1], backward, len(word))
        yield from (other[::-1] for other in turned)

    def _may_mean(self, word: str, other: str) -> bool:
        is_long = len(other) >= min(len(word), _SHORTEST)
        return is_long and _is_one_letter_away(word, other) and self._begin_alike(word, other)

    def _begin_alike(self, word: str, other: str) -> bool:
        """Check whether words begin with the same combining form, or one of them with none:
        "macrognathia" is not micrognathia.
        """
        one, another = (next(filter(text.startswith, self._forms), "") for text in (word, other))
        return one == another or not (one and another)


def _may_be_alone(texts: JoinedTexts, place: int) -> bool:
    """Check for a long word in lower case, but for the first letter of a sentence. Names of people
    and places are not misspelled.
    """
    text = texts.tokens[place]
    before = texts.tokens[place - 1] if place else ""
    begins = not before or before in _ENDS or before.isspace()
    return len(text) >= _SHORTEST and (begins or text.islower())


def _beginning(start: str, words: Sequence[str], size: int) -> list[str]:
    """List the words with a beginning and a size, or one letter more or less, from sorted ones.

    RETURNS (List[str]): The words.
    """
    return [word for word in words_beginning(start, words) if -1 <= len(word) - size <= 1]


def _is_one_letter_away(word: str, other: str) -> bool:
    """Check whether one mistake after the first letter makes a word of another one.

    word (str): A word.
    other (str): Another one, one letter longer or shorter at most.
    RETURNS (bool): True if it does.
    """
    pairs = zip(word, other, strict=False)
    before = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    rest, right = word[before:], other[before:]
    if not before:
        return False
    if rest[1:] == right[1:]:
        letters = {rest[:1], right[:1]}
        # "Pleuritic" is not pleuritis.
        sound_alike = letters <= _VOWELS or (len(rest) > 1 and any(map(letters.issubset, _ALIKE)))
        return len(word) >= _SHORTEST_CHANGED or sound_alike or "" in letters
    is_turned = rest[:2] == right[1::-1] and rest[2:] == right[2:]
    return is_turned or right == rest[1:] or rest == right[1:]
