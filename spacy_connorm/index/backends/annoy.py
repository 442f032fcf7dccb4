"""Approximate search with Annoy: the forest proposes, exact float32 cosine decides."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from ...encoders.vectors import Raw
from ...errors import ConnormError, Errors
from ...files.checksums import damaged
from ..vectors.base import Vectors
from .annoy_forest import has_each_item_in_each_tree, require_sound_forest, stored_vectors
from .exact import ExactSearcher
from .protocol import Neighbours, require_positive_settings
from .rescoring import blocks, build_dense, fill_exactly, open_dense, rescore

if TYPE_CHECKING:
    from .protocol import Searcher

# What other processors may round differently.
_ROUNDED = 1e-4


@dataclass(frozen=True)
class AnnoyIndex:
    """Settings of the Annoy backend, `spacy-connorm.AnnoyIndex.v1`.

    n_trees (int): The number of trees. More of them: better recall, a larger file.
    search_k (int): Nodes inspected per query. More of them: better recall, slower searches.
    oversample (int): Proposals rescored per requested item.
    seed (int): The seed of the random splits; the same seed gives the same forest.
    dtype (str): How the vectors for rescoring are stored, see `ExactIndex`.
    """

    extra: ClassVar[str] = ""

    n_trees: int = 50
    search_k: int = 20_000
    oversample: int = 2
    seed: int = 13
    dtype: Literal["float32", "float16", "int8"] = "float32"

    def __post_init__(self) -> None:
        # Annoy takes a negative number of trees for a huge one and builds until memory is full.
        require_positive_settings(self, "n_trees", "search_k", "oversample")

    def build(self, vectors: Vectors, path: Path) -> None:
        """Build the forest of dense vectors; see `build_dense` for others.

        vectors (Vectors): The items, one per row.
        path (Path): The file that Annoy writes and maps later.
        """
        build_dense(vectors, path, self._build)

    def open(self, vectors: Vectors, path: Path) -> "Searcher":
        """Map the forest into memory.

        vectors (Vectors): The items it was built from.
        path (Path): Its file.
        RETURNS (Searcher): A searcher over the vectors.
        """
        return open_dense(vectors, path, partial(AnnoySearcher, self))

    def _build(self, vectors: Vectors, path: Path) -> None:
        forest = _forest(vectors.width)
        forest.set_seed(self.seed)
        for item, vector in enumerate(row for block in blocks(vectors) for row in block):
            forest.add_item(item, vector)
        # One job, since the forest depends on the number of jobs. Built in memory and then saved,
        # since Annoy's building on disk dies of SIGBUS when the disk is full.
        forest.build(self.n_trees, n_jobs=1)
        forest.save(str(path))
        forest.unload()


class AnnoySearcher:
    """Searches a forest and rescores its proposals."""

    def __init__(self, settings: AnnoyIndex, vectors: Vectors, path: Path) -> None:
        """Map a forest into memory.

        settings (AnnoyIndex): How to search it.
        vectors (Vectors): The items it was built from.
        path (Path): Its file.
        RAISES (ConnormError): CN403 if it is no forest of these vectors.
        """
        self.settings = settings
        self.vectors = vectors
        self._exact = ExactSearcher(vectors)
        self._forest = _forest(vectors.width)
        try:
            require_sound_forest(path, items=len(vectors), width=vectors.width)
            self._forest.load(str(path))
        except OSError as error:
            raise ConnormError(Errors.CN403.format(path=path, reason=error)) from error

    def __len__(self) -> int:
        return len(self.vectors)

    def nearest(self, queries: Raw, n: int, allowed: np.ndarray | None = None) -> Neighbours:
        """Find the n nearest items of each query. The search is exact if that costs no more than
        asking the forest: `search_k` is at least the number of items, or a filter leaves few.

        queries (Floats2d): float32 (b, width) unit vectors.
        n (int): How many.
        allowed (Optional[np.ndarray]): bool (len(self),): the items that may be found.
        RETURNS (Neighbours): Exact float32 cosines of approximate neighbours.
        """
        possible = len(self) if allowed is None else int(np.count_nonzero(allowed))
        n = min(n, len(self))
        wanted = min(n, possible)
        # Enough proposals to expect enough allowed items among them.
        proposals = wanted * self.settings.oversample * len(self) // max(possible, 1)
        inspected = self.settings.search_k
        if inspected >= len(self) or proposals > inspected or proposals * 4 > len(self):
            return self._exact.nearest(queries, n, allowed)
        proposed = self._propose(queries, proposals, allowed)
        found = rescore(self.vectors, queries, proposed, n)
        return fill_exactly(found, self._exact, queries, wanted=wanted, allowed=allowed)

    def verify(self, path: Path) -> None:
        width = self.vectors.width
        if not has_each_item_in_each_tree(path, items=len(self), width=width):
            raise damaged(path, "its trees do not hold every vector once")
        stored, start = stored_vectors(path, items=len(self), width=width), 0
        for block in blocks(self.vectors):
            if not np.allclose(stored[start : start + len(block)], block, atol=_ROUNDED):
                raise damaged(path, "it holds other vectors")
            start += len(block)

    def _propose(
        self, queries: Raw, count: int, allowed: np.ndarray | None
    ) -> Iterator[np.ndarray]:
        for vector in queries:
            rows = self._forest.get_nns_by_vector(vector, count, self.settings.search_k)
            items = np.asarray(rows, dtype="int64")
            yield items if allowed is None else items[allowed[items]]


def _forest(width: int) -> Any:
    try:
        import annoy
    except ImportError as error:
        raise ConnormError(Errors.CN404.format()) from error
    return annoy.AnnoyIndex(width, "angular")
