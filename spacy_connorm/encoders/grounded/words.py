"""The mean of word vectors as an encoder, and readers for vectors from spaCy, word2vec and
fastText.
"""

import re
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import chain
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

import numpy as np
from thinc.api import Model
from thinc.types import Floats2d

from ...errors import Errors, refuse, require_installed, require_range
from ..protocol import make_encoder
from ..shims import PretrainedShim
from ..storage import digest_weights

_TOKEN = re.compile(r"\w+|[^\w\s]")
_SEPARATOR = "\n"
# Constants of the 32-bit hash function FNV-1a.
_BASIS, _PRIME = 2166136261, 16777619


def WordVectorEncoder(
    *, name: str | None = None, batch_size: int = 4096
) -> Model[list[str], Floats2d]:
    """Build an encoder whose vector is the mean of the vectors of a text's words and punctuation
    marks, in lower case (the name embedding of Fivez et al. 2021, section 3.1). Words without a
    vector are left out; fastText's `.bin` models compose one from character n-grams.

    A saved pipeline contains all vectors, so it needs neither the file nor gensim.

    name (Optional[str]): A word2vec file (text or binary) or a fastText file (`.vec` or `.bin`),
        which need the extra `[vectors]`; or a spaCy pipeline with vectors, as a folder or an
        installed package. None if the vectors come from a saved pipeline.
    batch_size (int): Texts per batch.
    RETURNS (Model[List[str], Floats2d]): The encoder.
    RAISES (ConnormError): CN006 for an invalid setting.
    """
    require_range(least=1, batch_size=batch_size)
    return make_encoder("word_vector_encoder", WordVectorShim(name or "", batch_size=batch_size))


class WordVectorShim(PretrainedShim):
    """Holds a table of word vectors."""

    def read(self) -> "WordTable":
        """Read the vectors.

        RETURNS (WordTable): The table of vectors.
        RAISES (ConnormError): CN006 without a name, and the errors of `read_word_table`.
        """
        if not self.name:
            refuse("name", None, "a file of word vectors, or a spaCy pipeline with vectors")

        return read_word_table(self.name)

    def inputs(self, texts: list[str]) -> list[bytes]:
        """Select the tokens of texts that have vectors.

        RETURNS (List[bytes]): The tokens of each text, in alphabetical order.
        """
        knows = cache(self._model.knows)
        rows = (split_tokens(text.lower()) for text in texts)
        return [_SEPARATOR.join(sorted(filter(knows, row))).encode() for row in rows]

    def encode_batch(self, inputs: list[bytes]) -> np.ndarray:
        """Average the vectors of tokens.

        RETURNS (np.ndarray): Shape (inputs, width), float32; 0 for a text of unknown tokens.
        """
        from scipy.sparse import csr_matrix

        rows = [key.decode().split(_SEPARATOR) if key else [] for key in inputs]
        numbers = {word: number for number, word in enumerate(sorted(set(chain(*rows))))}
        counts = np.asarray([len(row) for row in rows])
        ids = np.fromiter((numbers[word] for row in rows for word in row), dtype="int64")
        shares = np.repeat(1 / np.maximum(counts, 1).astype("float32"), counts)
        bounds = np.concatenate([[0], np.cumsum(counts)])
        shape = (len(inputs), len(numbers))
        return csr_matrix((shares, ids, bounds), shape=shape) @ self._model.lookup(list(numbers))

    def contents(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Collect the words, the settings of n-grams, and the vectors of both.

        RETURNS (Tuple): Values for msgpack, and arrays.
        """
        table = self._model
        arrays = {"vectors": table.vectors, "buckets": table.buckets}
        return {"words": _SEPARATOR.join(table.words), "lengths": table.lengths}, arrays

    def restored(
        self, saved: Mapping[str, Any], arrays: dict[str, np.ndarray]
    ) -> "tuple[WordTable, str]":
        """Restore a table.

        RETURNS (Tuple): The table and its checksum.
        """
        words = saved["words"].split(_SEPARATOR) if saved["words"] else []
        table = WordTable(words, lengths=tuple(saved["lengths"]), **arrays)
        table.check()
        return table, table.digest()


@dataclass(frozen=True)
class WordTable:
    """Vectors by word. An unknown word gets the mean of the vectors of its character n-grams, if
    there are any, and otherwise none (Bojanowski et al. 2017).

    words (List[str]): v words.
    vectors (np.ndarray): Shape (v, width), float32.
    lengths (Tuple[int, int]): Characters of the shortest and the longest n-gram, including the word
        boundaries `<` and `>`.
    buckets (np.ndarray): Shape (buckets, width), float32: the vectors of n-grams, by their hash;
        empty if there are none.
    """

    words: list[str]
    vectors: np.ndarray
    lengths: tuple[int, ...] = (0, 0)
    buckets: np.ndarray = field(default_factory=lambda: np.zeros((0, 0), dtype="float32"))

    @property
    def width(self) -> int:
        """The width of the vectors.

        RETURNS (int): The number of components.
        """
        return self.vectors.shape[1]

    @cached_property
    def _rows(self) -> dict[str, int]:
        return {word: row for row, word in enumerate(self.words)}

    def check(self) -> None:
        """Check that words, vectors and n-grams fit together.

        RAISES (ValueError): If they do not.
        """
        if any(array.ndim != 2 or array.dtype != "<f4" for array in (self.vectors, self.buckets)):
            raise ValueError("its vectors are not float32 matrices")
        if not self.width or (len(self.buckets) and self.buckets.shape[1] != self.width):
            raise ValueError("its vectors differ in width")
        if len(self._rows) != len(self.vectors):
            sizes = f"{len(self.vectors):,} vectors for {len(self._rows):,} words"
            raise ValueError(f"there are {sizes}")
        least, most = self.lengths
        known = type(least) is type(most) is int and 0 <= least <= most
        if not known or (most and not len(self.buckets)):
            raise ValueError(f"its n-grams have {least} to {most} characters")

    def knows(self, word: str) -> bool:
        """Check whether a word has a vector.

        RETURNS (bool): True if it has.
        """
        return word in self._rows or any(True for _ in self._ngrams(word))

    def lookup(self, words: Sequence[str]) -> np.ndarray:
        """Look up the vectors of known words.

        words (Sequence[str]): Words that have a vector.
        RETURNS (np.ndarray): Shape (words, width), float32.
        """
        vectors = np.zeros((len(words), self.width), dtype="float32")
        for place, word in enumerate(words):
            row = self._rows.get(word)
            vectors[place] = self.vectors[row] if row is not None else self._compose(word)
        return vectors

    def _compose(self, word: str) -> np.ndarray:
        hashes = [fnv_hash(ngram) % len(self.buckets) for ngram in self._ngrams(word)]
        return self.buckets[hashes].mean(axis=0)

    def _ngrams(self, word: str) -> Iterator[str]:
        if not len(self.buckets):
            return
        marked, (least, most) = f"<{word}>", self.lengths
        for start in range(len(marked)):
            for length in range(max(least, 1), min(most, len(marked) - start) + 1):
                # A boundary alone is not an n-gram.
                if length > 1 or 0 < start < len(marked) - 1:
                    yield marked[start : start + length]

    def digest(self) -> str:
        """Compute a checksum of everything.

        RETURNS (str): 32 hexadecimal digits.
        """
        header = _SEPARATOR.join([repr(self.lengths), *self.words, ""])
        return digest_weights(header, {"vectors": self.vectors, "buckets": self.buckets})


def split_tokens(text: str) -> list[str]:
    """Split a text into words and punctuation marks.

    RETURNS (List[str]): The tokens in order.
    """
    return _TOKEN.findall(text)


def fnv_hash(ngram: str) -> int:
    """Compute fastText's hash of an n-gram: FNV-1a over its bytes as signed numbers.

    RETURNS (int): The hash.
    """
    value = _BASIS
    for byte in ngram.encode():
        signed = byte if byte < 128 else byte | 0xFFFFFF00
        value = ((value ^ signed) * _PRIME) & 0xFFFFFFFF
    return value


# The first bytes of fastText's binary format.
_FASTTEXT_MAGIC = struct.pack("<i", 793712314)
_UNREADABLE = "it is damaged or has another format"
_LONGEST_LINE = 1 << 20
# Tables in use by some encoder, by the file's path, time and size.
_in_use: "WeakValueDictionary[tuple[str, int, int], WordTable]" = WeakValueDictionary()


def read_word_table(name: str) -> WordTable:
    """Read word vectors. The format of a file is detected from its first bytes.

    name (str): A word2vec file (text or binary) or a fastText file (`.vec` or `.bin`), which may be
        gzipped; or a spaCy pipeline with vectors, as a folder or an installed package.
    RETURNS (WordTable): The vectors. Only fastText's `.bin` has vectors for words that it was not
        trained on.
    RAISES (ConnormError): CN341 if there is nothing of this name or it can't be read, CN126
        if gensim is missing.
    """
    path = Path(name)
    if not path.is_file():
        return _read(name)
    # A training run reads its vectors several times.
    state = path.stat()
    key = (str(path.resolve()), state.st_mtime_ns, state.st_size)
    table = _in_use.get(key)
    if table is None:
        table = _in_use[key] = _read(name)
    return table


def _read(name: str) -> WordTable:
    path = Path(name)
    # gensim and spaCy raise the errors of their parsers, with text from the file.
    with Errors.CN341.instead_of(Exception, name=name, reason=_UNREADABLE):
        table = _read_file(path) if path.is_file() else _read_spacy(name)
    with Errors.CN341.instead_of(ValueError, name=name):
        table.check()
        if not all(np.isfinite(array).all() for array in (table.vectors, table.buckets)):
            raise ValueError("some of its numbers are not finite")
    return table


def _read_spacy(name: str) -> WordTable:
    from spacy.vocab import Vocab

    # Only the vocabulary is read, so no code of the pipeline runs.
    vocab = Vocab().from_disk(_find_vocab(name))
    vectors = vocab.vectors
    if not vectors.size:
        raise Errors.CN341(name=name, reason="it has no vectors")
    if vectors.mode != "default":
        reason = f"its vectors have the mode '{vectors.mode}', without words"
        raise Errors.CN341(name=name, reason=reason)
    data = np.asarray(vectors.data, dtype="<f4")
    keyed = sorted((vocab.strings[key], row) for key, row in vectors.key2row.items() if row >= 0)
    return _table([word for word, _ in keyed], data[[row for _, row in keyed]])


def _find_vocab(name: str) -> Path:
    from spacy.util import get_package_path, is_package

    folder = Path(name)
    if not folder.is_dir() and is_package(name):
        folder = next((folder.parent for folder in get_package_path(name).glob("*/vocab")), folder)
    if not (folder / "vocab").is_dir():
        raise Errors.CN341(name=name, reason="there is nothing of this name")
    return folder / "vocab"


def _read_file(path: Path) -> WordTable:
    require_installed(f"Reading the word vectors '{path}'", "vectors", "gensim")
    from gensim.models import KeyedVectors
    from gensim.models.fasttext import load_facebook_vectors
    from smart_open import open as open_any

    with open_any(str(path), "rb") as file:
        begin = file.read(4)
        file.seek(0)
        head, line = file.readline(_LONGEST_LINE), file.readline(_LONGEST_LINE)
    if begin != _FASTTEXT_MAGIC:
        model = KeyedVectors.load_word2vec_format(str(path), binary=not _is_text(head, line))
        return _table(model.index_to_key, model.vectors)
    model = load_facebook_vectors(str(path))
    if not model.bucket or not model.max_n:
        return _table(model.index_to_key, model.vectors)
    lengths = (model.min_n, model.max_n)
    return _table(model.index_to_key, model.vectors, lengths, model.vectors_ngrams)


def _is_text(head: bytes, line: bytes) -> bool:
    """Check whether the line of the first word is in the text format: the word and all its numbers,
    as characters. In the binary format, the numbers are bytes.
    """
    try:
        fields = line.decode().split()
    except UnicodeDecodeError:
        return False
    return "".join(fields).isprintable() and len(fields) == int(head.split()[1]) + 1


def _table(
    words: list[str],
    vectors: np.ndarray,
    lengths: tuple[int, int] = (0, 0),
    buckets: np.ndarray | None = None,
) -> WordTable:
    vectors = np.ascontiguousarray(vectors, dtype="<f4")
    # A word with white space can't be a token, and would become two in the saved list.
    kept = [row for row, word in enumerate(words) if word and not any(map(str.isspace, word))]
    if len(kept) < len(words):
        words, vectors = [words[row] for row in kept], vectors[kept]
    buckets = vectors[:0] if buckets is None else np.ascontiguousarray(buckets, dtype="<f4")
    return WordTable(list(words), vectors, lengths, buckets)
