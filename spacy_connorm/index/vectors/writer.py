"""Write vectors to files, block by block."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from ...files.arrays import write_header
from .hybrid import HybridVectors
from .kinds import Vectors, join
from .sparse import SparseVectors

# The number of vectors read at once.
_BLOCK = 16_384


class VectorWriter:
    """Appends blocks of vectors to the files that `open_vectors` opens, by ordinary writes: if a
    disk is full, writing to a memory map kills the process. Sparse vectors stay in memory until the
    end; fitting their encoder takes more memory than that.
    """

    def __init__(
        self, folder: Path, stem: str, rows: int, *, weights: np.ndarray | None = None
    ) -> None:
        """Store the arguments. The files are created by the first block.

        folder (Path): The folder to write to.
        stem (str): The beginning of the file names.
        rows (int): The total number of vectors.
        weights (Optional[Floats1d]): To write sparse vectors as counts, see `SparseVectors.write`.
        """
        self._folder = folder
        self._stem = stem
        self._rows = rows
        self._weights = weights
        self._files: dict[str, BinaryIO] = {}
        self._sparse: dict[str, list[SparseVectors]] = {}

    def append(self, vectors: Vectors, part: str = "") -> None:
        """Write some rows.

        vectors (Vectors): Rows of the same kind in every block.
        part (str): What their files' names have after the stem.
        """
        stem = f"{self._stem}{part}"
        if isinstance(vectors, HybridVectors):
            self.append(vectors.dense, ".dense")
            self.append(vectors.lexical, ".lexical")
        elif isinstance(vectors, SparseVectors):
            self._sparse.setdefault(stem, []).append(vectors)
        else:
            for key, array in vectors.arrays.items():
                self._write(f"{stem}.{key}.npy", array)

    def _write(self, name: str, block: np.ndarray) -> None:
        if name not in self._files:
            self._files[name] = (self._folder / name).open("wb")
            write_header(self._files[name], block.dtype, (self._rows, *block.shape[1:]))
        np.ascontiguousarray(block).tofile(self._files[name])

    def close(self) -> None:
        """Complete the files."""
        for file in self._files.values():
            file.close()
        for stem, parts in self._sparse.items():
            vectors: Any = join(parts)
            vectors.write(self._folder, stem, self._weights)


def row_blocks(rows: np.ndarray) -> Iterator[np.ndarray]:
    """Split rows into blocks.

    YIELDS (Ints1d): A few thousand rows at a time.
    """
    for start in range(0, len(rows), _BLOCK):
        yield rows[start : start + _BLOCK]
