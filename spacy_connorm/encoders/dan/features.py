"""The features of a deep averaging network: word pieces and hashed character n-grams.

Imports the library tokenizers, so import this module only inside functions.
"""

import json
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from tokenizers import Tokenizer

from ...errors import Errors
from ...lang import strip_accents
from ..tokens import tokenize, tokenize_without_threads

tokenize_without_threads()

_SPACE = ord(" ")
_MAX_LENGTH = 512
# Odd factors with bits set throughout spread similar n-grams over the buckets.
_STEP = np.uint64(0x9E3779B97F4A7C15)
_MIX = np.uint64(0xD6E8FEB86659FD93)
_HALF = np.uint64(32)


@dataclass(eq=False)
class FeatureReader:
    """Extracts the features of texts. Their order in the text is lost.

    tokenizer (str): JSON of the library tokenizers, for word pieces. Its padding and truncation are
        ignored.
    pieces (int): The number of word piece ids; buckets are numbered after them.
    ngram_range (Tuple[int, int]): The shortest and the longest n-gram, in characters.
    buckets (int): The number of buckets that n-grams are hashed to; 0 for no n-grams.
    """

    tokenizer: str
    pieces: int
    ngram_range: tuple[int, int]
    buckets: int

    def __post_init__(self) -> None:
        self._tokenizer = Tokenizer.from_str(self.tokenizer)
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        self._unknown = _unknown_id(self._tokenizer, json.loads(self.tokenizer)["model"])
        self._lengths = range(self.ngram_range[0], self.ngram_range[1] + 1)

    @property
    def size(self) -> int:
        """Count the different features.

        RETURNS (int): Word pieces and buckets.
        """
        return self.pieces + self.buckets

    def read(self, texts: list[str]) -> tuple[np.ndarray, np.ndarray]:
        """Extract the features of texts, in lower case, up to 512 characters.

        texts (List[str]): Texts that can be encoded as UTF-8.
        RETURNS (Tuple[np.ndarray, np.ndarray]): The features, int32, text by text and ascending
            within a text: word pieces without unknown ones, then the buckets of n-grams. And the
            bounds, shape (texts + 1,), int64: text i has the features `ids[bounds[i] :
            bounds[i + 1]]`.
        """
        texts = [text[:_MAX_LENGTH].lower() for text in texts]
        owners, ids = self._read_pieces(texts)
        if self.buckets:
            ngram_owners, hashes = hash_ngrams(texts, self._lengths)
            ngrams = (hashes % np.uint64(self.buckets)).astype(np.int64) + self.pieces
            owners, ids = np.concatenate([owners, ngram_owners]), np.concatenate([ids, ngrams])
        # Sorting one array of numbers is several times faster than sorting by owner and feature.
        keys = owners * self.size + ids
        keys.sort()
        counts = np.bincount(owners, minlength=len(texts))
        keys -= np.repeat(np.arange(len(texts)) * self.size, counts)
        return keys.astype(np.int32), np.concatenate([[0], np.cumsum(counts)])

    def _read_pieces(self, texts: list[str]) -> tuple[np.ndarray, np.ndarray]:
        rows = tokenize(self._tokenizer, texts, add_special_tokens=False)
        counts = [len(row) for row in rows]
        owners = np.repeat(np.arange(len(rows)), counts)
        ids = np.fromiter(chain.from_iterable(rows), dtype=np.int64, count=sum(counts))
        if self._unknown is not None:
            known = ids != self._unknown
            owners, ids = owners[known], ids[known]
        # A tokenizer can return any id; ids without a vector would read other memory.
        if len(ids) and ids.max() >= self.pieces:
            raise Errors.CN305(reason="its word pieces have no vectors")
        return owners, ids


def hash_ngrams(texts: list[str], lengths: range) -> tuple[np.ndarray, np.ndarray]:
    """Hash the character n-grams of words, without accents, and with a space on either side of each
    word.

    texts (List[str]): The texts.
    lengths (range): The lengths of the n-grams, in characters.
    RETURNS (Tuple[np.ndarray, np.ndarray]): The number of each n-gram's text, int64, and the hash
        of each n-gram, uint64, both of shape (n-grams,).
    """
    padded = [f" {' '.join(strip_accents(text).split())} " for text in texts]
    codes = np.frombuffer("".join(padded).encode("utf-32-le"), dtype="<u4")
    texts_of = np.repeat(np.arange(len(padded)), [len(text) for text in padded])
    spaces = np.concatenate([[0], np.cumsum(codes == _SPACE)])
    owners, hashes = [], []
    rolling = np.zeros(len(codes), dtype=np.uint64)
    for length in range(1, lengths.stop):
        count = max(0, len(codes) - length + 1)
        # Without the 1, an n-gram would have the same hash with a NUL character before it.
        rolling = rolling[:count] * _STEP + codes[length - 1 :] + np.uint64(1)
        if length not in lengths:
            continue
        # An n-gram has spaces at its ends only, and other characters too. Texts are separated by
        # two spaces, so no n-gram spans two texts.
        inner = spaces[length - 1 : length - 1 + count] - spaces[1 : 1 + count]
        total = spaces[length : length + count] - spaces[:count]
        is_ngram = (inner <= 0) & (total < length)
        owners.append(texts_of[:count][is_ngram])
        hashes.append(_mix(rolling[is_ngram]))
    return np.concatenate(owners), np.concatenate(hashes)


def _mix(hashes: np.ndarray) -> np.ndarray:
    hashes = (hashes ^ (hashes >> _HALF)) * _MIX
    return hashes ^ (hashes >> _HALF)


def _unknown_id(tokenizer: Tokenizer, model: dict[str, Any]) -> int | None:
    unknown = model.get("unk_token")
    return model.get("unk_id") if unknown is None else tokenizer.token_to_id(unknown)
