"""Which language the names of an ontology are in, as their small words tell."""

from collections import Counter
from collections.abc import Iterable
from itertools import chain, islice

from ..concepts import Concept
from ..lang import load_language, strip_accents
from ..lang.language import KNOWN_LANGUAGES

_MOST_CONCEPTS = 2000
# The minimum share of small words, those that bags of words leave out, among all words.
_LEAST = 0.03


def names_language(concepts: Iterable[Concept]) -> str:
    """Find the language of names.

    concepts (Iterable[Concept]): The concepts; only the first ones are read.
    RETURNS (str): The code of the language with most of their small words; empty if there are too
        few of them to tell.
    """
    names = chain.from_iterable(concept.names for concept in islice(concepts, _MOST_CONCEPTS))
    words = Counter(strip_accents(word) for name in names for word in name.lower().split())
    counts = {
        code: sum(words[word] for word in load_language(code).words.function_words)
        for code in KNOWN_LANGUAGES
    }
    best = max(counts, key=counts.__getitem__)
    return best if counts[best] > _LEAST * words.total() else ""
