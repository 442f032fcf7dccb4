"""What an index knows of words beside its names, as sets of hashes: the pairs of words that stand
side by side in its names, and the names of other things, from a background vocabulary.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, pairwise
from pathlib import Path

import numpy as np

from ..files.arrays import find_sorted, open_array, save_arrays
from ..text.bag_hashes import MODULUS, hash_bag, hash_word
from ..text.words import Words

WORD_PAIRS, OTHER_NAMES = "word_pairs", "other_names"
# Odd, so that the hash of a pair depends on its order.
_FACTOR = 0x9E3779B97F4A7C15
# The number of hashes in memory before they are sorted.
_SORTED = 1 << 20
# A part of a name is a word, and longer names are rare.
_FEWEST, MOST_WORDS = 2, 6
# There are this many times as many lowest bits as hashes, up to 16 MB of them.
_SPARSE, _MOST_LOW_BITS = 16, 24


@dataclass(frozen=True, eq=False)
class HashSet:
    """64-bit hashes, opened memory-mapped: 8 bytes each.

    values (np.ndarray): uint64 (n,): the hashes, sorted, each once.
    """

    values: np.ndarray

    @classmethod
    def of(cls, hashes: Iterable[int]) -> "HashSet":
        """Collect hashes, a part of them at a time.

        hashes (Iterable[int]): The hashes, in any order and any number of times.
        RETURNS (HashSet): Each of them once.
        """
        waiting, parts = iter(hashes), [np.zeros(0, dtype="uint64")]
        while some := list(islice(waiting, _SORTED)):
            parts.append(np.unique(np.array(some, dtype="uint64")))
        return cls(np.unique(np.concatenate(parts)))

    def __len__(self) -> int:
        return len(self.values)

    @cached_property
    def _are_low_bits(self) -> np.ndarray:
        """Which lowest bits the hashes have: most others are known by these, in a tenth of the
        time of a search.

        RETURNS (np.ndarray): bool (2 ** k,).
        """
        size = 1 << min(_MOST_LOW_BITS, max(1, _SPARSE * len(self.values)).bit_length())
        are_known = np.zeros(size, dtype="bool")
        are_known[self.values & np.uint64(size - 1)] = True
        return are_known

    def contain(self, values: np.ndarray) -> np.ndarray:
        """Check which hashes are in the set.

        values (np.ndarray): uint64 (h,): hashes.
        RETURNS (np.ndarray): bool (h,).
        """
        if not len(self.values):
            return np.zeros(len(values), dtype="bool")
        are_known = self._are_low_bits
        contained = are_known[values & np.uint64(len(are_known) - 1)]
        contained[contained] = find_sorted(self.values, values[contained]) >= 0
        return contained

    def write(self, folder: Path, stem: str) -> None:
        """Write the set to the folder of an index.

        folder (Path): The folder.
        stem (str): The beginning of the file's name.
        """
        save_arrays(folder, stem, {"values": self.values})

    @classmethod
    def open(cls, folder: Path, stem: str) -> "HashSet":
        """Open what `write` wrote, memory-mapped.

        folder (Path): The folder.
        stem (str): The beginning of the file's name.
        RETURNS (HashSet): The set.
        RAISES (ConnormError): CN402 for a file that is not a set of hashes.
        """
        return cls(open_array(folder / f"{stem}.values.npy", "uint64", (None,)))


def hash_pair(first: str, second: str) -> int:
    """Hash two words in order.

    first (str): A normalized word.
    second (str): The word after it.
    RETURNS (int): 64 bits.
    """
    return (hash_word(first) * _FACTOR + hash_word(second)) % MODULUS


def word_pairs(names: Iterable[str], words: Words) -> HashSet:
    """Collect the words that stand side by side in names: "ear lobe" of "absent ear lobes", "heart
    failure" of "failure, heart".

    names (Iterable[str]): The names.
    words (Words): Reads the words of their language.
    RETURNS (HashSet): The hashes of the pairs, see `hash_pair`.
    """
    return HashSet.of(_hash_pairs(names, words))


def _hash_pairs(names: Iterable[str], words: Words) -> Iterator[int]:
    small = words.classes.function_words
    for name in names:
        in_order = words.normalized(words.orthography.restore_word_order(name))
        for first, second in pairwise(in_order):
            if first not in small and second not in small and first.isalpha() and second.isalpha():
                yield hash_pair(first, second)


def other_names(names: Iterable[str], words: Words) -> HashSet:
    """Collect the names of other things that may have a name inside: those of two to six words.

    names (Iterable[str]): The names.
    words (Words): Reads the words of their language.
    RETURNS (HashSet): The hashes of their bags of words.
    """
    bags = map(words.bag, names)
    return HashSet.of(hash_bag(bag) for bag in bags if _FEWEST <= len(bag) <= MOST_WORDS)
