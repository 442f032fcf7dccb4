"""Words that are cut off, as notes write them: "nec fasc" is necrotizing fasciitis, and "Kleb.
pneumoniae" is Klebsiella pneumoniae.
"""

from collections.abc import Iterable
from itertools import chain, compress

import numpy as np

from ..documents.token_texts import JoinedTexts
from ..index.cache import Cache
from ..text.bag_hashes import MODULUS, hash_word
from ..text.word_forms import DERIVED
from .known_names import KnownNames, words_beginning
from .name_windows import FILLER, WORD, Replacements, TokenArrays

# The minimum number of letters that are there, also after a capital, and that are not.
_SHORTEST, _SHORTEST_CAPITALIZED, _FEWEST_MISSING = 3, 2, 2
# What begins so many words tells little.
_MOST_MEANT = 50
# A word beside it shows what is meant.
_BESIDE = 2
_PERIOD = "."
_CACHED = 100_000


class TruncatedWords:
    """Finds the words of names that begin with a word that no name has, and stand beside the same
    word there as in the text.
    """

    def __init__(self, names: KnownNames) -> None:
        """Start with an empty cache.

        names (KnownNames): The names.
        """
        self._names = names
        self._words = names.index.words
        self._known: Cache[str, tuple[str, ...]] = Cache(_CACHED)

    def read(self, texts: JoinedTexts, tokens: TokenArrays) -> Replacements:
        """List what the cut-off tokens of documents stand for. The period after one is not a pause.

        texts (JoinedTexts): The documents.
        tokens (TokenArrays): Their tokens, changed in place.
        RETURNS (Replacements): The words of names, by token.
        """
        meant = self._meant(texts, tokens)
        beside = {
            pair
            for place in meant
            for pair in ((_before(texts, place), place), (place, _after(texts, place)))
        }
        pairs = [
            ((place, word), (other, another))
            for place, other in sorted(beside)
            for word in meant.get(place) or self._words.normalized(texts.tokens[place])
            for another in meant.get(other) or self._words.normalized(texts.tokens[other])
        ]
        are_known = self._names.are_neighbours((word, other) for (_, word), (_, other) in pairs)
        found = set(chain.from_iterable(compress(pairs, are_known)))
        found = {(place, word) for place, word in found if place in meant}
        for place in {place for place, _ in found}:
            if _after(texts, place) > place + 1:
                tokens.kinds[place + 1] = FILLER
        return Replacements.of(
            (place, (hash_word(word) - int(tokens.hashes[place])) % MODULUS, DERIVED, _BESIDE)
            for place, word in sorted(found)
        )

    def _meant(self, texts: JoinedTexts, tokens: TokenArrays) -> dict[int, tuple[str, ...]]:
        """List the words of names that begin with tokens that are none themselves.

        RETURNS (Dict[int, Tuple[str, ...]]): The words by token; only of tokens that begin some.
        """
        has_length = tokens.letters >= _SHORTEST_CAPITALIZED
        places = np.flatnonzero((tokens.kinds == WORD) & (tokens.sizes == 1) & has_length)
        cut = {
            place: text.lower()
            for place in places.tolist()
            if (text := texts.tokens[place]).isalpha()
            and text[1:].islower()
            and (len(text) >= _SHORTEST or text[0].isupper())
        }
        meant = self._known.get_all(set(cut.values()), self._read)
        return {place: meant[text] for place, text in cut.items() if meant[text]}

    def _read(self, texts: Iterable[str]) -> dict[str, tuple[str, ...]]:
        return {text: self._longer(text) for text in texts}

    def _longer(self, text: str) -> tuple[str, ...]:
        """RETURNS (Tuple[str, ...]): The words of names that begin with a text in lower case."""
        words = self._words.normalized(text)
        # A compound is several words in some languages.
        if len(words) != 1 or text in self._words.classes.stop_words:
            return ()
        others = words_beginning(words[0], self._names.sorted_words)
        if len(others) > _MOST_MEANT or others[:1] == words:
            return ()
        longer = len(text) + _FEWEST_MISSING
        return tuple(word for word in others if len(word) >= longer)


def _before(texts: JoinedTexts, place: int) -> int:
    """RETURNS (int): The token before another, or before the period between them, which does not
    end a sentence.
    """
    is_after_period = texts.tokens[place - 1] == _PERIOD and texts.tokens[place].islower()
    return place - 2 if is_after_period else place - 1


def _after(texts: JoinedTexts, place: int) -> int:
    """RETURNS (int): The token after another, or after the period between them."""
    # The last token is empty.
    after = place + 1
    return after + 1 if _before(texts, after + 1) == place else after
