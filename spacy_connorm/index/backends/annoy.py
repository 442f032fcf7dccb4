"""Approximate search with Annoy: the forest proposes candidates, exact float32 scores rank them.
For small indexes, or without annoy, the search is exact.

Annoy reads its files without checking them. A file is an array of nodes of (3 + width) four-byte
words: the number of items below the node, two words for its children, and a vector. The first nodes
are the items, and the last ones the roots. A node with at most width + 2 items below it is a leaf:
their numbers start in its second word and take the place of the vector. Any other node has two
children.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np

from ...encoders.raw import Raw
from ...encoders.storage import DTYPES
from ...errors import Errors, Warnings, require_choice, require_range
from ...files.folders import damaged
from ..vectors.kinds import Vectors
from ..vectors.writer import row_blocks
from .exact import ExactSearcher, open_exact, rescore, write_exact
from .protocol import AllowedItems, Earlier, Neighbours, Searcher

# The beginning of the file if no forest was built.
_NO_FOREST = b"no forest"
# With fewer names, an exact search is as fast.
_MANY = 300_000


@dataclass(frozen=True)
class AnnoyIndex:
    """Settings of the Annoy backend, `spacy-connorm.AnnoyIndex.v1`.

    n_trees (int): The number of trees. More trees give better recall and a larger file.
    search_k (int): Nodes inspected per query. More nodes give better recall and slower searches.
    oversample (int): Proposals to rescore per requested item.
    exact_below (int): The number of vectors below which the search is exact and no forest is built.
    seed (int): The seed of the random splits; the same seed gives the same forest.
    dtype (str): How the vectors for rescoring are stored, see `ExactIndex`.
    """

    # Without annoy, the search is exact, so packages of pipelines need no compiler.
    extra: ClassVar[str] = ""

    n_trees: int = 50
    search_k: int = 20_000
    oversample: int = 2
    exact_below: int = _MANY
    seed: int = 13
    dtype: Literal["float32", "int8"] = "float32"

    def __post_init__(self) -> None:
        """Check the settings.

        RAISES (ConnormError): CN006 or CN118 for an invalid setting.
        """
        require_choice("dtype", self.dtype, DTYPES)
        # Annoy treats a negative number of trees as a huge one and builds until memory is full.
        require_range(least=1, n_trees=self.n_trees, search_k=self.search_k)
        require_range(least=1, oversample=self.oversample)
        require_range(least=0, exact_below=self.exact_below)

    def build(self, vectors: Vectors, path: Path, earlier: Earlier | None = None) -> str:
        """Build the forest for dense vectors. Sparse and hybrid ones are searched exactly.

        vectors (Vectors): The items, one per row.
        path (Path): The file that Annoy writes and later maps, or that records that there is no
            forest.
        earlier (Optional[Earlier]): Not used: trees are always built anew.
        RETURNS (str): What was built, and why.
        """
        if "sparse" in vectors.widths:
            return write_exact(vectors, path)
        if len(vectors) < self.exact_below:
            path.write_bytes(_NO_FOREST)
            return write_exact(vectors, path, below=self.exact_below)
        forest = _new_forest(vectors.width)
        if forest is None:
            self._warn_of_many(len(vectors))
            path.write_bytes(_NO_FOREST)
            return "exact, without annoy"
        forest.set_seed(self.seed)
        for rows in row_blocks(np.arange(len(vectors))):
            for item, vector in zip(rows.tolist(), vectors.queries(rows), strict=True):
                forest.add_item(item, vector)
        # One job, since the forest depends on the number of jobs. Built in memory and then saved,
        # since building on disk ends in SIGBUS when the disk is full.
        forest.build(self.n_trees, n_jobs=1)
        forest.save(str(path))
        forest.unload()
        return f"a forest of {self.n_trees} trees"

    def open(self, vectors: Vectors, path: Path) -> Searcher:
        """Map the forest into memory.

        vectors (Vectors): The items it was built from.
        path (Path): Its file.
        RETURNS (Searcher): A searcher over the vectors.
        """
        if "sparse" in vectors.widths:
            return open_exact(vectors, path)
        # A missing file must be a forest, so that it is missed.
        forest = None if begins_with(path, _NO_FOREST) else _new_forest(vectors.width)
        if forest is not None:
            return AnnoySearcher(self, vectors, path, forest)
        self._warn_of_many(len(vectors))
        return ExactSearcher(vectors)

    def _warn_of_many(self, vectors: int) -> None:
        if vectors > max(_MANY, self.exact_below):
            Warnings.CNW403.warn(count=vectors, library="annoy")


class AnnoySearcher:
    """Searches a forest and rescores its proposals."""

    def __init__(self, settings: AnnoyIndex, vectors: Vectors, path: Path, forest: Any) -> None:
        """Map a forest into memory.

        settings (AnnoyIndex): How to search it.
        vectors (Vectors): The items it was built from.
        path (Path): Its file.
        forest (annoy.AnnoyIndex): An empty forest, which loads the file.
        RAISES (ConnormError): CN402 if the file is not a forest of these vectors.
        """
        self.settings = settings
        self.vectors = vectors
        self._exact = ExactSearcher(vectors)
        self._forest = forest
        with Errors.CN402.instead_of(OSError, path=path):
            require_sound_forest(path, items=len(vectors), width=vectors.width)
            self._forest.load(str(path))

    def nearest(self, queries: Raw, n: int, allowed: AllowedItems | None = None) -> Neighbours:
        """Find the n nearest items of each query. The search is exact if that costs no more than
        searching the forest: if `search_k` is at least the number of items, or a filter allows only
        a few.

        queries (Floats2d): float32 (b, width), at unit length.
        n (int): The number of items.
        allowed (Optional[AllowedItems]): The items that may be found; all if None.
        RETURNS (Neighbours): Exact float32 scores of approximate neighbours.
        """
        size = len(self.vectors)
        possible = size if allowed is None else allowed.count
        n = min(n, size)
        wanted = min(n, possible)
        # Enough proposals to expect enough allowed items among them.
        proposals = wanted * self.settings.oversample * size // max(possible, 1)
        inspected = self.settings.search_k
        if inspected >= size or proposals > inspected or proposals * 4 > size:
            return self._exact.nearest(queries, n, allowed)
        proposed = self._propose(queries, proposals, allowed)
        neighbours = rescore(self.vectors, queries, proposed, n)
        return self._exact.complete(neighbours, queries, wanted, allowed)

    def _propose(
        self, queries: Raw, count: int, allowed: AllowedItems | None
    ) -> Iterator[np.ndarray]:
        for vector in queries:
            numbers = self._forest.get_nns_by_vector(vector, count, self.settings.search_k)
            items = np.asarray(numbers, dtype="int64")
            yield items if allowed is None else items[allowed.mask[items]]


def begins_with(path: Path, beginning: bytes) -> bool:
    """Check how a file begins.

    path (Path): The file.
    beginning (bytes): What it may begin with.
    RETURNS (bool): Whether it does; False for a missing file.
    """
    try:
        with path.open("rb") as file:
            return file.read(len(beginning)) == beginning
    except FileNotFoundError:
        return False


def _new_forest(width: int) -> Any:
    """Create an empty forest.

    RETURNS (Optional[annoy.AnnoyIndex]): The forest; None if annoy is not installed.
    """
    try:
        import annoy
    except ImportError:
        return None
    return annoy.AnnoyIndex(width, "angular")


def require_sound_forest(path: Path, *, items: int, width: int) -> None:
    """Check that a search through a forest stays inside its file and terminates: children are
    nodes, leaves hold items, and every node has as many items as its children together. So a child
    has fewer items than its parent, and each tree is traversed in bounded time.

    path (Path): The file.
    items (int): The number of vectors it was built from.
    width (int): Their width.
    RAISES (ConnormError): CN402 if it is not such a forest.
    """
    words = width + 3
    size = path.stat().st_size
    if size == 0 or size % (4 * words):
        raise damaged(path, f"{size} bytes are not a whole number of nodes")
    nodes = np.asarray(np.memmap(path, dtype="<i4", mode="r", shape=(size // (4 * words), words)))
    below = np.array(nodes[:, 0])
    if below[-1] != items or len(nodes) <= items:
        raise damaged(path, f"it is not a forest of {items} items")
    if (below[:items] != 1).any() or below.min() < 1:
        raise damaged(path, "the number of items of a node is wrong")
    is_leaf = below <= width + 2
    is_leaf[:items] = False
    leaves = np.flatnonzero(is_leaf)
    inner = np.flatnonzero(below > width + 2)
    _check_leaves(path, nodes, leaves, items)
    children = nodes[inner, 1:3]
    if children.size and not (children.min() >= 0 and children.max() < len(nodes)):
        raise damaged(path, "a child is not a node")
    if (below[children].sum(axis=1, dtype="int64") != below[inner]).any():
        raise damaged(path, "a node does not have the items of its children")


def _check_leaves(path: Path, nodes: np.ndarray, leaves: np.ndarray, items: int) -> None:
    for block in row_blocks(leaves):
        held = nodes[block, 1 : 1 + nodes[block, 0].max()]
        # The bytes after the items of a leaf were never written.
        is_held = np.arange(held.shape[1]) < nodes[block, :1]
        numbers = held[is_held].view("uint32")
        if len(numbers) and numbers.max() >= items:
            raise damaged(path, "a leaf holds a number that is not an item")
