"""Words used in place of each other in names of the same concept: "renal" and "kidney".

Names of a concept are compared as bags of words. The words that two of them do not share are a
pair, and the words that they share are its context. A pair that occurs in several contexts is
counted over all names: how often replacing one by the other gives another name of the same concept,
and how often a name of another concept.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import chain, combinations
from typing import NamedTuple, TypeAlias

import numpy as np

from ..lang import LanguageData
from .bag_hashes import hash_bags, hash_parts, hash_word
from .words import Words as WordReader

Words: TypeAlias = tuple[str, ...]
Pair: TypeAlias = tuple[Words, Words]
# The maximum number of words on either side of a substitution.
MAX_WORDS = 2
# Substitutions are kept from this many pairs of names of the same concept and this certainty on.
_MIN_SAME, _MIN_CERTAINTY = 2, 0.3
# Longer names share too little with others; further names of a concept are mostly word orders.
_MAX_BAG = 7
_MAX_NAMES = 60
# The number of names compared with the table at once.
_BLOCK = 4096
# Words that a name may contain twice.
_MAX_REPEATED = 1
# Most replacements give no name, as a table of the lowest bits of all hashes tells: a search takes
# ten times as long.
_LOW_BITS = np.uint64((1 << 22) - 1)


class Substitution(NamedTuple):
    """Words that can replace others, in both directions.

    words (Tuple[str, ...]): At most two normalized words, in alphabetical order.
    others (Tuple[str, ...]): At most two others; either side may be empty.
    same (int): How many pairs of names of the same concept differ only in these words.
    different (int): How many pairs of names of different concepts do.
    """

    words: Words
    others: Words
    same: int
    different: int

    @property
    def certainty(self) -> float:
        """How certain the substitution is.

        RETURNS (float): The share of pairs that name the same concept, 0 to 1. One additional pair
            is counted as different, so rare substitutions are less certain.
        """
        return self.same / (self.same + self.different + 1)


def find_substitutions(
    ontologies: Iterable[Iterable[Iterable[str]]], reader: WordReader
) -> list[Substitution]:
    """Find substitutions in the names of concepts: those of at least two pairs of names of the same
    concept, with a certainty of at least 0.3.

    ontologies (Iterable[Iterable[Iterable[str]]]): The names of each concept of each ontology. The
        bags of all names are in memory at once, about one kilobyte per name.
    reader (Words): Reads the words of their language.
    RETURNS (List[Substitution]): The most frequent first.
    """
    bags = [[_bags_of(names, reader) for names in ontology] for ontology in ontologies]
    partners = _Partners.of(_find_pairs(chain.from_iterable(bags)))
    counts = np.zeros((2, len(partners.pairs)), dtype="int64")
    for ontology in bags:
        counts += _count(ontology, partners)
    found = [
        Substitution(*pair, same, different)
        for pair, (same, different) in zip(partners.pairs, counts.T.tolist(), strict=True)
    ]
    kept = [row for row in found if row.same >= _MIN_SAME and row.certainty >= _MIN_CERTAINTY]
    return sorted(kept, key=lambda row: (-row.same, row.different, row.words, row.others))


def _bags_of(names: Iterable[str], reader: WordReader) -> list[Words]:
    bags = dict.fromkeys(map(reader.bag, names))
    return sorted(bag for bag in bags if 0 < len(bag) <= _MAX_BAG)


def _find_pairs(concepts: Iterable[Sequence[Words]]) -> set[Pair]:
    """Find the words in which two names of a concept differ, if at least two contexts show them."""
    first: dict[Pair, Words] = {}
    found = set[Pair]()
    for bags in concepts:
        if len(bags) > _MAX_NAMES:
            continue
        for one, other in combinations(bags, 2):
            # Few pairs pass this check, which is much faster than `_compare`.
            shared = len(set(one).intersection(other))
            if not shared or max(len(one), len(other)) - shared > MAX_WORDS + _MAX_REPEATED:
                continue
            words, others, common = _compare(one, other)
            if len(words) <= MAX_WORDS and len(others) <= MAX_WORDS:
                pair = _ordered(words, others)
                if first.setdefault(pair, common) != common:
                    found.add(pair)
    return found


def _compare(one: Words, other: Words) -> tuple[Words, Words, Words]:
    """Compare two bags of words.

    RETURNS (Tuple[Tuple[str, ...], Tuple[str, ...], Tuple[str, ...]]): The words only in the first,
        those only in the second, and those in both.
    """
    words, others, common = [], list(other), []
    for word in one:
        if word in others:
            others.remove(word)
            common.append(word)
        else:
            words.append(word)
    return tuple(words), tuple(others), tuple(common)


def _ordered(words: Words, others: Words) -> Pair:
    return (words, others) if words <= others else (others, words)


class _Partners(NamedTuple):
    """Pairs of words as arrays, sorted by the hash of the words to replace: the first ones, unless
    there are none. Few bags have the others, but to all bags they could be added.

    pairs (List[Tuple[Words, Words]]): n pairs.
    words (np.ndarray): uint64 (n,): the hash of the words to replace in each.
    change (np.ndarray): uint64 (n,): what replacing them adds to the hash of a bag.
    """

    pairs: list[Pair]
    words: np.ndarray
    change: np.ndarray

    @classmethod
    def of(cls, pairs: Iterable[Pair]) -> "_Partners":
        listed = sorted(pairs)
        words = hash_bags(first or second for first, second in listed)
        change = hash_bags(second if first else () for first, second in listed) - words
        order = np.argsort(words, kind="stable")
        return cls([listed[place] for place in order], words[order], change[order])


def _count(
    concepts: Iterable[Sequence[Words]], partners: _Partners
) -> tuple[np.ndarray, np.ndarray]:
    """Count the pairs of names of an ontology that differ only in a pair of words.

    RETURNS (Tuple[np.ndarray, np.ndarray]): int64 (n,): how many of them name the same concept, and
        how many name different ones, for each pair of words.
    """
    # Few bags have several owners: a set for each bag would take longer than all the rest.
    owner: dict[Words, int] = {}
    owners: dict[Words, set[int]] = {}
    for number, named in enumerate(concepts):
        for bag in named:
            if (first := owner.setdefault(bag, number)) != number:
                owners.setdefault(bag, {first}).add(number)
    by_size = defaultdict[int, list[Words]](list)
    for bag in owner:
        by_size[len(bag)].append(bag)
    bags = list(chain.from_iterable(by_size.values()))
    own = np.fromiter(map(owner.__getitem__, bags), "int64", len(bags))
    is_shared = np.fromiter(map(owners.__contains__, bags), "bool", len(bags))
    words = [
        np.array([[hash_word(word) for word in bag] for bag in some], dtype="uint64")
        for some in by_size.values()
    ]
    hashes = np.concatenate([np.zeros(0, "uint64"), *(word.sum(axis=1) for word in words)])
    order = np.argsort(hashes)
    likely = np.zeros(int(_LOW_BITS) + 1, dtype="bool")
    likely[hashes & _LOW_BITS] = True
    same, different = (np.zeros(len(partners.pairs), dtype="int64") for _ in range(2))
    start = 0
    for some in words:
        for block in (some[at : at + _BLOCK] for at in range(0, len(some), _BLOCK)):
            one, other, pair = _matches(block, start, hashes, order, likely, partners)
            is_same = own[one] == own[other]
            for at in np.flatnonzero(~is_same & (is_shared[one] | is_shared[other])).tolist():
                both = (bags[one[at]], bags[other[at]])
                mine, others = (owners.get(bag, {owner[bag]}) for bag in both)
                is_same[at] = not mine.isdisjoint(others)
            same += np.bincount(pair[is_same], minlength=len(same))
            different += np.bincount(pair[~is_same], minlength=len(same))
            start += len(block)
    return same, different


def _matches(
    words: np.ndarray,
    first: int,
    hashes: np.ndarray,
    order: np.ndarray,
    likely: np.ndarray,
    partners: _Partners,
) -> np.ndarray:
    """Find the names that differ from others by one substitution.

    words (np.ndarray): uint64 (b, k): the hashes of the words of b bags.
    first (int): The number of the first of them.
    hashes (np.ndarray): uint64 (n,): the hashes of all bags.
    order (Ints1d): int64 (n,): the numbers of all bags, sorted by hash.
    likely (np.ndarray): bool: whether a hash has these lowest bits.
    partners (_Partners): The substitutions.
    RETURNS (Ints2d): int64 (3, m): bags, others, and the substitutions, by number, each once.
    """
    replaced = hash_parts(words)
    left = np.searchsorted(partners.words, replaced, side="left")
    counts = np.searchsorted(partners.words, replaced, side="right") - left
    place, _ = np.nonzero(counts)
    spans = counts[counts > 0]
    pair = np.repeat(left[counts > 0] - np.cumsum(spans) + spans, spans) + np.arange(spans.sum())
    bag = np.repeat(place, spans) + first
    become = hashes[bag] + partners.change[pair]
    kept = np.flatnonzero(likely[become & _LOW_BITS])
    other = order[np.searchsorted(hashes, become[kept], sorter=order) % len(order)]
    equal = hashes[other] == become[kept]
    kept, other = kept[equal], other[equal]
    # A word that a bag contains twice can be replaced in two places.
    return np.unique(np.stack([bag[kept], other, pair[kept]]), axis=1)


# How many pairs of names would show the substitutions of a language's tables; rough counts.
_SHOWN, _ROOTS_SHOWN = 6, 19


def language_substitutions(language: LanguageData) -> list[Substitution]:
    """List the substitutions of a language's tables, which an ontology may be too small to show:
    words that only say that something is wrong, other words for the same, and adjectives with
    another root than their noun.

    language (LanguageData): The language.
    RETURNS (List[Substitution]): The substitutions.
    """
    words = language.words
    wrong = dict.fromkeys(
        (one, other)
        for preferred in (words.malformations, words.disorders)
        for one in sorted(preferred | words.complaints)
        for other in sorted(preferred)
        if one != other
    )
    rows = [
        (row.word, other, row.kind)
        for row in language.meanings
        if row.kind in ("alike", "root")
        for other in row.stands_for
    ]
    return [
        *(Substitution((one,), (other,), _SHOWN, 0) for one, other in wrong),
        *(
            Substitution((one,), (other,), _ROOTS_SHOWN if kind == "root" else _SHOWN, 0)
            for one, other, kind in rows
        ),
    ]
