"""Approximate search with Annoy: the forest proposes, exact float32 scores decide. Where asking
the forest does not pay, or annoy is not installed, the search is exact.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from ...encoders.vectors import Raw
from ...errors import ConnormError, Errors, Warnings, refuse, warn
from ...files.checksums import damaged
from ..metrics import Metric, require_metric
from ..vectors.base import Vectors
from ..vectors.scaled import lifted, lifted_queries
from .allowed_items import AllowedItems
from .annoy_costs import AnnoyCosts, measure_costs
from .annoy_forest import has_each_item_in_each_tree, require_sound_forest, stored_vectors
from .approximate import blocks, build_dense, fill_exactly, open_dense
from .exact import ExactSearcher
from .proposals import rescore
from .protocol import Neighbours, require_positive_settings

if TYPE_CHECKING:
    from .protocol import Searcher

# Other processors may round this differently.
_ROUNDED = 1e-4
# For forests that were built before costs were measured.
_SEARCH_K = 20_000
# The beginning of the file if no forest was built.
_NO_FOREST = b"no forest: "
# With fewer names an exact search is cheaper than the forest (docs/benchmarks/size.md).
_MANY = 300_000


@dataclass(frozen=True)
class AnnoyIndex:
    """Settings of the Annoy backend, `spacy-connorm.AnnoyIndex.v1`.

    n_trees (int): The number of trees. More of them: better recall, a larger file.
    recall (float): The share of nearest neighbours that the forest must find. How many nodes it
        inspects for that is measured when it is built.
    search_k (Optional[int]): Nodes inspected per query, instead of `recall`.
    oversample (int): Proposals rescored per requested item.
    exact_below (int): Build no forest for fewer vectors: search them exactly.
    seed (int): The seed of the random splits; the same seed gives the same forest.
    dtype (str): How the vectors for rescoring are stored, see `ExactIndex`.
    metric (str): "cosine" or "dot", see `ExactIndex`.
    """

    # Without annoy the search is exact, so packages of pipelines need no compiler.
    extra: ClassVar[str] = ""

    n_trees: int = 50
    recall: float = 0.99
    search_k: int | None = None
    oversample: int = 2
    exact_below: int = 0
    seed: int = 13
    dtype: Literal["float32", "float16", "int8"] = "float32"
    metric: Metric = "cosine"

    def __post_init__(self) -> None:
        """RAISES (ConnormError): CN006 for an invalid setting."""
        require_metric(self.metric)
        # Annoy takes a negative number of trees for a huge one and builds until memory is full.
        require_positive_settings(self, "n_trees", "oversample")
        if self.search_k is not None:
            require_positive_settings(self, "search_k")
        if self.exact_below < 0:
            refuse("exact_below", self.exact_below, "a number of vectors, at least 0")
        if not 0 < self.recall <= 1:
            refuse("recall", self.recall, "a share above 0, at most 1")

    def build(self, vectors: Vectors, path: Path) -> None:
        """Build the forest of dense vectors; see `build_dense` for others. Costs are measured and
        kept beside it.

        vectors (Vectors): The items, one per row.
        path (Path): The file that Annoy writes and maps later, or that says why there is no forest.
        """
        build_dense(vectors, path, self._build)

    def open(self, vectors: Vectors, path: Path) -> "Searcher":
        """Map the forest into memory.

        vectors (Vectors): The items it was built from.
        path (Path): Its file.
        RETURNS (Searcher): A searcher over the vectors.
        """
        return open_dense(vectors, path, self._open)

    def _open(self, vectors: Vectors, path: Path) -> "Searcher":
        forest = _new_forest(lifted(vectors).width) if _is_planted(path) else None
        if forest is not None:
            return AnnoySearcher(self, vectors, path, forest)
        self._warn_of_many(len(vectors))
        return ExactSearcher(vectors)

    def _build(self, vectors: Vectors, path: Path) -> None:
        if len(vectors) < self.exact_below:
            path.write_bytes(_NO_FOREST + b"an exact search of so few vectors is cheaper\n")
            return
        planted = lifted(vectors)
        forest = _new_forest(planted.width)
        if forest is None:
            self._warn_of_many(len(vectors))
            path.write_bytes(_NO_FOREST + b"annoy was not installed\n")
            return
        forest.set_seed(self.seed)
        for item, vector in enumerate(row for block in blocks(planted) for row in block):
            forest.add_item(item, vector)
        # One job, since the forest depends on the number of jobs. Built in memory and then saved,
        # since Annoy's building on disk dies of SIGBUS when the disk is full.
        forest.build(self.n_trees, n_jobs=1)
        forest.save(str(path))
        costs = measure_costs(
            vectors,
            lambda queries, *rest: _propose(forest, lifted_queries(planted, queries), *rest),
            search_k=self.search_k,
            recall=self.recall,
            oversample=self.oversample,
            seed=self.seed,
        )
        costs.write(_costs_of(path))
        forest.unload()

    def _warn_of_many(self, vectors: int) -> None:
        if vectors > max(_MANY, self.exact_below):
            warn(Warnings.CNW403.format(count=vectors))


class AnnoySearcher:
    """Searches a forest and rescores its proposals."""

    def __init__(self, settings: AnnoyIndex, vectors: Vectors, path: Path, forest: Any) -> None:
        """Map a forest into memory.

        settings (AnnoyIndex): How to search it.
        vectors (Vectors): The items it was built from.
        path (Path): Its file.
        forest (annoy.AnnoyIndex): An empty one, which loads the file.
        RAISES (ConnormError): CN403 if it is no forest of these vectors.
        """
        self.settings = settings
        self.vectors = vectors
        self.costs = AnnoyCosts.read(_costs_of(path))
        measured = self.costs.search_k if self.costs else _SEARCH_K
        self.search_k = settings.search_k or measured
        self._exact = ExactSearcher(vectors)
        self._forest = forest
        self._planted = lifted(vectors)
        try:
            require_sound_forest(path, items=len(vectors), width=self._planted.width)
            self._forest.load(str(path))
        except OSError as error:
            raise ConnormError(Errors.CN403.format(path=path, reason=error)) from error

    def __len__(self) -> int:
        return len(self.vectors)

    def nearest(self, queries: Raw, n: int, allowed: AllowedItems | None = None) -> Neighbours:
        """Find the n nearest items of each query. The search is exact if that costs no more than
        asking the forest: the batch is large, `search_k` is at least the number of items, or a
        filter leaves few.

        queries (Floats2d): float32 (b, width), at unit length unless the vectors are scaled.
        n (int): How many.
        allowed (Optional[AllowedItems]): The items that may be found; all if None.
        RETURNS (Neighbours): Exact float32 scores of approximate neighbours.
        """
        possible = len(self) if allowed is None else allowed.count
        n = min(n, len(self))
        wanted = min(n, possible)
        # Enough proposals to expect enough allowed items among them.
        proposals = wanted * self.settings.oversample * len(self) // max(possible, 1)
        if self._exact_pays(queries.shape[0], proposals):
            return self._exact.nearest(queries, n, allowed)
        proposed = self._propose(queries, proposals, allowed)
        found = rescore(self.vectors, queries, proposed, n)
        return fill_exactly(found, self._exact, queries, wanted=wanted, allowed=allowed)

    def verify(self, path: Path) -> None:
        width = self._planted.width
        if not has_each_item_in_each_tree(path, items=len(self), width=width):
            raise damaged(path, "its trees do not hold every vector once")
        stored, start = stored_vectors(path, items=len(self), width=width), 0
        for block in blocks(self._planted):
            if not np.allclose(stored[start : start + len(block)], block, atol=_ROUNDED):
                raise damaged(path, "it holds other vectors")
            start += len(block)

    def _exact_pays(self, queries: int, proposals: int) -> bool:
        inspected = self.search_k
        if inspected >= len(self) or proposals > inspected or proposals * 4 > len(self):
            return True
        return self.costs is not None and self.costs.exact_pays(queries)

    def _propose(
        self, queries: Raw, count: int, allowed: AllowedItems | None
    ) -> Iterator[np.ndarray]:
        asked = lifted_queries(self._planted, queries)
        for items in _propose(self._forest, asked, count, self.search_k):
            yield items if allowed is None else items[allowed.mask[items]]


def _propose(forest: Any, queries: Raw, count: int, search_k: int) -> list[np.ndarray]:
    """RETURNS (List[Ints1d]): int64: the items that a forest proposes for each query."""
    return [
        np.asarray(forest.get_nns_by_vector(vector, count, search_k), dtype="int64")
        for vector in queries
    ]


def _costs_of(path: Path) -> Path:
    return path.with_name(f"{path.name}.costs.json")


def _is_planted(path: Path) -> bool:
    """RETURNS (bool): Whether the file is to be opened as a forest, as a missing one is."""
    try:
        with path.open("rb") as file:
            return file.read(len(_NO_FOREST)) != _NO_FOREST
    except FileNotFoundError:
        return True


def _new_forest(width: int) -> Any:
    """RETURNS (Optional[annoy.AnnoyIndex]): An empty forest; None if annoy is not installed."""
    try:
        import annoy
    except ImportError:
        return None
    return annoy.AnnoyIndex(width, "angular")
