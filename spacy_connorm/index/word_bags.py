"""From bags of words to vector rows: which names have exactly these words, in any order."""

from array import array
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from ..files.arrays import are_among, open_array
from ..text.word_bags import add_hashes, hash_word, word_bag

_STEM = "word_bags"
HASHES = f"{_STEM}.hashes.npy"


class WordBags:
    """Sorted 64-bit hashes of the bags of all concept texts, opened memory-mapped: 12 bytes per
    text and 8 per word. The hash of a bag is the sum of its words' hashes, so the hash of any
    window of words is a difference of running sums.
    """

    def __init__(
        self, hashes: np.ndarray, rows: np.ndarray, words: np.ndarray, sizes: np.ndarray
    ) -> None:
        """Wrap the arrays.

        hashes (np.ndarray): uint64 (n,): hashes of bags, sorted. Texts of several rows may have the
            same bag, and texts of one row different ones.
        rows (Ints1d): int32 (n,): the row of each; ascending where hashes are equal.
        words (np.ndarray): uint64 (w,): the hashes of all words, sorted.
        sizes (Ints1d): int32 (s,): how many words the bags have, sorted, each size once.
        """
        self.hashes = hashes
        self._rows = rows
        self.words = words
        self.sizes = sizes

    @classmethod
    def from_texts(cls, texts: Iterable[str], rows: np.ndarray) -> "WordBags":
        """Collect the bags of texts, which are not kept in memory.

        texts (Iterable[str]): n texts; those without words are left out.
        rows (Ints1d): int64 (n,): the row of each.
        RETURNS (WordBags): The bags.
        """
        hashes, words, sizes = array("Q"), set[int](), array("i")
        for text in texts:
            bag = list(map(hash_word, word_bag(text)))
            hashes.append(add_hashes(bag))
            sizes.append(len(bag))
            words.update(bag)
        counts = np.frombuffer(sizes, dtype="int32")
        kept = np.flatnonzero(counts)
        values, places = np.frombuffer(hashes, dtype="uint64")[kept], rows[kept]
        order = np.lexsort((places, values))
        values, places = values[order], places[order]
        # Several concepts may share a text and its row.
        first = np.ones(len(values), dtype="bool")
        first[1:] = (values[1:] != values[:-1]) | (places[1:] != places[:-1])
        return cls(
            values[first],
            places[first].astype("int32"),
            np.sort(np.fromiter(words, dtype="uint64", count=len(words))),
            np.unique(counts[kept]),
        )

    def rows_of(self, values: np.ndarray) -> list[np.ndarray]:
        """Find the rows with a text that has exactly these words.

        values (np.ndarray): uint64 (b,), from `text.word_bags.hash_bags`.
        RETURNS (List[Ints1d]): b arrays of int32 rows, ascending; empty for an unknown bag.
        """
        first = np.searchsorted(self.hashes, values, side="left").tolist()
        last = np.searchsorted(self.hashes, values, side="right").tolist()
        return [self._rows[start:end] for start, end in zip(first, last, strict=True)]

    def contain(self, values: np.ndarray) -> np.ndarray:
        """RETURNS (np.ndarray): bool (b,): whether a text has the bag of each hash."""
        return are_among(self.hashes, values)

    def have_words(self, values: np.ndarray) -> np.ndarray:
        """RETURNS (np.ndarray): bool (b,): whether some text has the word of each hash."""
        return are_among(self.words, values)

    def are_same(self, other: "WordBags") -> bool:
        """RETURNS (bool): Whether both have the same bags, words and sizes."""
        mine, others = ((each.hashes, each._rows, each.words, each.sizes) for each in (self, other))
        return all(map(np.array_equal, mine, others))

    def write(self, folder: Path) -> None:
        np.save(folder / HASHES, self.hashes)
        np.save(folder / f"{_STEM}.rows.npy", self._rows)
        np.save(folder / f"{_STEM}.words.npy", self.words)
        np.save(folder / f"{_STEM}.sizes.npy", self.sizes)

    @classmethod
    def open(cls, folder: Path, *, rows: int) -> "WordBags":
        """Open what `write` wrote, memory-mapped.

        folder (Path): The folder.
        rows (int): The number of vector rows.
        RETURNS (WordBags): The bags.
        RAISES (ConnormError): CN402 if the files do not belong to these rows.
        """
        hashes = open_array(folder / HASHES, "uint64", (None,))
        path = folder / f"{_STEM}.rows.npy"
        return cls(
            hashes,
            open_array(path, "int32", hashes.shape, bounds=(0, rows)),
            open_array(folder / f"{_STEM}.words.npy", "uint64", (None,)),
            open_array(folder / f"{_STEM}.sizes.npy", "int32", (None,), bounds=(1, 1 << 31)),
        )
