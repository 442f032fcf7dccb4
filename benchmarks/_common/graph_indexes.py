"""HNSW graphs of other libraries behind the interface of our backends, for `index_curve.py`. Their
candidates are rescored like ours.
"""

from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from _common.cli import fail
from spacy_connorm.index.backends.approximate import blocks
from spacy_connorm.index.backends.proposals import rescore
from spacy_connorm.index.backends.protocol import Neighbours
from spacy_connorm.index.vectors.base import Vectors

# usearch's defaults: links of a node, and nodes inspected to add one.
LINKS = 16
WIDTH_ADDING = 128


@dataclass(frozen=True)
class UsearchIndex:
    """usearch, int8 vectors, memory-mapped.

    width (int): Nodes kept during a search.
    oversample (int): Candidates rescored per item wanted.
    """

    width: int = 64
    oversample: int = 2

    def build(self, vectors: Vectors, path: Path) -> None:
        """Add all vectors, on one thread."""
        graph = self._module().Index(
            ndim=vectors.width, dtype="i8", connectivity=LINKS, expansion_add=WIDTH_ADDING
        )
        first = 0
        for block in blocks(vectors):
            graph.add(np.arange(first, first + len(block)), block, threads=1)
            first += len(block)
        graph.save(str(path))

    def open(self, vectors: Vectors, path: Path) -> "GraphSearcher":
        """Map the file."""
        graph = self._module().Index.restore(str(path), view=True)
        graph.expansion_search = self.width

        def propose(queries: np.ndarray, count: int) -> np.ndarray:
            return graph.search(queries, count, threads=1).keys

        return GraphSearcher(vectors, propose, self.oversample)

    @staticmethod
    def _module() -> Any:
        require("usearch")
        import usearch.index

        return usearch.index


@dataclass(frozen=True)
class VoyagerIndex:
    """Voyager, 8-bit vectors, read into memory.

    width (int): Nodes kept during a search.
    oversample (int): Candidates rescored per item wanted.
    """

    width: int = 64
    oversample: int = 2

    def build(self, vectors: Vectors, path: Path) -> None:
        """Add all vectors, on one thread."""
        voyager = self._module()
        graph = voyager.Index(
            voyager.Space.InnerProduct,
            vectors.width,
            M=LINKS,
            ef_construction=WIDTH_ADDING,
            max_elements=len(vectors),
            storage_data_type=voyager.StorageDataType.E4M3,
        )
        for block in blocks(vectors):
            graph.add_items(block, num_threads=1)
        graph.save(str(path))

    def open(self, vectors: Vectors, path: Path) -> "GraphSearcher":
        """Read the file."""
        graph = self._module().Index.load(str(path))

        def propose(queries: np.ndarray, count: int) -> np.ndarray:
            return graph.query(queries, count, num_threads=1, query_ef=max(self.width, count))[0]

        return GraphSearcher(vectors, propose, self.oversample)

    @staticmethod
    def _module() -> Any:
        require("voyager")
        import voyager

        return voyager


class GraphSearcher:
    """Rescores the candidates of a graph."""

    def __init__(self, vectors: Vectors, propose: Any, oversample: int) -> None:
        """vectors (DenseVectors): The items.
        propose (Callable[[Floats2d, int], Ints2d]): Gives this many distinct items per query.
        oversample (int): Candidates per item wanted.
        """
        self._vectors = vectors
        self._propose = propose
        self._oversample = oversample

    def nearest(self, queries: np.ndarray, n: int) -> Neighbours:
        """RETURNS (Neighbours): (b, n) neighbours by exact cosine."""
        proposed = self._propose(queries, min(n * self._oversample, len(self._vectors)))
        return rescore(self._vectors, queries, proposed.astype("int64"), n)


GRAPHS: dict[str, Any] = {"usearch": UsearchIndex, "voyager": VoyagerIndex}


def require(package: str) -> None:
    """Exit with a message that says what to install if a package is missing."""
    if find_spec(package) is None:
        fail(f"{package} is not installed: pip install {package}, or leave it out of --graphs.")
