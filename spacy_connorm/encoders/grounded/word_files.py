"""Reading word vectors that others made: spaCy's, word2vec's and fastText's."""

import struct
from pathlib import Path
from weakref import WeakValueDictionary

import numpy as np

from ...errors import ConnormError, Errors, require_installed
from .words import WordTable

# The first bytes of fastText's binary models.
_FASTTEXT_MAGIC = struct.pack("<i", 793712314)
_UNREADABLE = "it is damaged or has another format"
_LONGEST_LINE = 1 << 20
# Tables that some encoder holds, by the file's path, time and size.
_in_use: "WeakValueDictionary[tuple[str, int, int], WordTable]" = WeakValueDictionary()


def read_word_table(name: str) -> WordTable:
    """Read word vectors. A file's format is told from its first bytes.

    name (str): A file of word2vec (text or binary) or fastText (`.vec` or `.bin`), perhaps with
        gzip; or a spaCy pipeline with vectors, as a folder or an installed package.
    RETURNS (WordTable): The vectors. Only fastText's `.bin` knows words that it was not trained on.
    RAISES (ConnormError): CN340 if there is nothing of this name, CN341 if it can't be read, CN126
        if gensim is missing.
    """
    path = Path(name)
    if not path.is_file():
        return _read(name)
    # A training reads its vectors several times.
    state = path.stat()
    key = (str(path.resolve()), state.st_mtime_ns, state.st_size)
    table = _in_use.get(key)
    if table is None:
        table = _in_use[key] = _read(name)
    return table


def _read(name: str) -> WordTable:
    path = Path(name)
    try:
        table = _read_file(path) if path.is_file() else _read_spacy(name)
    except ConnormError:
        raise
    # gensim and spaCy raise whatever their parsers stumble over, with text of the file.
    except Exception as error:
        raise ConnormError(Errors.CN341.format(name=name, reason=_UNREADABLE)) from error
    if not all(np.isfinite(each).all() for each in (table.vectors, table.buckets)):
        reason = "some of its numbers are not finite"
        raise ConnormError(Errors.CN341.format(name=name, reason=reason))
    try:
        table.check()
    except ValueError as error:
        raise ConnormError(Errors.CN341.format(name=name, reason=error)) from error
    return table


def _read_spacy(name: str) -> WordTable:
    from spacy.vocab import Vocab

    # Only the vocabulary is read: no code of the pipeline runs.
    vocab = Vocab().from_disk(_find_vocab(name))
    vectors = vocab.vectors
    if not vectors.size:
        raise ConnormError(Errors.CN341.format(name=name, reason="it has no vectors"))
    if vectors.mode != "default":
        reason = f"its vectors are of the kind {vectors.mode}, without words"
        raise ConnormError(Errors.CN341.format(name=name, reason=reason))
    data = np.asarray(vectors.data, dtype="<f4")
    keyed = sorted((vocab.strings[key], row) for key, row in vectors.key2row.items() if row >= 0)
    return _table([word for word, _ in keyed], data[[row for _, row in keyed]])


def _find_vocab(name: str) -> Path:
    from spacy.util import get_package_path, is_package

    folder = Path(name)
    if not folder.is_dir() and is_package(name):
        folder = next((each.parent for each in get_package_path(name).glob("*/vocab")), folder)
    if not (folder / "vocab").is_dir():
        raise ConnormError(Errors.CN340.format(name=name))
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
        found = KeyedVectors.load_word2vec_format(str(path), binary=not _is_text(head, line))
        return _table(found.index_to_key, found.vectors)
    found = load_facebook_vectors(str(path))
    if not found.bucket or not found.max_n:
        return _table(found.index_to_key, found.vectors)
    lengths = (found.min_n, found.max_n)
    return _table(found.index_to_key, found.vectors, lengths, found.vectors_ngrams)


def _is_text(head: bytes, line: bytes) -> bool:
    """Whether the line of the first word is one of the text format: the word and all its numbers,
    in characters. In the binary format the numbers are bytes.
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
    # A word with white space can't be a token, but it would be two in the saved list.
    kept = [row for row, word in enumerate(words) if word and not any(map(str.isspace, word))]
    if len(kept) < len(words):
        words, vectors = [words[row] for row in kept], vectors[kept]
    buckets = vectors[:0] if buckets is None else np.ascontiguousarray(buckets, dtype="<f4")
    return WordTable(list(words), vectors, lengths, buckets)
