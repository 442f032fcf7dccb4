"""Words used in place of each other in names of the same concept: "renal" and "kidney", and endings
of such words: "bowed femurs" and "femoral bowing".

Names of a concept are compared as bags of words. The words that two of them do not share are a
pair, and the words that they share are its context. A pair that occurs in several contexts is
counted over all names: how often replacing one by the other gives another name of the same concept,
and how often a name of another concept.

A word may stand for another only in some company: "bone" for "phalanx" beside "finger" or "toe". If
a few words are in nearly all contexts of a pair, it holds beside these. A pair is refused if one of
its words has many other names without the other one: few bones are "fractured".

Endings are learned from pairs of words with the same beginning, whatever their context. They are
counted over the words of all names: with how many beginnings replacing one ending by the other
gives names of the same concept, and with how many only names of other concepts.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain, combinations
from typing import NamedTuple, TypeAlias, TypeVar

import numpy as np

from .bag_hashes import hash_bags, hash_parts, hash_word
from .word_forms import EndingPair, OtherEndings
from .words import Words as WordReader

Words: TypeAlias = tuple[str, ...]
Pair: TypeAlias = tuple[Words, Words]
Side = TypeVar("Side", Words, str)
# The maximum number of words on either side of a substitution.
MAX_WORDS = 2
# Substitutions are kept from this many pairs of names of the same concept and this certainty on.
_MIN_SAME, _MIN_CERTAINTY = 2, 0.3
# A pair has a company if this many words at most, each in this many contexts, are in nearly all of
# its contexts.
_MOST_COMPANIONS, _LEAST_CONTEXTS, _NEARLY_ALL = 4, 4, 0.9
# The minimum share of concepts with a word and names without it that have the other word.
_MIN_SHARE = 0.1
# Endings are kept from this many beginnings on, with this certainty.
_MIN_BEGINNINGS, _MIN_ENDING_CERTAINTY = 3, 0.75
# The maximum number of letters of an ending, and of one of the two: "-itis" and "-opathy" are words
# of their own.
_LONGEST_ENDING, _LONGEST_SHORTER = 6, 3
# Stands before an ending in a substitution.
HYPHEN = "-"
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

    words (Tuple[str, ...]): At most two normalized words, in alphabetical order, or an ending
        after a hyphen: "-ed".
    others (Tuple[str, ...]): At most two others, either side may be empty; or another ending.
    same (int): How many pairs of names of the same concept differ only in these words. For endings,
        how many pairs of words.
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

    @property
    def endings(self) -> EndingPair | None:
        """The two endings, if it is about endings.

        RETURNS (Optional[EndingPair]): Without their hyphens.
        """
        texts = (*self.words, *self.others)
        if len(texts) != len(self) // 2 or not all(text.startswith(HYPHEN) for text in texts):
            return None
        ending, other = (text.removeprefix(HYPHEN) for text in texts)
        return EndingPair(ending, other, round(self.certainty, 3))


def find_substitutions(
    ontologies: Iterable[Iterable[Iterable[str]]], reader: WordReader
) -> list[Substitution]:
    """Find substitutions in the names of concepts: those of at least two pairs of names of the same
    concept, with a certainty of at least 0.3, and endings of at least three pairs of words, with a
    certainty of at least 0.75.

    ontologies (Iterable[Iterable[Iterable[str]]]): The names of each concept of each ontology. The
        bags of all names are in memory at once, about one kilobyte per name.
    reader (Words): Reads the words of their language.
    RETURNS (List[Substitution]): The most frequent first.
    """
    bags = [[_bags_of(names, reader) for names in ontology] for ontology in ontologies]
    pairs, repeated = _find_pairs(chain.from_iterable(bags))
    counted = _counted(bags, repeated)
    chosen = [row for row in counted if row.same >= _MIN_SAME and row.certainty >= _MIN_CERTAINTY]
    chosen = [*_in_company(bags, _without_strangers(bags, chosen)), *_find_endings(bags, pairs)]
    return sorted(chosen, key=lambda row: (-row.same, row.different, row.words, row.others))


def _counted(
    ontologies: Iterable[Iterable[Sequence[Words]]], pairs: Iterable[Pair]
) -> list[Substitution]:
    """Count how often pairs of words replace each other in names."""
    partners = _Partners.of(pairs)
    counts = np.zeros((2, len(partners.pairs)), dtype="int64")
    for ontology in ontologies:
        counts += _count(ontology, partners)
    return [
        Substitution(*pair, same, different)
        for pair, (same, different) in zip(partners.pairs, counts.T.tolist(), strict=True)
    ]


def _without_strangers(
    ontologies: Iterable[Iterable[Sequence[Words]]], rows: Iterable[Substitution]
) -> list[Substitution]:
    """Leave out pairs of which one word has many other names without the other one."""
    listed = list(rows)
    others = defaultdict[str, set[str]](set)
    for row in filter(_is_of_words, listed):
        (word,), (other,) = row.words, row.others
        others[word].add(other)
        others[other].add(word)
    renamed, together = Counter[str](), Counter[tuple[str, str]]()
    for bags in chain.from_iterable(ontologies):
        words = set(chain.from_iterable(bags))
        for word in words.difference(words.intersection(*bags)):
            renamed[word] += 1
            together.update((word, other) for other in others[word] & words)
    return [
        row
        for row in listed
        if not _is_of_words(row)
        or all(
            together[word, other] >= _MIN_SHARE * renamed[word]
            for word, other in ((*row.words, *row.others), (*row.others, *row.words))
        )
    ]


def _in_company(
    ontologies: Iterable[Iterable[Sequence[Words]]], rows: Iterable[Substitution]
) -> Iterator[Substitution]:
    """Add their company to pairs of words.

    YIELDS (Substitution): The rows, for each companion one.
    """
    listed = list(rows)
    contexts: dict[Pair, set[Words]] = {row[:2]: set() for row in listed if _is_of_words(row)}
    for bags in chain.from_iterable(ontologies):
        for one, other in combinations(bags, 2) if len(bags) <= _MAX_NAMES else ():
            if len(one) == len(other) and len(set(one).difference(other)) == 1:
                words, others, common = _compare(one, other)
                pair = _ordered(words, others)
                if pair in contexts:
                    contexts[pair].add(common)
    for row in listed:
        companions = _companions(contexts.get(row[:2], ()))
        for companion in companions:
            words, others = (tuple(sorted((*side, companion))) for side in row[:2])
            yield Substitution(words, others, row.same, row.different)
        if not companions:
            yield row


def _companions(contexts: Collection[Words]) -> list[str]:
    """RETURNS (List[str]): The few words of which nearly all contexts have one; none if it takes
    many words.
    """
    most = min(_MOST_COMPANIONS, max(1, len(contexts) // _LEAST_CONTEXTS))
    companions, left = list[str](), list(map(set, contexts))
    while left and len(companions) < most:
        counts = Counter(chain.from_iterable(map(sorted, left)))
        companion = max(sorted(counts), key=counts.__getitem__)
        companions.append(companion)
        left = [words for words in left if companion not in words]
    return companions if len(left) <= (1 - _NEARLY_ALL) * len(contexts) else []


def _is_of_words(row: Substitution) -> bool:
    """RETURNS (bool): Whether one word replaces another."""
    return len(row.words) == len(row.others) == 1


def _find_endings(
    ontologies: Sequence[Sequence[Sequence[Words]]], pairs: Iterable[Pair]
) -> Iterator[Substitution]:
    """Find endings that replace each other in words of names.

    ontologies (Sequence[Sequence[Sequence[Tuple[str, ...]]]]): The bags of each concept's names.
    pairs (Iterable[Tuple]): The words in which two names of a concept differ.
    YIELDS (Substitution): Endings that several beginnings show.
    """
    beginnings = defaultdict[EndingPair, set[str]](set)
    for pair in pairs:
        if tuple(map(len, pair)) == (1, 1):
            ((word,), (synonym,)) = pair
            beginning, ending, other = _split(word, synonym)
            endings = EndingPair(*_ordered(ending, other))
            shorter, longer = sorted((len(ending), len(other)))
            are_endings = shorter <= _LONGEST_SHORTER and longer <= _LONGEST_ENDING
            if are_endings and len(beginning) >= endings.shortest:
                beginnings[endings].add(beginning)
    shown = (endings for endings, many in beginnings.items() if len(many) >= _MIN_BEGINNINGS)
    relatives = OtherEndings(shown)
    words = {word for ontology in ontologies for bags in ontology for word in chain(*bags)}
    candidates = {
        _ordered((word,), (other,)): endings
        for word in words
        for other, endings in relatives.relatives_of(word)
        if other in words
    }
    same, different = Counter[EndingPair](), Counter[EndingPair]()
    for row in _counted(ontologies, candidates):
        endings = candidates[row.words, row.others]
        same[endings] += row.same > 0
        different[endings] += row.same == 0 and row.different > 0
    for endings, count in same.items():
        one, other = (HYPHEN + ending for ending in endings[:2])
        row = Substitution((one,), (other,), count, different[endings])
        if count >= _MIN_BEGINNINGS and row.certainty >= _MIN_ENDING_CERTAINTY:
            yield row


def _split(word: str, other: str) -> tuple[str, str, str]:
    """RETURNS (Tuple[str, str, str]): The beginning that two words share, and the rest of each."""
    letters = enumerate(zip(word, other, strict=False))
    cut = next((at for at, (one, two) in letters if one != two), min(len(word), len(other)))
    return word[:cut], word[cut:], other[cut:]


def _bags_of(names: Iterable[str], reader: WordReader) -> list[Words]:
    bags = dict.fromkeys(map(reader.bag, names))
    return sorted(bag for bag in bags if 0 < len(bag) <= _MAX_BAG)


def _find_pairs(concepts: Iterable[Sequence[Words]]) -> tuple[Collection[Pair], set[Pair]]:
    """Find the words in which two names of a concept differ.

    RETURNS (Tuple[Collection, Set]): All pairs, and those that at least two contexts show.
    """
    first: dict[Pair, Words] = {}
    repeated = set[Pair]()
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
                    repeated.add(pair)
    return first.keys(), repeated


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


def _ordered(one: Side, other: Side) -> tuple[Side, Side]:
    return (one, other) if one <= other else (other, one)


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
_SHOWN = {"alike": 6, "root": 19}


def language_substitutions(reader: WordReader) -> list[Substitution]:
    """List the substitutions of a language's tables, which an ontology may be too small to show:
    words that only say that something is wrong, other words for the same, and adjectives with
    another root than their noun.

    reader (Words): Reads the words of the language.
    RETURNS (List[Substitution]): The substitutions.
    """
    words = reader.classes
    wrong = dict.fromkeys(
        (one, other)
        for preferred in (words.malformations, words.disorders)
        for one in sorted(preferred | words.complaints)
        for other in sorted(preferred)
        if one != other
    )
    rows = [
        (row.word, other, _SHOWN[row.kind])
        for row in reader.meanings
        if row.kind in _SHOWN
        for other in row.stands_for
    ]
    shown = [*((*pair, _SHOWN["alike"]) for pair in wrong), *rows]
    return [Substitution((one,), (other,), same, 0) for one, other, same in shown]
