"""Words with a wrong, missing or extra letter, or two in the wrong order: "hypertention"; and two
words written as one: "nightblindness".
"""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import takewhile

import numpy as np
from spacy.tokens import Doc

from ..index.cache import Cache
from ..text.bag_hashes import MODULUS, hash_bag, hash_word
from ..text.word_forms import DERIVED
from ..text.words import Words
from .known_names import KnownNames
from .name_windows import ADVERB, WORD, Replacements, TokenArrays

# Shorter words are too often one letter away from others, and even more so with another letter in
# the place of one ("desmoid", "dermoid"), unless both are vowels ("pulmunary").
_SHORTEST, _SHORTEST_CHANGED = 7, 10
# The minimum number of letters of each of two words.
_SHORTEST_PART = 3
_VOWELS = frozenset("aeiouy")
# Of this many words, nearly all are one letter away from others.
_MOST_WORDS = 200_000
# Between sentences, where any word may begin with a capital.
_ENDS = frozenset(".:;!?-*•")
# Follows all letters.
_AFTER_ALL = "\uffff"
_CACHED = 100_000
_UNCHANGED = 0


class MisspelledWords:
    """Finds the one word of names, or the two, that an unknown word is meant to be."""

    def __init__(self, names: KnownNames, words: Words) -> None:
        """Start with an empty cache.

        names (KnownNames): The names.
        words (Words): Reads the words of their language.
        """
        self._names = names
        self._words = words
        self._forms = sorted(words.classes.combining_forms, key=len, reverse=True)
        self._known: Cache[str, int] = Cache(_CACHED)

    def read(
        self, docs: Sequence[Doc], offsets: Sequence[int], tokens: TokenArrays
    ) -> Replacements:
        """List what the misspelled tokens of documents stand for.

        docs (Sequence[Doc]): The documents.
        offsets (Sequence[int]): The first token of each, see `token_words.document_offsets`.
        tokens (TokenArrays): Their tokens.
        RETURNS (Replacements): The words of names, by token.
        """
        # "Splenomegally" looks like an adverb.
        is_word = (tokens.kinds == WORD) | (tokens.kinds == ADVERB)
        is_long = is_word & (tokens.sizes == 1) & (tokens.letters >= _SHORTEST)
        places = np.flatnonzero(is_long)
        places = places[~self._names.have_words(tokens.hashes[places])]
        owners = np.searchsorted(offsets, places, side="right") - 1
        inside = places - np.asarray(offsets)[owners]
        written = {
            place: docs[owner][number].lower_
            for place, owner, number in zip(
                places.tolist(), owners.tolist(), inside.tolist(), strict=True
            )
            if _may_be_word(docs[owner], number)
        }
        changes = self._known.get_all(set(written.values()), self._read)
        meant = ((place, changes[word]) for place, word in written.items())
        return Replacements.of((place, change, DERIVED, 1) for place, change in meant if change)

    def _read(self, texts: Sequence[str]) -> dict[str, int]:
        return {text: self._change(text) for text in texts}

    def _change(self, text: str) -> int:
        """Compute what the meant word adds to the hash of a text, modulo 2^64.

        RETURNS (int): The difference; 0 if the text is a word, or may stand for several or none.
        """
        normalized = self._words.normalized(text)
        if len(normalized) != 1 or not all(self._sorted):
            return _UNCHANGED
        (word,) = normalized
        if parts := self._parts(word):
            return (hash_bag(parts) - hash_word(word)) % MODULUS
        if any(map(self._words.language.lemma, (text, word))):
            return _UNCHANGED
        # "Nystagmas" is not a plural.
        meant = {
            other
            for form in (word, text)
            for other in self._like(form)
            if self._may_mean(form, other)
        }
        if len(meant) != 1:
            return _UNCHANGED
        return (hash_word(meant.pop()) - hash_word(word)) % MODULUS

    def _parts(self, word: str) -> tuple[str, ...]:
        """Find the two words that stand side by side in names, and that a word is made of.

        RETURNS (Tuple[str, ...]): The words; empty if there are none.
        """
        cuts = range(_SHORTEST_PART, len(word) - _SHORTEST_PART + 1)
        pairs = ((word[:cut], word[cut:]) for cut in cuts)
        return next((pair for pair in pairs if self._names.are_neighbours(*pair)), ())

    @cached_property
    def _sorted(self) -> tuple[list[str], list[str]]:
        """The words of names, and the same from their last letter to the first, both sorted."""
        vocabulary = self._names.index.name_words.vocabulary
        if len(vocabulary) > _MOST_WORDS or not self._words.classes.inflected_endings:
            return [], []
        words = [word for word in vocabulary.read(np.arange(len(vocabulary))) if word.isalpha()]
        words = [word for word in words if len(word) >= _SHORTEST]
        return sorted(words), sorted(word[::-1] for word in words)

    def _like(self, word: str) -> Iterator[str]:
        """List the words of names with the same first or second half: one mistake leaves one of
        them as it is.

        YIELDS (str): The words.
        """
        half = len(word) // 2
        forward, backward = self._sorted
        yield from _beginning(word[:half], forward, len(word))
        turned = _beginning(word[: half - 1 : -1], backward, len(word))
        yield from (other[::-1] for other in turned)

    def _may_mean(self, word: str, other: str) -> bool:
        return _is_one_letter_away(word, other) and self._begin_alike(word, other)

    def _begin_alike(self, word: str, other: str) -> bool:
        """Check whether words begin with the same combining form, or one of them with none:
        "macrognathia" is not micrognathia.
        """
        one, another = (next(filter(text.startswith, self._forms), "") for text in (word, other))
        return one == another or not (one and another)


def _may_be_word(doc: Doc, place: int) -> bool:
    """Check for letters in lower case, but for the first one of a sentence. Names are not
    misspelled.
    """
    token = doc[place]
    if not token.is_alpha or token.is_lower:
        return token.is_alpha
    before = doc[place - 1] if place else None
    return token.is_title and (before is None or before.text in _ENDS or before.is_space)


def _beginning(start: str, words: Sequence[str], size: int) -> list[str]:
    """List the words with a beginning and a size, or one letter more or less, from sorted ones.

    RETURNS (List[str]): The words.
    """
    first, last = bisect_left(words, start), bisect_left(words, start + _AFTER_ALL)
    return [word for word in words[first:last] if -1 <= len(word) - size <= 1]


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
        return len(word) >= _SHORTEST_CHANGED or letters <= _VOWELS or "" in letters
    is_turned = rest[:2] == right[1::-1] and rest[2:] == right[2:]
    return is_turned or right == rest[1:] or rest == right[1:]
