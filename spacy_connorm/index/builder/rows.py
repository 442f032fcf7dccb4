"""The vectors that are written: those of all rows, and the means of concepts (searches over C)."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from tqdm import tqdm

from ...encoders.normalized import EncodeBatches
from ...encoders.vectors import Raw, stack
from ..concept_index import ConceptIndex
from ..members import Members
from ..vectors.base import Vectors, VectorWriter, from_raw, join
from .names import GroupedNames, NameFile

# How many vectors are in memory before they are written, and how many means.
_WINDOW = 1 << 15
_MEANS = 1 << 14
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


class Centroids:
    """The centroids of the concepts that have texts in a target."""

    def __init__(self, vectors: Vectors, members: Members, target: int, concept_count: int) -> None:
        """Group the rows by concept.

        vectors (Vectors): One vector per row.
        members (Members): The concepts of the rows.
        target (int): O, D or both: which texts are averaged.
        concept_count (int): The number of concepts.
        """
        chosen = np.flatnonzero(members.target & target)
        concepts = members.concept[chosen]
        rows = np.searchsorted(members.start, chosen, side="right") - 1
        sizes = np.bincount(concepts, minlength=concept_count)
        self.concepts = np.flatnonzero(sizes)
        self._vectors = vectors
        self._rows = rows[np.argsort(concepts, kind="stable")]
        self._ends = np.concatenate([[0], np.cumsum(sizes[self.concepts])])

    def blocks(self) -> Iterator[Raw]:
        """YIELDS (Raw): The centroids in order, (b, width) at a time; at least one block."""
        for start in range(0, max(len(self.concepts), 1), _MEANS):
            yield self._block(self._ends[start : start + _MEANS + 1])

    def _block(self, ends: np.ndarray) -> Raw:
        sizes = np.diff(ends)
        shares = np.repeat((1 / sizes).astype("float32"), sizes)
        rows = self._rows[ends[0] : ends[-1]]
        shape = (len(sizes), len(self._vectors))
        from scipy.sparse import csr_matrix

        return self._vectors.sums(csr_matrix((shares, rows, ends - ends[0]), shape=shape))

    def write(self, folder: Path, stem: str, *, dtype: str) -> None:
        """Write the centroids as vectors, and the numbers of their concepts.

        folder (Path): Where to write.
        stem (str): How the file names start.
        dtype (str): How dense vectors are stored.
        """
        np.save(folder / f"{stem}.concepts.npy", self.concepts)
        writer = VectorWriter(folder, stem)
        for block in self.blocks():
            writer.append(from_raw(block, dtype=dtype))
        writer.close()


def concept_centroids(
    vectors: Vectors, members: Members, target: int, concept_count: int
) -> tuple[np.ndarray, Raw]:
    """Compute all centroids at once: the mean raw vector of each concept's distinct texts.

    vectors, members, target, concept_count: As in `Centroids`.
    RETURNS (Tuple[Ints1d, Raw]): The numbers of the concepts with texts, and their centroids.
    """
    centroids = Centroids(vectors, members, target, concept_count)
    return centroids.concepts, stack(centroids.blocks())
