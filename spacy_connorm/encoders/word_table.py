"""Word vectors and how words without one get theirs."""

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, fields
from functools import cached_property
from typing import Any

import numpy as np

from .weights import pack_weights, unpack_weights

FASTTEXT, FLORET = "fasttext", "floret"
_TOKEN = re.compile(r"\w+|[^\w\s]")
# Of the hash function FNV-1a with 32 bits.
_BASIS, _PRIME = 2166136261, 16777619


def split_tokens(text: str) -> list[str]:
    """text (str): Any text.
    RETURNS (List[str]): Its words and punctuation marks, in order.
    """
    return _TOKEN.findall(text)


@dataclass(frozen=True, slots=True)
class SubwordSettings:
    """How a word is cut into character n-grams and these are hashed to rows.

    kind (str): "fasttext" (Bojanowski et al. 2017) or "floret" (spaCy's, for all words).
    minn (int): Characters of the shortest n-gram, the word's borders `<` and `>` included.
    maxn (int): Characters of the longest.
    hash_count (int): Rows of each n-gram; floret's only, as are the next three.
    hash_seed (int): Of the hash function.
    bow (str): The border before a word.
    eow (str): The border after it.
    """

    kind: str
    minn: int
    maxn: int
    hash_count: int = 1
    hash_seed: int = 0
    bow: str = "<"
    eow: str = ">"

    def __post_init__(self) -> None:
        sizes = (self.minn, self.maxn, self.hash_count, self.hash_seed)
        if self.kind not in (FASTTEXT, FLORET) or not all(type(each) is int for each in sizes):
            raise ValueError("the settings of its n-grams are wrong")
        if not 0 <= self.minn <= self.maxn:
            raise ValueError(f"its n-grams have {self.minn} to {self.maxn} characters")


@dataclass(frozen=True)
class WordTable:
    """Vectors by word. A word that is not listed gets the mean of the vectors of its character
    n-grams, if there are any, and else none.

    words (List[str]): v words.
    vectors (np.ndarray): Shape (v, width), float32.
    subwords (Optional[SubwordSettings]): How n-grams are found; None if there are none.
    buckets (np.ndarray): Shape (buckets, width), float32: the vectors of n-grams.
    """

    words: list[str]
    vectors: np.ndarray
    subwords: SubwordSettings | None = None
    buckets: np.ndarray = field(default_factory=lambda: np.zeros((0, 0), dtype="float32"))

    @property
    def width(self) -> int:
        """RETURNS (int): The width of the vectors."""
        return self.vectors.shape[1]

    @cached_property
    def _rows(self) -> dict[str, int]:
        return {word: row for row, word in enumerate(self.words)}

    @cached_property
    def _floret(self) -> Any:
        from spacy.vectors import Vectors

        settings = asdict(self.subwords)  # type: ignore[arg-type]  # asked only if there are some
        return Vectors(data=self.buckets, mode=settings.pop("kind"), **settings)

    def check(self) -> None:
        """RAISES (ValueError): If words, vectors and n-grams do not fit together."""
        arrays = (self.vectors, *((self.buckets,) if self.subwords else ()))
        if any(each.ndim != 2 or each.dtype != "<f4" for each in arrays):
            raise ValueError("its vectors are no matrices of float32")
        if len({each.shape[1] for each in arrays}) > 1 or not self.width:
            raise ValueError("its vectors differ in width")
        if len(self._rows) != len(self.vectors):
            raise ValueError(
                f"there are {len(self.vectors):,} vectors for {len(self._rows):,} words"
            )
        if self.subwords is not None and not len(self.buckets):
            raise ValueError("its n-grams have no vectors")

    def knows(self, word: str) -> bool:
        """RETURNS (bool): Whether the word has a vector."""
        if word in self._rows:
            return True
        if self.subwords is None:
            return False
        return self.subwords.kind == FLORET or any(True for _ in self._ngrams(word))

    def lookup(self, words: Sequence[str]) -> np.ndarray:
        """words (Sequence[str]): Words that are known.
        RETURNS (np.ndarray): Shape (words, width), float32.
        """
        found = np.zeros((len(words), self.width), dtype="float32")
        for place, word in enumerate(words):
            row = self._rows.get(word)
            found[place] = self.vectors[row] if row is not None else self._compose(word)
        return found

    def _compose(self, word: str) -> np.ndarray:
        if self.subwords is not None and self.subwords.kind == FLORET:
            return self._floret.get_batch([word])[0]
        hashes = [fnv_hash(ngram) % len(self.buckets) for ngram in self._ngrams(word)]
        return self.buckets[hashes].mean(axis=0)

    def _ngrams(self, word: str) -> Iterator[str]:
        settings = self.subwords
        if settings is None:
            return
        marked = f"<{word}>"
        for start in range(len(marked)):
            longest = min(settings.maxn, len(marked) - start)
            for length in range(max(settings.minn, 1), longest + 1):
                # A border alone is no n-gram.
                if length > 1 or 0 < start < len(marked) - 1:
                    yield marked[start : start + length]

    def digest(self) -> str:
        """RETURNS (str): A checksum of everything, 32 hexadecimal digits."""
        settings = asdict(self.subwords) if self.subwords else None
        content = hashlib.blake2b(digest_size=16)
        for part in (json.dumps(settings, sort_keys=True), "\n".join(self.words)):
            raw = part.encode()
            content.update(len(raw).to_bytes(8, "little"))
            content.update(raw)
        for array in (self.vectors, self.buckets):
            content.update(repr(array.shape).encode())
            content.update(np.ascontiguousarray(array).data)
        return content.hexdigest()

    def to_dict(self) -> dict[str, Any]:
        """RETURNS (Dict[str, Any]): For msgpack; see `from_dict`."""
        return {
            "words": "\n".join(self.words),
            "subwords": asdict(self.subwords) if self.subwords else None,
            **pack_weights({"vectors": self.vectors, "buckets": self.buckets}),
        }

    @classmethod
    def from_dict(cls, saved: dict[str, Any]) -> "WordTable":
        """saved (Dict[str, Any]): From `to_dict`.
        RETURNS (WordTable): The table.
        RAISES (ValueError): If the parts do not fit together.
        """
        arrays = unpack_weights({name: saved[name] for name in ("vectors", "buckets")})
        subwords = None
        if saved["subwords"] is not None:
            known = {each.name: saved["subwords"][each.name] for each in fields(SubwordSettings)}
            subwords = SubwordSettings(**known)
        words = saved["words"].split("\n") if saved["words"] else []
        table = cls(words, arrays["vectors"], subwords, arrays["buckets"])
        table.check()
        return table


def fnv_hash(ngram: str) -> int:
    """RETURNS (int): fastText's hash of an n-gram: FNV-1a over its bytes as signed numbers."""
    value = _BASIS
    for byte in ngram.encode():
        signed = byte if byte < 128 else byte | 0xFFFFFF00
        value = ((value ^ signed) * _PRIME) & 0xFFFFFFFF
    return value
