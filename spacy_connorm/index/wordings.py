"""Other words that texts have for those of names: a compound in two words, or two words in one,
"head ache" for "headache" and "gallbladder" for "gall bladder"; and everyday phrases, "throwing up"
for "vomiting".
"""

from collections.abc import Collection, Iterable, Iterator
from itertools import chain, combinations, compress, product
from typing import NamedTuple, TypeAlias

import numpy as np

from ..files.arrays import list_ranges
from ..text.bag_hashes import hash_bags, hash_word
from ..text.words import Words
from .hash_sets import HashSet
from .name_words import NameWords

Bag: TypeAlias = tuple[str, ...]
# The minimum number of letters of each part.
_SHORTEST = 3
# The maximum number of words of a name, and of those replaced in it.
_MOST_WORDS, _MOST_REPLACED = 8, 3
# The number of names read at once.
_BLOCK = 1 << 16


class Wordings(NamedTuple):
    """The bags of words that names have in other words.

    hashes (np.ndarray): uint64 (b,): the hash of each bag.
    texts (Ints1d): int64 (b,): the number of its name.
    words (np.ndarray): uint64 (w,): the hashes of words that they may have.
    longest (int): The number of words in the longest bag; 0 if there are none.
    """

    hashes: np.ndarray
    texts: np.ndarray
    words: np.ndarray
    longest: int


def other_wordings(names: NameWords, bags: HashSet, words: Words) -> Wordings:
    """List the bags of words that names have once a compound is written as two words, or two words
    as one, or an everyday phrase stands for what they say.

    names (NameWords): The words of n names.
    bags (HashSet): The bags of the words of each.
    words (Words): Reads the words of their language.
    RETURNS (Wordings): The bags.
    """
    vocabulary = names.vocabulary_words()
    compounds = list(_compounds(vocabulary, words.classes.stop_words))
    phrases = list(_phrases(vocabulary, bags, words))
    table = _Table.of([*compounds, *((others, part) for part, others in compounds), *phrases])
    values, texts, longest = [np.zeros(0, "uint64")], [np.zeros(0, "int64")], 0
    hashes = names.hashes
    for first in range(0, len(names.start) - 1, _BLOCK) if len(table.parts) else ():
        start = names.start[first : first + _BLOCK + 1]
        block = hashes[names.numbers[start[0] : start[-1]]]
        for reworded, numbers, sizes in _reworded(block, start - start[0], table):
            values.append(reworded)
            texts.append(numbers + first)
            longest = max(longest, sizes.max(initial=0))
    new = {word for _, others in phrases for word in others}
    return Wordings(
        np.concatenate(values),
        np.concatenate(texts),
        np.fromiter(map(hash_word, new), "uint64", len(new)),
        int(longest),
    )


def _compounds(
    vocabulary: Collection[str], stop_words: Collection[str]
) -> Iterator[tuple[Bag, Bag]]:
    """Find the words that are made of two others, but for words of grammar: "overweight" is not
    what "a talk over weight" is about.

    YIELDS (Tuple[Tuple[str, ...], Tuple[str, ...]]): Each word, and its parts.
    """
    parts = {word for word in vocabulary if word.isalpha()}.difference(stop_words)
    for word in vocabulary:
        for cut in range(_SHORTEST, len(word) - _SHORTEST + 1):
            if word[:cut] in parts and word[cut:] in parts:
                yield (word,), (word[:cut], word[cut:])


def _phrases(vocabulary: Iterable[str], bags: HashSet, words: Words) -> Iterator[tuple[Bag, Bag]]:
    """List the everyday phrases for what names may say: for the first that is a whole name, or else
    for all whose words names have. A name that is such a phrase has the first.

    YIELDS (Tuple[Tuple[str, ...], Tuple[str, ...]]): The words of names, and the others.
    """
    known = frozenset(vocabulary)
    possible = [
        bag
        for phrase in words.phrases
        for bag in chain(phrase.bags, phrase.stands_for)
        if known.issuperset(bag)
    ]
    names = set(compress(possible, bags.contain(hash_bags(possible))))
    for phrase in words.phrases:
        whole = [bag for bag in phrase.stands_for if bag in names][:1]
        yield from product(whole or filter(known.issuperset, phrase.stands_for), phrase.bags)
        if not whole:
            yield from product(filter(names.__contains__, phrase.bags), phrase.stands_for[:1])


class _Table(NamedTuple):
    """What replaces what, sorted by the hash of the words to replace.

    parts (np.ndarray): uint64 (n,): the hashes of the words to replace.
    changes (np.ndarray): uint64 (n,): what replacing them adds to the hash of a bag.
    added (Ints1d): int64 (n,): how many words it adds.
    known (HashSet): The different parts.
    """

    parts: np.ndarray
    changes: np.ndarray
    added: np.ndarray
    known: HashSet

    @classmethod
    def of(cls, pairs: Collection[tuple[Bag, Bag]]) -> "_Table":
        """RETURNS (_Table): A table of pairs of words to replace, and others."""
        parts = hash_bags(part for part, _ in pairs)
        changes = hash_bags(others for _, others in pairs) - parts
        added = np.array([len(others) - len(part) for part, others in pairs], dtype="int64")
        order = np.argsort(parts, kind="stable")
        return cls(parts[order], changes[order], added[order], HashSet.of(parts.tolist()))

    def rows_of(self, parts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """List what replaces some parts of names.

        parts (np.ndarray): uint64 (p,): the hashes of their words.
        RETURNS (Tuple[Ints1d, Ints1d]): int64: which part each row is about, and the rows.
        """
        which = np.flatnonzero(self.known.contain(parts))
        first = np.searchsorted(self.parts, parts[which], "left")
        last = np.searchsorted(self.parts, parts[which], "right")
        owners, rows = list_ranges(first, last)
        return which[owners], rows


def _reworded(
    hashes: np.ndarray, start: np.ndarray, table: _Table
) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Replace up to three words of names, or all of them.

    hashes (np.ndarray): uint64 (w,): the hashes of all words of n names.
    start (Ints1d): int64 (n + 1,): the words of name i are start[i] to start[i + 1].
    table (_Table): What replaces what.
    YIELDS (Tuple[np.ndarray, Ints1d, Ints1d]): The hashes of the new bags, uint64, the number of
        the name of each, and the number of its words, int64.
    """
    sizes = np.diff(start)
    owners = np.repeat(np.arange(len(sizes)), sizes)
    sums = np.concatenate([np.zeros(1, "uint64"), np.cumsum(hashes, dtype="uint64")])
    bags = sums[start[1:]] - sums[start[:-1]]
    is_short = np.repeat(sizes <= _MOST_WORDS, sizes)
    places = range(1, min(_MOST_WORDS, sizes.max(initial=0)))
    for others in chain.from_iterable(combinations(places, size) for size in range(_MOST_REPLACED)):
        last = max(others, default=0)
        one = np.arange(len(hashes) - last)
        one = one[is_short[one] & (owners[one] == owners[one + last])]
        which, rows = table.rows_of(sum((hashes[one + place] for place in others), hashes[one]))
        numbers = owners[one[which]]
        yield bags[numbers] + table.changes[rows], numbers, sizes[numbers] + table.added[rows]
    whole = np.flatnonzero((sizes > _MOST_REPLACED) & (sizes <= _MOST_WORDS))
    which, rows = table.rows_of(bags[whole])
    numbers = whole[which]
    yield bags[numbers] + table.changes[rows], numbers, sizes[numbers] + table.added[rows]
