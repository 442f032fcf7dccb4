"""Compute the vectors of all rows in windows, and write each window at once."""

from pathlib import Path

import numpy as np
from tqdm import tqdm

from ...encoders.encoding import EncodeBatches
from ...encoders.vectors import Raw, stack
from ..concept_index import ConceptIndex
from ..vectors.base import Vectors, from_raw, join
from ..vectors.writer import VectorWriter
from .grouping import GroupedNames
from .name_file import NameFile

# How many vectors are in memory before they are written.
_WINDOW = 1 << 15
# How many texts are encoded at once: up to 32 workers share a window.
_CHUNK = 1024
_NOTHING = -1


class RowEncoder:
    """Computes the vectors of rows, or copies them from an older index."""

    def __init__(
        self,
        encode: EncodeBatches,
        names: NameFile,
        *,
        dtype: str,
        known: ConceptIndex | None,
    ) -> None:
        """Store the settings.

        encode (Callable): Turns batches of texts into raw vectors.
        names (NameFile): Holds the texts.
        dtype (str): How dense vectors are stored.
        known (Optional[ConceptIndex]): An older index with the same encoder and dtype.
        """
        self._encode = encode
        self._names = names
        self._dtype = dtype
        self._known = known

    def write(self, grouped: GroupedNames, folder: Path, stem: str) -> np.ndarray:
        """Write the vectors of all rows.

        grouped (GroupedNames): The rows.
        folder (Path): Where to write.
        stem (str): How the file names start.
        RETURNS (Ints1d): int32 (rows,): the row of the older index that each was copied from; -1
            for one that was computed.
        """
        writer, encoded = VectorWriter(folder, stem), grouped.encoded
        copied = np.full(len(encoded), _NOTHING, dtype="int32")
        with tqdm(total=len(encoded), desc="Encoding", unit="text", delay=2, disable=None) as bar:
            for start in range(0, len(encoded), _WINDOW):
                window = slice(start, start + _WINDOW)
                rows = self._known_rows(grouped.hashes[window])
                writer.append(self._vectors(encoded[window], rows))
                copied[window] = rows
                bar.update(len(rows))
        writer.close()
        return copied

    def _known_rows(self, hashes: np.ndarray) -> np.ndarray:
        if self._known is None:
            return np.full(len(hashes), _NOTHING)
        return self._known.keys.rows_of(hashes)

    def _vectors(self, texts: np.ndarray, rows: np.ndarray) -> Vectors:
        new, old = np.flatnonzero(rows == _NOTHING), np.flatnonzero(rows != _NOTHING)
        parts = []
        if len(new):
            raw = _encode_all(self._names.read(texts[new]), self._encode)
            parts.append(from_raw(raw, dtype=self._dtype))
        if self._known is not None and len(old):
            parts.append(self._known.vectors.take(rows[old]))
        if len(parts) == 1:
            return parts[0]
        return join(parts).take(np.argsort(np.concatenate([new, old])))


def _encode_all(texts: list[str], encode: EncodeBatches) -> Raw:
    # Texts of similar length share a chunk, so that encoders pad little.
    order = np.argsort([len(text) for text in texts], kind="stable")
    chunks = [order[start : start + _CHUNK] for start in range(0, len(order), _CHUNK)]
    encoded = stack(encode([texts[place] for place in chunk] for chunk in chunks))
    return encoded[np.argsort(order)]


def can_reuse(index: ConceptIndex | None, *, fingerprint: str, dtype: str) -> bool:
    """Check whether an older index has vectors that can be copied.

    index (Optional[ConceptIndex]): The index.
    fingerprint (str): The encoder's fingerprint.
    dtype (str): How dense vectors must be stored.
    RETURNS (bool): Whether encoder and dtype are the same.
    """
    if index is None or index.fingerprint != fingerprint:
        return False
    return index.manifest["backend"].get("dtype") == dtype
