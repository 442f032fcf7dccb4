"""Words used in place of each other in names of the same concept: "renal" and "kidney".

Names of a concept are compared as bags of words. The words that two of them do not share are a
pair, and the words that they share are its context. A pair that occurs in several contexts is
counted over all names: how often replacing one by the other gives another name of the same concept,
and how often a name of another concept.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, combinations
from typing import NamedTuple, TypeAlias

import numpy as np

from .word_bags import hash_bags, hash_parts, hash_word, word_bag
from .word_classes import OTHER_ROOTS

Words: TypeAlias = tuple[str, ...]
Pair: TypeAlias = tuple[Words, Words]
# The maximum number of words on either side of a substitution.
MAX_WORDS = 2
# Longer names share too little with others; further names of a concept are mostly word orders.
_MAX_BAG = 7
_MAX_NAMES = 60
_MIN_CONTEXTS = 2
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
    ontologies: Iterable[Iterable[Iterable[str]]],
    *,
    min_same: int = 2,
    min_certainty: float = 0.3,
) -> list[Substitution]:
    """Find substitutions in the names of concepts.

    ontologies (Iterable[Iterable[Iterable[str]]]): The names of each concept of each ontology. The
        bags of all names are in memory at once, about one kilobyte per name.
    min_same (int): Leave out substitutions found in fewer pairs of names of the same concept.
    min_certainty (float): Leave out less certain substitutions.
    RETURNS (List[Substitution]): The most frequent first.
    """
    bags = [[_bags_of(names) for names in ontology] for ontology in ontologies]
    partners = _Partners.of(_find_pairs(chain.from_iterable(bags)))
    counts = np.zeros((2, len(partners.pairs)), dtype="int64")
    for ontology in bags:
        counts += _count(ontology, partners)
    found = [
        Substitution(*pair, same, different)
        for pair, (same, different) in zip(partners.pairs, counts.T.tolist(), strict=True)
    ]
    kept = [each for each in found if each.same >= min_same and each.certainty >= min_certainty]
    return sorted(kept, key=lambda each: (-each.same, each.different, each.words, each.others))


def _bags_of(names: Iterable[str]) -> list[Words]:
    bags = dict.fromkeys(map(word_bag, names))
    return sorted(bag for bag in bags if 0 < len(bag) <= _MAX_BAG)


def _find_pairs(concepts: Iterable[Sequence[Words]]) -> list[Pair]:
    """Find the words in which two names of a concept differ, if at least two contexts show them.

    RETURNS (List[Tuple[Words, Words]]): Pairs of words.
    """
    contexts = defaultdict[Pair, set[Words]](set)
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
                contexts[_ordered(words, others)].add(common)
    return [pair for pair, found in contexts.items() if len(found) >= _MIN_CONTEXTS]


def _compare(one: Words, other: Words) -> tuple[Words, Words, Words]:
    """Compare two bags of words.

    RETURNS (Tuple[Tuple[str, ...], Tuple[str, ...], Tuple[str, ...]]): The words only in the first,
        those only in the second, and those in both.
    """
    first, second = Counter(one), Counter(other)
    common = first & second
    return (
        tuple((first - common).elements()),
        tuple((second - common).elements()),
        tuple(common.elements()),
    )


def _ordered(words: Words, others: Words) -> Pair:
    return (words, others) if words <= others else (others, words)


class _Partners(NamedTuple):
    """Pairs of words as arrays, sorted by the hash of the first.

    pairs (List[Tuple[Words, Words]]): n pairs.
    words (np.ndarray): uint64 (n,): the hash of the first words of each.
    change (np.ndarray): uint64 (n,): what replacing the first words by the second adds to the hash
        of a bag.
    """

    pairs: list[Pair]
    words: np.ndarray
    change: np.ndarray

    @classmethod
    def of(cls, pairs: Iterable[Pair]) -> "_Partners":
        listed = sorted(pairs)
        words = hash_bags([first for first, _ in listed])
        change = hash_bags([second for _, second in listed]) - words
        order = np.argsort(words, kind="stable")
        return cls([listed[place] for place in order], words[order], change[order])


def _count(
    concepts: Iterable[Sequence[Words]], partners: _Partners
) -> tuple[np.ndarray, np.ndarray]:
    """Count the pairs of names of an ontology that differ only in a pair of words.

    RETURNS (Tuple[np.ndarray, np.ndarray]): int64 (n,): how many of them name the same concept, and
        how many name different ones, for each pair of words.
    """
    owners = defaultdict[Words, set[int]](set)
    for number, bags in enumerate(concepts):
        for bag in bags:
            owners[bag].add(number)
    by_size = defaultdict[int, list[Words]](list)
    for bag in owners:
        by_size[len(bag)].append(bag)
    bags = list(chain.from_iterable(by_size.values()))
    own = [owners[bag] for bag in bags]
    hashes = hash_bags(bags)
    order = np.argsort(hashes)
    likely = np.zeros(int(_LOW_BITS) + 1, dtype="bool")
    likely[hashes & _LOW_BITS] = True
    same, different = (np.zeros(len(partners.pairs), dtype="int64") for _ in range(2))
    first = 0
    for some in by_size.values():
        for start in range(0, len(some), _BLOCK):
            block = some[start : start + _BLOCK]
            for number, other, pair in _matches(block, first, hashes, order, likely, partners):
                counts = different if own[number].isdisjoint(own[other]) else same
                counts[pair] += 1
            first += len(block)
    return same, different


def _matches(
    bags: Sequence[Words],
    first: int,
    hashes: np.ndarray,
    order: np.ndarray,
    likely: np.ndarray,
    partners: _Partners,
) -> Iterator[tuple[int, int, int]]:
    """Find the names that differ from others by one substitution.

    bags (Sequence[Tuple[str, ...]]): b bags of the same size.
    first (int): The number of the first of them.
    hashes (np.ndarray): uint64 (n,): the hashes of all bags.
    order (Ints1d): int64 (n,): the numbers of all bags, sorted by hash.
    likely (np.ndarray): bool: whether a hash has these lowest bits.
    partners (_Partners): The substitutions.
    YIELDS (Tuple[int, int, int]): A bag, another, and the substitution, by number, each once.
    """
    words = np.array([[hash_word(word) for word in bag] for bag in bags], dtype="uint64")
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
    matches = np.unique(np.stack([bag[kept], other, pair[kept]], axis=1), axis=0)
    yield from map(tuple, matches.tolist())


# Words that only say that something is wrong with what they refer to: those preferred by
# ontologies, and others found in texts.
_WRONG = ("abnormality", "anomaly", "defect", "disease", "disorder", "malformation")
_SAYING_WRONG = (
    *("deformity", "disturbance", "dysfunction", "feature", "finding", "impairment"),
    *("involvement", "lesion", "manifestation", "problem", "sign", "symptom"),
)
# English substitutions that an ontology may be too small to show; the counts are rough.
ENGLISH = (
    *(
        Substitution((one,), (other,), 6, 0)
        for one in (*_WRONG, *_SAYING_WRONG)
        for other in _WRONG
        if one != other
    ),
    *(
        Substitution((adjective,), (noun,), 19, 0)
        for adjective, nouns in OTHER_ROOTS.items()
        for noun in nouns
    ),
)
