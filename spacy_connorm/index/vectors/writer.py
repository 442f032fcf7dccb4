"""Write vectors to disk in blocks, so that they need not fit in memory."""

from pathlib import Path

from .arrays import ArrayWriter
from .base import HybridVectors, Vectors
from .sparse import SparseVectors


class VectorWriter:
    """Appends blocks of vectors to the files that `open_vectors` opens. Sparse vectors stay in
    memory until the end; fitting their encoder takes more memory than that.
    """

    def __init__(self, folder: Path, stem: str) -> None:
        """Start without files; they are created by the first block.

        folder (Path): Where to write.
        stem (str): How the file names start.
        """
        self._folder = folder
        self._stem = stem
        self._files: dict[str, ArrayWriter] = {}
        self._sides: dict[str, VectorWriter] = {}
        self._sparse: list[SparseVectors] = []

    def append(self, vectors: Vectors) -> None:
        """Write some rows.

        vectors (Vectors): Rows of the same kind in every block.
        """
        if isinstance(vectors, HybridVectors):
            self._side("dense").append(vectors.dense)
            self._side("lexical").append(vectors.lexical)
        elif isinstance(vectors, SparseVectors):
            self._sparse.append(vectors)
        else:
            for key, array in vectors.arrays.items():  # type: ignore[attr-defined]
                self._file(key).append(array)

    def close(self) -> None:
        """Complete the files."""
        for file in self._files.values():
            file.close()
        for side in self._sides.values():
            side.close()
        if self._sparse:
            SparseVectors.join(self._sparse).write(self._folder, self._stem)

    def _file(self, key: str) -> ArrayWriter:
        if key not in self._files:
            self._files[key] = ArrayWriter(self._folder / f"{self._stem}.{key}.npy")
        return self._files[key]

    def _side(self, name: str) -> "VectorWriter":
        if name not in self._sides:
            self._sides[name] = VectorWriter(self._folder, f"{self._stem}.{name}")
        return self._sides[name]
