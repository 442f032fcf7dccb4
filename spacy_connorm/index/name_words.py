"""The words of the texts of an index, so that no search reads the texts again."""

from array import array
from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path

import numpy as np

from ..files.arrays import TextArray, open_array, require_offsets, save_arrays, save_texts
from ..text.bag_hashes import hash_word
from ..text.words import Words
from .cache import Cache

_STEM, _VOCABULARY = "name_words", "vocabulary"
# The different words kept in memory: a few megabytes.
_CACHED = 100_000


class NameWords:
    """The bags of words of n texts, opened memory-mapped: 8 bytes per text and 4 per word."""

    def __init__(self, start: np.ndarray, numbers: np.ndarray, vocabulary: TextArray) -> None:
        """Wrap the arrays.

        start (Ints1d): int64 (n + 1,): the words of text i are start[i] to start[i + 1].
        numbers (Ints1d): int32 (w,): the place of each word in the vocabulary.
        vocabulary (TextArray): The different words.
        """
        self.start = start
        self.numbers = numbers
        self.vocabulary = vocabulary
        self._known: Cache[int, str] = Cache(_CACHED)

    @classmethod
    def from_texts(cls, texts: Iterable[str], words: Words) -> "NameWords":
        """Read the words of texts. The texts are not kept in memory.

        texts (Iterable[str]): n texts.
        words (Words): Reads the words of their language.
        RETURNS (NameWords): Their words.
        """
        start, numbers = array("q", [0]), array("i")
        vocabulary: dict[str, int] = {}
        for text in texts:
            numbers.extend(
                [vocabulary.setdefault(word, len(vocabulary)) for word in words.bag(text)]
            )
            start.append(len(numbers))
        return cls(
            np.frombuffer(start, dtype="int64"),
            np.frombuffer(numbers, dtype="int32"),
            TextArray.of(vocabulary),
        )

    @property
    def hashes(self) -> np.ndarray:
        """Hash all different words.

        RETURNS (np.ndarray): uint64 (v,).
        """
        return np.fromiter(map(hash_word, self.vocabulary_words()), dtype="uint64")

    def vocabulary_words(self) -> list[str]:
        """Read all different words.

        RETURNS (List[str]): v words.
        """
        return self.vocabulary.read(np.arange(len(self.vocabulary)))

    def of(self, texts: Sequence[int]) -> list[list[str]]:
        """List the words of some texts.

        texts (Sequence[int]): The numbers of b texts.
        RETURNS (List[List[str]]): b bags of words.
        """
        places = np.asarray(texts, dtype="int64")
        bounds = zip(self.start[places].tolist(), self.start[places + 1].tolist(), strict=True)
        numbers = self.numbers.data
        bags = [numbers[first:last].tolist() for first, last in bounds]
        words = self._known.get_all(chain.from_iterable(bags), self._read)
        return [list(map(words.__getitem__, bag)) for bag in bags]

    def _read(self, numbers: Sequence[int]) -> dict[int, str]:
        return dict(zip(numbers, self.vocabulary.read(np.asarray(numbers)), strict=True))

    def write(self, folder: Path) -> None:
        save_arrays(folder, _STEM, {"start": self.start, "numbers": self.numbers})
        save_texts(folder, _VOCABULARY, map(str.encode, self.vocabulary_words()))

    @classmethod
    def open(cls, folder: Path, *, texts: int) -> "NameWords":
        """Open the files written by `write`, memory-mapped.

        folder (Path): The folder.
        texts (int): The number of texts.
        RETURNS (NameWords): The words.
        RAISES (ConnormError): CN402 if the files do not belong to these texts.
        """
        vocabulary = TextArray.open(folder, _VOCABULARY)
        start_file = folder / f"{_STEM}.start.npy"
        start = open_array(start_file, "int64", (texts + 1,))
        numbers_file = folder / f"{_STEM}.numbers.npy"
        numbers = open_array(numbers_file, "int32", (None,), bounds=(0, len(vocabulary)))
        require_offsets(start_file, start, len(numbers))
        return cls(start, numbers, vocabulary)
