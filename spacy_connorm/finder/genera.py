"""The genus of organisms of which a text has the initial: "E. coli"."""

import re
from collections import defaultdict
from functools import cached_property, lru_cache
from itertools import compress, product

from ..documents.token_texts import JoinedTexts
from ..text.bag_hashes import MODULUS, hash_bag, hash_word
from .known_names import KnownNames
from .name_windows import FILLER, Replacements, TokenArrays

_INITIAL = re.compile(r"([A-Z])\.(?<![^\W_]..) ?(?=([a-z]{4,}))")
_SHORTEST = 4
_CACHED = 10_000
_UNKNOWN = ""


class Genera:
    """Finds the one word of names that an initial before the name of a species stands for."""

    def __init__(self, names: KnownNames) -> None:
        """Start with an empty cache.

        names (KnownNames): The names.
        """
        self._names = names
        self._genus = lru_cache(_CACHED)(self._find_genus)

    def read(self, texts: JoinedTexts, tokens: TokenArrays) -> Replacements:
        """List the genera that initials stand for. The period after one is not a pause.

        texts (JoinedTexts): The documents.
        tokens (TokenArrays): Their tokens, changed in place.
        RETURNS (Replacements): The words of names, by token.
        """
        rows = []
        for match in _INITIAL.finditer(texts.text):
            genus = self._genus(match[1], match[2])
            place = texts.token_before(match.end(1))
            if genus and place is not None:
                if texts.tokens[place] == match[1]:
                    # spaCy has most such periods in the token.
                    tokens.kinds[place + 1] = FILLER
                letter = self._names.index.words.known_bag(match[1])
                change = (hash_word(genus) - hash_bag(letter)) % MODULUS
                # "E.coli" looks like an address on the web.
                is_both = texts.tokens[place].endswith(match[2])
                rows.append((place, change, 1.0, 1 if is_both else 2))
        return Replacements.of(rows)

    def _find_genus(self, initial: str, species: str) -> str:
        """Find the only word that begins with an initial and stands before a species in names.

        RETURNS (str): The word; empty if there are several or none.
        """
        words = self._names.index.words
        normalized = words.normalized(species)
        if len(normalized) != 1 or not self._may_be_species(normalized[0]):
            return _UNKNOWN
        pairs = [*product(self._by_initial[initial.lower()], normalized)]
        genera = [genus for genus, _ in compress(pairs, self._names.are_neighbours(pairs))]
        return genera[0] if len(genera) == 1 else _UNKNOWN

    def _may_be_species(self, word: str) -> bool:
        """Check for a word of names that is neither a name itself nor a head or an adjective.
        "C. cough" is an item of a list.
        """
        words = self._names.index.words
        is_other = words.is_head(word) or words.is_adjective(word)
        is_name = is_other or bool(self._names.names(hash_word(word)))
        return not is_name and self._names.has_word(word)

    @cached_property
    def _by_initial(self) -> dict[str, list[str]]:
        by_initial = defaultdict[str, list[str]](list)
        lacks_noun = self._names.index.words.lacks_noun
        for word in self._names.index.name_words.vocabulary_words():
            if len(word) >= _SHORTEST and word.isalpha() and not lacks_noun(word):
                by_initial[word[0]].append(word)
        return by_initial
