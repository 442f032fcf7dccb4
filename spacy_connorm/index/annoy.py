"""Approximate search with Annoy: the forest proposes, exact float32 cosine decides."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from ..errors import ConnormError, Errors
from .exact import ExactIndex, ExactSearcher, Neighbours, check_positive
from .hybrid import HybridSearcher
from .postings import Postings
from .vectors import HybridVectors, Raw, SparseVectors, Vectors

_BLOCK = 4096


@dataclass(frozen=True)
class AnnoyIndex:
    """Settings of the Annoy backend, `spacy-connorm.AnnoyIndex.v1`.

    n_trees (int): More trees: better recall, a larger file.
    search_k (int): Nodes inspected for a query: better recall, more time.
    oversample (int): Proposals rescored for each item asked for.
    seed (int): Of the random splits; the same seed gives the same forest.
    dtype (str): How the vectors that rescore are stored, see `ExactIndex`.
    """

    n_trees: int = 50
    search_k: int = 20_000
    oversample: int = 2
    seed: int = 13
    dtype: Literal["float32", "float16", "int8"] = "float32"

    def __post_init__(self) -> None:
        # Annoy takes a negative number of trees for a huge one, and plants until memory is full.
        check_positive(self, "n_trees", "search_k", "oversample")

    def build(self, vectors: Vectors, path: Path) -> None:
        """Plant the forest. Sparse vectors get none: they are searched exactly; those beside dense
        ones, by their features.

        vectors (Vectors): The items, one a row.
        path (Path): The file that Annoy writes and later maps. Features stand in others beside it.
        """
        if isinstance(vectors, HybridVectors):
            self.build(vectors.dense, path)
            Postings.from_vectors(vectors.lexical).write(path.parent, _postings_of(path))
            return
        if isinstance(vectors, SparseVectors):
            return
        forest = _forest(vectors.width)
        forest.set_seed(self.seed)
        for start in range(0, len(vectors), _BLOCK):
            items = np.arange(start, min(start + _BLOCK, len(vectors)))
            for item, vector in zip(items.tolist(), vectors.queries(items), strict=True):
                forest.add_item(item, vector)
        # One job: with several, the forest depends on their number. In memory and then saved:
        # annoy's way of building on disk dies of SIGBUS when the disk is full.
        forest.build(self.n_trees, n_jobs=1)
        forest.save(str(path))
        forest.unload()

    def open(
        self, vectors: Vectors, path: Path
    ) -> "AnnoySearcher | ExactSearcher | HybridSearcher":
        """Map the forest.

        vectors (Vectors): The items it was planted with.
        path (Path): Its file.
        RETURNS (Union[AnnoySearcher, ExactSearcher, HybridSearcher]): A searcher over the vectors.
        """
        if isinstance(vectors, HybridVectors):
            postings = Postings.open(path.parent, _postings_of(path), rows=len(vectors))
            return HybridSearcher(vectors, self.open(vectors.dense, path), postings)
        if isinstance(vectors, SparseVectors):
            return ExactIndex().open(vectors, path)
        return AnnoySearcher(self, vectors, path)


class AnnoySearcher:
    """Searches a forest and rescores what it proposes."""

    def __init__(self, settings: AnnoyIndex, vectors: Vectors, path: Path) -> None:
        """Map a forest.

        settings (AnnoyIndex): How to search it.
        vectors (Vectors): The items it was planted with.
        path (Path): Its file.
        """
        self.settings = settings
        self.vectors = vectors
        self._exact = ExactSearcher(vectors)
        self._forest = _forest(vectors.width)
        try:
            self._forest.load(str(path))
        except OSError as error:
            raise ConnormError(Errors.CN403.format(path=path, reason=error)) from error

    def __len__(self) -> int:
        return len(self.vectors)

    def nearest(self, queries: Raw, n: int, allowed: np.ndarray | None = None) -> Neighbours:
        """Find the n nearest items of each query; exactly, where the forest cannot propose
        enough allowed ones at less cost than looking at all.

        queries (Floats2d): float32 (b, width) unit vectors.
        n (int): How many.
        allowed (Optional[np.ndarray]): bool (len(self),): the items that may be found.
        RETURNS (Neighbours): Exact float32 cosines of approximate neighbours.
        """
        possible = len(self) if allowed is None else int(np.count_nonzero(allowed))
        wanted = min(n, possible)
        # So many that among them are enough that may be found.
        proposals = wanted * self.settings.oversample * len(self) // max(possible, 1)
        if proposals > self.settings.search_k or proposals * 4 > len(self):
            return self._exact.nearest(queries, n, allowed)
        found = self._propose(queries, proposals, n, allowed)
        return self._complete(queries, found, wanted, n, allowed)

    def _propose(
        self, queries: Raw, proposals: int, n: int, allowed: np.ndarray | None
    ) -> Neighbours:
        items = np.full((queries.shape[0], n), -1, dtype="int64")
        scores = np.full((queries.shape[0], n), -np.inf, dtype="float32")
        for query, vector in enumerate(queries):
            rows = np.asarray(
                self._forest.get_nns_by_vector(vector, proposals, self.settings.search_k),
                dtype="int64",
            )
            if allowed is not None:
                rows = rows[allowed[rows]]
            cosines = self.vectors.rescore(queries, query, rows)
            order = np.lexsort((rows, -cosines))[:n]
            items[query, : len(order)] = rows[order]
            scores[query, : len(order)] = cosines[order]
        return Neighbours(items, scores)

    def _complete(
        self, queries: Raw, found: Neighbours, wanted: int, n: int, allowed: np.ndarray | None
    ) -> Neighbours:
        short = np.flatnonzero(np.count_nonzero(found.items >= 0, axis=1) < wanted)
        if len(short):
            exact = self._exact.nearest(queries[short], n, allowed)
            found.items[short, : exact.items.shape[1]] = exact.items
            found.scores[short, : exact.scores.shape[1]] = exact.scores
        return found


def _postings_of(path: Path) -> str:
    return f"{path.stem}.postings"


def _forest(width: int) -> Any:
    try:
        import annoy
    except ImportError as error:
        raise ConnormError(Errors.CN404.format()) from error
    return annoy.AnnoyIndex(width, "angular")
