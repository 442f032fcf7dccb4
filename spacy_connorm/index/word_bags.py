"""Find names by their words, in any order: the rows that have exactly the words of a text, or its
words after some were replaced by others with the same meaning.

The hash of a bag of words is the sum of its words' hashes, so replacing words adds a difference to
the sum: all rewritten forms of a text are computed, and searched, as arrays of numbers.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from functools import cached_property, lru_cache
from itertools import chain, pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..files.arrays import find_sorted, list_ranges, open_array, require_offsets, save_arrays
from ..text.bag_hashes import MODULUS, hash_bag, hash_bags, hash_parts, hash_word, pair_places
from ..text.substitutions import Substitution, language_substitutions
from ..text.word_forms import DERIVED
from ..text.words import MOST_READERS, Words
from .hash_sets import HashSet
from .name_words import NameWords

_STEM = "word_bags"
HASHES = f"{_STEM}.hashes.npy"


@dataclass(frozen=True, eq=False)
class WordBags:
    """Sorted 64-bit hashes of the bags of all concept texts, opened memory-mapped: 12 bytes per
    text and 8 per word. The hash of a bag is the sum of its words' hashes, so the hash of any
    window of words is a difference of running sums.

    hashes (np.ndarray): uint64 (n,): hashes of bags, sorted. Texts in different rows may have the
        same bag, and texts in one row different bags.
    rows (Ints1d): int32 (n,): the row of each bag; ascending where hashes are equal.
    words (np.ndarray): uint64 (w,): the hashes of all words, sorted.
    longest (int): The number of words in the longest bag; 0 if there are no words.
    """

    hashes: np.ndarray
    rows: np.ndarray
    words: np.ndarray
    longest: int

    @classmethod
    def from_texts(cls, texts: Iterable[str], rows: np.ndarray, words: Words) -> "WordBags":
        """Collect the bags of texts. The texts are not kept in memory.

        texts (Iterable[str]): n texts; those without words are left out.
        rows (Ints1d): int64 (n,): the row of each.
        words (Words): Reads the words of their language.
        RETURNS (WordBags): The bags.
        """
        return cls.from_words(NameWords.from_texts(texts, words), rows)

    @classmethod
    def from_words(cls, names: NameWords, rows: np.ndarray) -> "WordBags":
        """Collect the bags of texts whose words were read.

        names (NameWords): n texts; those without words are left out.
        rows (Ints1d): int64 (n,): the row of each.
        RETURNS (WordBags): The bags.
        """
        hashes = names.hashes
        # Differences of sums that pass the modulus are right, too.
        sums = np.zeros(len(names.numbers) + 1, dtype="uint64")
        np.cumsum(hashes[names.numbers], out=sums[1:])
        values = sums[names.start[1:]] - sums[names.start[:-1]]
        # Texts without words have the hash 0.
        kept = np.flatnonzero(values)
        longest = int(np.diff(names.start).max(initial=0))
        return cls(*_sorted(values[kept], rows[kept]), np.unique(hashes), longest)

    def with_others(
        self, values: np.ndarray, rows: np.ndarray, *, words: np.ndarray, longest: int
    ) -> "WordBags":
        """Add bags that stand for one that some texts have.

        values (np.ndarray): uint64 (o,): their hashes. Those that texts have are left out.
        rows (Ints1d): int64 (o,): the row that each stands for.
        words (np.ndarray): uint64 (w,): the hashes of words that only they have.
        longest (int): The number of words in the longest of them.
        RETURNS (WordBags): All bags.
        """
        is_new = find_sorted(self.hashes, values) < 0
        values = np.concatenate([self.hashes, values[is_new]])
        values, rows = _sorted(values, np.concatenate([self.rows, rows[is_new]]))
        return WordBags(values, rows, np.union1d(self.words, words), max(self.longest, longest))

    def rows_of(self, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Find the rows with a text that has exactly these words.

        values (np.ndarray): uint64 (b,), from `text.bag_hashes.hash_bags`.
        RETURNS (Tuple[Ints1d, Ints1d]): int64: which of the bags each row has, ascending, and the
            rows, ascending for each bag.
        """
        first = np.searchsorted(self.hashes, values, side="left")
        owners, places = list_ranges(first, np.searchsorted(self.hashes, values, side="right"))
        return owners, self.rows[places].astype("int64")

    @cached_property
    def known_bags(self) -> HashSet:
        """The bags of words that texts have.

        RETURNS (HashSet): Their hashes.
        """
        return HashSet(self.hashes)

    @cached_property
    def known_words(self) -> HashSet:
        """The words that texts have.

        RETURNS (HashSet): Their hashes.
        """
        return HashSet(self.words)

    def write(self, folder: Path) -> None:
        longest = np.array([self.longest], dtype="int32")
        arrays = {"hashes": self.hashes, "rows": self.rows, "words": self.words}
        save_arrays(folder, _STEM, {**arrays, "longest": longest})

    @classmethod
    def open(cls, folder: Path, *, rows: int) -> "WordBags":
        """Open the files written by `write`, memory-mapped.

        folder (Path): The folder.
        rows (int): The number of vector rows.
        RETURNS (WordBags): The bags.
        RAISES (ConnormError): CN402 if the files do not belong to these rows.
        """
        hashes = open_array(folder / HASHES, "uint64", (None,))
        (longest,) = open_array(folder / f"{_STEM}.longest.npy", "int32", (1,), bounds=(0, 1 << 31))
        return cls(
            hashes,
            open_array(folder / f"{_STEM}.rows.npy", "int32", hashes.shape, bounds=(0, rows)),
            open_array(folder / f"{_STEM}.words.npy", "uint64", (None,)),
            int(longest),
        )


def _sorted(values: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sort bags by hash and row, each once: several concepts may share a text and its row.

    RETURNS (Tuple[np.ndarray, Ints1d]): The hashes, and the rows as int32.
    """
    order = np.lexsort((rows, values))
    values, rows = values[order], rows[order].astype("int32")
    first = np.ones(len(values), dtype="bool")
    first[1:] = (values[1:] != values[:-1]) | (rows[1:] != rows[:-1])
    return values[first], rows[first]


_REWRITING = "rewriting"
# Longer texts have too many parts.
_MAX_WORDS = 8
# Pairs of substitutions are tried for this many of the most certain ones.
_MAX_PAIRED = 64
# The number of names kept for a text.
_MAX_ROWS = 32


class Rewritten(NamedTuple):
    """The names that a text can be rewritten as.

    rows (Ints1d): int64 (n,): rows of the index, each once.
    certainty (Floats1d): float64 (n,): how likely each means the same, 0 to 1.
    """

    rows: np.ndarray
    certainty: np.ndarray


class _Replacements(NamedTuple):
    """Replacements of words in texts with the same number of words.

    texts (Ints1d): int64 (n,): the number of the text that each is for.
    changes (np.ndarray): uint64 (n,): what each adds to the hash of the bag, modulo 2^64.
    certain (Floats1d): float64 (n,): how likely the meaning stays the same, 0 to 1.
    places (Ints1d): int64 (n,): the words that each replaces, as a bit mask of positions in the
        bag.
    """

    texts: np.ndarray
    changes: np.ndarray
    certain: np.ndarray
    places: np.ndarray


_NOTHING = Rewritten(np.empty(0, dtype="int64"), np.empty(0))


def rewrite(
    bags: Sequence[tuple[str, ...]],
    names: WordBags,
    words: Words,
    table: "RewritingTable",
    *,
    min_certainty: float,
) -> list[Rewritten]:
    """Find the names that have a text's words, or match it after one or two replacements.

    bags (Sequence[Tuple[str, ...]]): b texts, from `Words.bag`.
    names (WordBags): The names of the index.
    words (Words): Reads the words of their language.
    table (RewritingTable): Substitutions, in addition to those of the language.
    min_certainty (float): Leave out less certain names.
    RETURNS (List[Rewritten]): For each text at most 32 names, the most certain first.
    """
    rewritten = [_NOTHING] * len(bags)
    numbers = [number for number, bag in enumerate(bags) if 0 < len(bag) <= _MAX_WORDS]
    if not numbers or not len(names.hashes):
        return rewritten
    bags = [bags[number] for number in numbers]
    sizes = np.array(list(map(len, bags)))
    # Shorter bags are filled with zeros, which change no sum.
    values = np.zeros((len(bags), sizes.max()), dtype="uint64")
    in_order = map(hash_word, chain.from_iterable(bags))
    values[np.arange(sizes.max()) < sizes[:, None]] = np.fromiter(in_order, dtype="uint64")
    places, are_parts = _places(values.shape[1])
    texts, part = np.nonzero(are_parts[sizes])
    parts = hash_parts(values)[texts, part]
    single = [_derivations(bags, values, names, words)]
    for some in (language_table(words), table):
        which, changes, certain, company = some.of_words(parts, min_certainty, may_drop=True)
        kept = (company == 0) | (values[texts[which]] == company[:, None]).any(axis=1)
        which, changes, certain = which[kept], changes[kept], certain[kept].astype("float64")
        single.append(_Replacements(texts[which], changes, certain, places[part[which]]))
    texts, changes, certain = _with_pairs(single, len(bags), min_certainty)
    hashes = values.sum(axis=1, dtype="uint64")[texts] + changes
    known = np.flatnonzero(names.known_bags.contain(hashes))
    known = known[np.lexsort((-certain[known], texts[known]))]
    which, rows = names.rows_of(hashes[known])
    texts, certain = texts[known[which]], certain[known[which]]
    _, first = np.unique(texts << 32 | rows, return_index=True)
    first = np.sort(first)
    bounds = np.searchsorted(texts[first], np.arange(len(bags) + 1)).tolist()
    for number, (start, end) in zip(numbers, pairwise(bounds), strict=True):
        kept = first[start : min(end, start + _MAX_ROWS)]
        rewritten[number] = Rewritten(rows[kept], certain[kept])
    return rewritten


def _derivations(
    bags: Sequence[tuple[str, ...]], values: np.ndarray, names: WordBags, words: Words
) -> "_Replacements":
    """List the words in names that words of texts derive from, and the names that paraphrase them.

    bags (Sequence[Tuple[str, ...]]): b texts.
    values (np.ndarray): uint64 (b, k): the hashes of their words, and zeros.
    names (WordBags): The names of the index.
    words (Words): Reads the words of their language.
    RETURNS (_Replacements): The replacements.
    """
    forms = list(map(words.forms.of, chain.from_iterable(bags)))
    sizes = np.array(list(map(len, bags)))
    texts, places = np.nonzero(np.arange(values.shape[1]) < sizes[:, np.newaxis])
    which = np.repeat(np.arange(len(forms)), [len(form.hashes) for form in forms])
    hashes, least, certainty, _ = map(np.concatenate, zip(*forms, strict=True))
    is_known = names.known_words.contain(hashes) | names.known_bags.contain(hashes)
    known = np.flatnonzero(is_known & (least <= sizes[texts[which]]))
    texts, places = texts[which[known]], places[which[known]]
    changes = hashes[known] - values[texts, places]
    certain = np.minimum(DERIVED, certainty[known])
    return _Replacements(texts, changes, certain, np.left_shift(1, places))


@dataclass(frozen=True, eq=False)
class RewritingTable:
    """Substitutions as sorted arrays, opened memory-mapped.

    words (np.ndarray): uint64 (w,): hashes of the bags that can be replaced, sorted, each once.
    start (Ints1d): int64 (w + 1,): the substitutions of bag i are start[i] to start[i + 1].
    change (np.ndarray): uint64 (n,): what each adds to the hash of a bag, modulo 2^64.
    certainty (Floats1d): float32 (n,): how likely the meaning stays the same, 0 to 1.
    company (np.ndarray): uint64 (n,): the hash of a word that must be in the bag, too; 0 if any
        bag will do.
    """

    words: np.ndarray
    start: np.ndarray
    change: np.ndarray
    certainty: np.ndarray
    company: np.ndarray

    @classmethod
    def from_substitutions(cls, substitutions: Iterable[Substitution]) -> "RewritingTable":
        """Make a table from substitutions.

        substitutions (Iterable[Substitution]): Each is used in both directions. Words are dropped,
            but not added to a text that lacks them, since that would find specific concepts for
            general texts. A word on both sides is company: it stays as it is. Those of endings are
            left out: see `WordForms.relatives_of`.
        """
        found: dict[tuple[int, int, int], float] = {}
        for substitution in substitutions:
            if substitution.endings:
                continue
            bags, companion = _without_company(substitution)
            one, other = hash_bags(bags).tolist()
            for bag, own, others in zip(bags, (one, other), (other, one), strict=True):
                if bag:
                    found[own, (others - own) % MODULUS, companion] = substitution.certainty
        replaced, changes, company = np.array(list(found), dtype="uint64").reshape(-1, 3).T
        order = np.argsort(replaced, kind="stable")
        words, start = np.unique(replaced[order], return_index=True)
        certainty = np.array(list(found.values()), dtype="float32")
        return cls(
            words,
            np.append(start, len(order)),
            changes[order],
            certainty[order],
            company[order],
        )

    @cached_property
    def _known(self) -> HashSet:
        return HashSet(self.words)

    def of_words(
        self, hashes: np.ndarray, min_certainty: float, *, may_drop: bool = False
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """List the substitutions of bags of words.

        hashes (np.ndarray): uint64 (b,): the hashes of the bags.
        min_certainty (float): Leave out less certain substitutions.
        may_drop (bool): Whether to list those that only drop all words of a bag, too.
        RETURNS (Tuple[Ints1d, np.ndarray, Floats1d, np.ndarray]): For each of s substitutions: the
            number of the bag, int64, ascending; what it adds to the hash of a bag, uint64; its
            certainty; and its company, uint64, 0 if it needs none.
        """
        known = np.flatnonzero(self._known.contain(hashes))
        places = find_sorted(self.words, hashes[known])
        which, numbers = list_ranges(self.start[places], self.start[places + 1])
        which = known[which]
        kept = self.certainty[numbers] >= min_certainty
        kept &= may_drop | (self.change[numbers] + hashes[which] != 0)
        which, numbers = which[kept], numbers[kept]
        return which, self.change[numbers], self.certainty[numbers], self.company[numbers]

    def write(self, folder: Path) -> None:
        arrays = {column.name: getattr(self, column.name) for column in fields(self)}
        save_arrays(folder, _REWRITING, arrays)

    @classmethod
    def open(cls, folder: Path) -> "RewritingTable":
        """Open the files written by `write`, memory-mapped.

        folder (Path): The folder.
        RETURNS (RewritingTable): The table; an empty one for an index without substitutions.
        RAISES (ConnormError): CN402 if the files do not fit together.
        """
        if not (folder / f"{_REWRITING}.words.npy").exists():
            return cls.from_substitutions(())
        words = open_array(folder / f"{_REWRITING}.words.npy", "uint64", (None,))
        start_file = folder / f"{_REWRITING}.start.npy"
        start = open_array(start_file, "int64", (len(words) + 1,))
        change = open_array(folder / f"{_REWRITING}.change.npy", "uint64", (None,))
        require_offsets(start_file, start, len(change))
        certainty_file = folder / f"{_REWRITING}.certainty.npy"
        certainty = open_array(certainty_file, "float32", change.shape, finite=True)
        company = open_array(folder / f"{_REWRITING}.company.npy", "uint64", change.shape)
        return cls(words, start, change, certainty, company)


def _without_company(substitution: Substitution) -> tuple[list[tuple[str, ...]], int]:
    """RETURNS (Tuple[List[Tuple[str, ...]], int]): Both sides without the word that is on both, and
    its hash, 0 if there is none.
    """
    shared = set(substitution.words).intersection(substitution.others)
    sides = [
        tuple(word for word in side if word not in shared)
        for side in (substitution.words, substitution.others)
    ]
    return sides, hash_bag(tuple(shared))


@lru_cache(MOST_READERS)
def language_table(words: Words) -> RewritingTable:
    """Get the substitutions of a language's tables.

    words (Words): Reads the words of the language.
    RETURNS (RewritingTable): The same object for the same words while it is kept.
    """
    return RewritingTable.from_substitutions(language_substitutions(words))


@lru_cache(maxsize=_MAX_WORDS)
def _places(size: int) -> tuple[np.ndarray, np.ndarray]:
    """List the words that each part of `hash_parts` replaces, and the parts of shorter bags.

    size (int): The number of words in the longest bag.
    RETURNS (Tuple[Ints1d, np.ndarray]): int64 (p,) bit masks of positions, and bool (size + 1, p):
        which of them are parts of a bag with a number of words.
    """
    bits = np.left_shift(1, np.arange(size))
    # The parts of bags of ones have as many words as their sums say.
    places, counts = hash_parts(np.stack([bits, np.ones_like(bits)]).astype("uint64"))
    sizes = np.arange(size + 1, dtype="uint64")[:, np.newaxis]
    is_inside = places < np.left_shift(np.uint64(1), sizes)
    # A part that is not empty leaves a word.
    return places.astype("int64"), is_inside & ((counts == 0) | (counts < sizes))


def _with_pairs(
    single: Sequence[_Replacements], count: int, min_certainty: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Combine replacements: none, each of them, and pairs of replacements of different words.

    single (Sequence[_Replacements]): The replacements from each source.
    count (int): The number of texts.
    min_certainty (float): Leave out less certain pairs.
    RETURNS (Tuple[Ints1d, np.ndarray, Floats1d]): Texts, changes and certainties. The first one of
        each text changes nothing: the same words in another order or form count as the text itself.
    """
    texts, changes, certain, places = map(np.concatenate, zip(*single, strict=True))
    order = np.lexsort((-certain, texts))
    texts, changes, certain, places = texts[order], changes[order], certain[order], places[order]
    bounds = np.searchsorted(texts, np.arange(count + 1)).tolist()
    pairs = [
        np.add(pair_places(min(end - start, _MAX_PAIRED)), start) for start, end in pairwise(bounds)
    ]
    first, second = np.hstack(pairs)
    both = certain[first] * certain[second]
    kept = (both >= min_certainty) & (places[first] & places[second] == 0)
    first, second = first[kept], second[kept]
    return (
        np.concatenate([np.arange(count), texts, texts[first]]),
        np.concatenate([np.zeros(count, "uint64"), changes, changes[first] + changes[second]]),
        np.concatenate([np.ones(count), certain, both[kept]]),
    )
