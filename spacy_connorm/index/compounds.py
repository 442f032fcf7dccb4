"""Names with a compound that texts write as two words, or two words that they write as one: "head
ache" for "headache", and "gallbladder" for "gall bladder".
"""

from collections.abc import Collection, Iterator

import numpy as np

from ..text.substitutions import Substitution
from ..text.words import Words
from .name_words import NameWords
from .word_bags import RewritingTable

# The minimum number of letters of each part.
_SHORTEST = 3
# The maximum number of words of a name.
_MOST_WORDS = 8
# The number of names read at once.
_BLOCK = 1 << 16


def compound_bags(names: NameWords, words: Words) -> tuple[np.ndarray, np.ndarray]:
    """List the bags of words that names have once a compound is written as two words, or two words
    as one. The compound and both of its parts are words of names.

    names (NameWords): The words of n names.
    words (Words): Reads the words of their language.
    RETURNS (Tuple[np.ndarray, Ints1d]): The hash of each bag, uint64, and the number of its name,
        int64.
    """
    substitutions = _compounds(names.vocabulary_words(), words.classes.stop_words)
    table = RewritingTable.from_substitutions(substitutions)
    values, texts = [np.zeros(0, "uint64")], [np.zeros(0, "int64")]
    hashes = names.hashes
    for first in range(0, len(names.start) - 1, _BLOCK) if len(table.words) else ():
        start = names.start[first : first + _BLOCK + 1]
        block = hashes[names.numbers[start[0] : start[-1]]]
        for bags, numbers in _rewritten(block, start - start[0], table):
            values.append(bags)
            texts.append(numbers + first)
    return np.concatenate(values), np.concatenate(texts)


def _compounds(vocabulary: Collection[str], stop_words: Collection[str]) -> Iterator[Substitution]:
    """Find the words that are made of two others, but for words of grammar: "overweight" is not
    what "a talk over weight" is about.

    YIELDS (Substitution): Each word, and its parts.
    """
    parts = {word for word in vocabulary if word.isalpha()}.difference(stop_words)
    for word in vocabulary:
        for cut in range(_SHORTEST, len(word) - _SHORTEST + 1):
            if word[:cut] in parts and word[cut:] in parts:
                yield Substitution((word,), (word[:cut], word[cut:]), 1, 0)


def _rewritten(
    hashes: np.ndarray, start: np.ndarray, table: RewritingTable
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Replace one or two words of names.

    hashes (np.ndarray): uint64 (w,): the hashes of all words of n names.
    start (Ints1d): int64 (n + 1,): the words of name i are start[i] to start[i + 1].
    table (RewritingTable): What replaces what.
    YIELDS (Tuple[np.ndarray, Ints1d]): The hashes of the new bags, uint64, and the number of the
        name of each, int64.
    """
    sizes = np.diff(start)
    owners = np.repeat(np.arange(len(sizes)), sizes)
    sums = np.concatenate([np.zeros(1, "uint64"), np.cumsum(hashes, dtype="uint64")])
    bags = sums[start[1:]] - sums[start[:-1]]
    is_short = np.repeat(sizes <= _MOST_WORDS, sizes)
    for distance in range(min(_MOST_WORDS, sizes.max(initial=0))):
        one = np.arange(len(hashes) - distance)
        one = one[is_short[one] & (owners[one] == owners[one + distance])]
        parts = hashes[one] + (hashes[one + distance] if distance else np.uint64(0))
        which, changes, *_ = table.of_words(parts, 0.0)
        numbers = owners[one[which]]
        yield bags[numbers] + changes, numbers
