"""The mean of word vectors as an encoder."""

import hashlib
from itertools import chain
from typing import Any, cast

import numpy as np
import srsly
from thinc.api import Model, Ops
from thinc.shims import Shim
from thinc.types import Floats2d

from ..errors import refuse
from .protocol import make_encoder
from .verified import load_verified
from .word_table import WordTable, split_tokens

_SEPARATOR = "\n"


def WordVectorEncoder(
    *, name: str | None = None, lowercase: bool = True, batch_size: int = 4096
) -> Model[list[str], Floats2d]:
    """Build an encoder whose vector is the mean of the vectors of a text's words and punctuation
    marks (the name embedding of Fivez et al. 2021, section 3.1). Words without a vector are left
    out; fastText's `.bin` models and spaCy's floret vectors compose one from character n-grams.

    A saved pipeline holds all vectors, so it needs neither the file nor gensim.

    name (Optional[str]): A file of word2vec (text or binary) or fastText (`.vec` or `.bin`), which
        needs the extra `[vectors]`; or a spaCy pipeline with vectors, as a folder or an installed
        package. None if the vectors come with a saved pipeline.
    lowercase (bool): Whether to lower-case texts first, as most vectors expect.
    batch_size (int): Texts per batch.
    RETURNS (Model[List[str], Floats2d]): The encoder.
    RAISES (ConnormError): CN006 for an invalid setting.
    """
    if batch_size < 1:
        refuse("batch_size", batch_size, "at least 1")
    return make_encoder("word_vector_encoder", WordVectorShim(name, lowercase, batch_size))


class WordVectorShim(Shim):
    """Holds a table of word vectors."""

    sparse = False
    fits = False
    extra = ""

    def __init__(self, name: str | None, lowercase: bool, batch_size: int) -> None:
        """name (Optional[str]): As `WordVectorEncoder` takes it.
        lowercase (bool): Whether to lower-case texts.
        batch_size (int): Texts encoded at once.
        """
        super().__init__(None)
        self._name = name
        self._lowercase = lowercase
        self._batch_size = batch_size
        self._digest = ""

    @property
    def width(self) -> int:
        """RETURNS (int): The width of the vectors; 0 before they are loaded."""
        return 0 if self._model is None else self._model.width

    def load(self, texts: list[str] | None) -> None:
        """Load the vectors, unless they are loaded.

        texts (Optional[List[str]]): Not used.
        RAISES (ConnormError): CN006 without a name, and those of `read_word_table`.
        """
        if self._model is not None:
            return
        if self._name is None:
            expected = "a file of word vectors, or a spaCy pipeline with vectors"
            refuse("name", None, expected)
        from .vector_files import read_word_table

        table = read_word_table(self._name)
        self._model, self._digest = table, table.digest()

    def inputs(self, texts: list[str]) -> list[bytes]:
        """RETURNS (List[bytes]): The tokens that have vectors, in alphabetical order."""
        kept: dict[str, bool] = {}
        rows = [split_tokens(text) for text in self.forms(texts)]
        for token in chain.from_iterable(rows):
            if token not in kept:
                kept[token] = self._model.knows(token)
        return [_SEPARATOR.join(sorted(filter(kept.get, row))).encode() for row in rows]

    def forms(self, texts: list[str]) -> list[str]:
        """RETURNS (List[str]): The texts, lower-cased if `lowercase`."""
        return [text.lower() for text in texts] if self._lowercase else texts

    def encode(self, inputs: list[bytes], ops: Ops) -> Floats2d:
        """RETURNS (Floats2d): Shape (inputs, width), float32; 0 for a text without known tokens."""
        vectors = np.zeros((len(inputs), self.width), dtype="float32")
        for start in range(0, len(inputs), self._batch_size):
            batch = inputs[start : start + self._batch_size]
            vectors[start : start + len(batch)] = self._encode(batch)
        return ops.asarray2f(cast(Floats2d, vectors))

    def _encode(self, inputs: list[bytes]) -> np.ndarray:
        from scipy.sparse import csr_matrix

        rows = [each.decode().split(_SEPARATOR) if each else [] for each in inputs]
        numbers = {word: number for number, word in enumerate(sorted(set(chain(*rows))))}
        counts = np.asarray([len(row) for row in rows])
        ids = np.fromiter((numbers[word] for row in rows for word in row), dtype="int64")
        shares = np.repeat(1 / np.maximum(counts, 1).astype("float32"), counts)
        bounds = np.concatenate([[0], np.cumsum(counts)])
        shape = (len(inputs), len(numbers))
        return csr_matrix((shares, ids, bounds), shape=shape) @ self._model.lookup(list(numbers))

    def fingerprint(self) -> str:
        """RETURNS (str): The checksum of the vectors and the setting."""
        content = f"{self._digest} {self._lowercase}".encode()
        return hashlib.blake2b(content, digest_size=16).hexdigest()

    def to_bytes(self) -> bytes:
        """RETURNS (bytes): The vectors and a checksum; empty before they are loaded."""
        if self._model is None:
            return b""
        return srsly.msgpack_dumps({**self._model.to_dict(), "digest": self._digest})

    def from_bytes(self, bytes_data: bytes) -> "WordVectorShim":
        """Restore what `to_bytes` saved.

        bytes_data (bytes): From `to_bytes`.
        RETURNS (WordVectorShim): This shim.
        RAISES (ConnormError): CN305 if the data is damaged.
        """
        if not bytes_data:
            self._model, self._digest = None, ""
            return self
        self._model, self._digest = load_verified(bytes_data, _restore)
        return self


def _restore(saved: dict[str, Any]) -> tuple[WordTable, str]:
    table = WordTable.from_dict(saved)
    return table, table.digest()
