"""Approximate search with an inverted file (IVF): RaBitQ codes propose, exact scores decide."""

from dataclasses import dataclass
from functools import partial
from math import ceil, isqrt
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal

from ...encoders.vectors import Raw
from ...errors import refuse
from ..metrics import Metric, require_metric
from ..vectors.base import Vectors
from ..vectors.scaled import lifted, lifted_queries
from .exact import ExactSearcher
from .hybrid import build_dense, open_dense
from .protocol import AllowedItems, Earlier, Neighbours, require_positive_settings, rescore
from .rabitq import RabitqLists

if TYPE_CHECKING:
    from .protocol import Searcher

# Lists per square root of the number of vectors, and at most how many: the names of a concept are
# close together, so many small lists separate concepts well.
_LISTS_PER_ROOT = 16
_MOST_LISTS = 16_384
# Earlier lists are kept if their number differs by at most this share from what it would be now, so
# the number of vectors by at most a fifth.
_OTHER_COUNT = 0.1
# faiss can't learn codes from fewer vectors.
_LEAST_VECTORS = 16
# One in so many lists is probed.
_SHARE_PROBED = 32
# Enough lists are probed to hold this many items per rescored one ...
_READ_FOR_A_PROPOSAL = 4
# ... unless that is more than one in so many lists: then an exact search takes no longer.
_MOST_PROBED = 2


@dataclass(frozen=True)
class IvfIndex:
    """Settings of the IVF backend (faiss), `spacy-connorm.IvfIndex.v1`.

    lists (Optional[int]): The number of inverted lists; if None, 16 times the square root of the
        number of vectors, and at most 16384.
    probes (Optional[int]): Lists read per query. More of them: better recall, slower searches. A
        32nd of the lists if None.
    oversample (int): Proposals rescored per requested item.
    exact_below (int): Fewer vectors than this are searched exactly, which is as fast.
    seed (int): The seed of k-means; the same seed gives the same lists.
    dtype (str): How the vectors for rescoring are stored, see `ExactIndex`.
    metric (str): "cosine" or "dot", see `ExactIndex`.
    """

    extra: ClassVar[str] = "faiss"

    lists: int | None = None
    probes: int | None = None
    oversample: int = 2
    exact_below: int = 20_000
    seed: int = 13
    dtype: Literal["float32", "float16", "int8"] = "float32"
    metric: Metric = "cosine"

    def __post_init__(self) -> None:
        """RAISES (ConnormError): CN006 for an invalid setting."""
        require_metric(self.metric)
        require_positive_settings(self, "oversample")
        for setting in ("lists", "probes"):
            if getattr(self, setting) is not None:
                require_positive_settings(self, setting)
        if self.exact_below < _LEAST_VECTORS:
            refuse("exact_below", self.exact_below, f"at least {_LEAST_VECTORS}")

    def build(self, vectors: Vectors, path: Path) -> None:
        """Build the lists of dense vectors; see `build_dense` for others.

        vectors (Vectors): The items, one per row.
        path (Path): The file that faiss writes and maps later.
        """
        build_dense(vectors, path, self._build)

    def update(self, vectors: Vectors, path: Path, earlier: Earlier) -> str | None:
        """Build the lists of dense vectors, with the centroids of an earlier build if it has about
        as many lists as there would be now: the number of vectors has changed by less than a
        fifth. Otherwise they are learned anew.

        vectors (Vectors): The items, one per row.
        path (Path): The file that faiss writes and maps later.
        earlier (Earlier): The earlier build.
        RETURNS (Optional[str]): Whether the lists were kept, and if not, why; None if there are no
            lists.
        """
        return build_dense(vectors, path, partial(self._update, earlier=earlier))

    def open(self, vectors: Vectors, path: Path) -> "Searcher":
        """Map the lists into memory.

        vectors (Vectors): The items in them.
        path (Path): Their file.
        RETURNS (Searcher): A searcher over the vectors.
        """
        return open_dense(vectors, path, self._open)

    def _build(self, vectors: Vectors, path: Path) -> None:
        if len(vectors) >= self.exact_below:
            count = self._list_count(len(vectors))
            RabitqLists.build(lifted(vectors), lists=count, seed=self.seed).write(path)

    def _update(self, vectors: Vectors, path: Path, earlier: Earlier) -> str | None:
        if len(vectors) < self.exact_below:
            return None
        if not earlier.path.exists():
            self._build(vectors, path)
            return "learned anew: there were none"
        wanted = self._list_count(len(vectors))
        known = RabitqLists.open(earlier.path, rows=earlier.size, width=vectors.width).lists
        if abs(known - wanted) > (0 if self.lists else _OTHER_COUNT * wanted):
            self._build(vectors, path)
            return f"learned anew: there were {known} lists where {wanted} are wanted"
        RabitqLists.update(earlier, vectors).write(path)
        return "kept"

    def _list_count(self, vectors: int) -> int:
        lists = self.lists or min(_LISTS_PER_ROOT * isqrt(vectors), _MOST_LISTS)
        return min(lists, vectors)

    def _open(self, vectors: Vectors, path: Path) -> "Searcher":
        if len(vectors) < self.exact_below:
            return ExactSearcher(vectors)
        held = lifted(vectors)
        lists = RabitqLists.open(path, rows=len(held), width=held.width)
        return IvfSearcher(self, vectors, lists)


class IvfSearcher:
    """Searches inverted lists and rescores their proposals."""

    def __init__(self, settings: IvfIndex, vectors: Vectors, inverted: RabitqLists) -> None:
        """Combine vectors and lists.

        settings (IvfIndex): How to search them.
        vectors (DenseVectors): The items.
        inverted (RabitqLists): The lists of these items.
        """
        self.settings = settings
        self.vectors = vectors
        self._inverted = inverted
        self._held = lifted(vectors)
        self._exact = ExactSearcher(vectors)

    def __len__(self) -> int:
        return len(self.vectors)

    def nearest(self, queries: Raw, n: int, allowed: AllowedItems | None = None) -> Neighbours:
        """Find the n nearest items of each query. The search is exact if so many lists would have
        to be read that it takes no longer.

        queries (Floats2d): float32 (b, width), at unit length unless the vectors are scaled.
        n (int): How many.
        allowed (Optional[AllowedItems]): The items that may be found; all if None.
        RETURNS (Neighbours): Exact float32 scores of approximate neighbours.
        """
        possible = len(self) if allowed is None else allowed.count
        n = min(n, len(self))
        wanted = min(n, possible)
        proposals = min(wanted * self.settings.oversample, possible)
        probes = self._probes(proposals, possible)
        if probes * _MOST_PROBED > self._inverted.lists:
            return self._exact.nearest(queries, n, allowed)
        asked = lifted_queries(self._held, queries)
        items = self._inverted.propose(asked, proposals, probes=probes, allowed=allowed)
        found = rescore(self.vectors, queries, (rows[rows >= 0] for rows in items), n)
        return self._exact.complete(found, queries, wanted, allowed)

    def verify(self, path: Path) -> None:
        self._inverted.verify(self._held, path)

    def _probes(self, proposals: int, possible: int) -> int:
        """RETURNS (int): Enough lists to hold as many allowed items as `probes` lists hold without
        a filter, and several times the proposals.
        """
        in_a_list = possible / self._inverted.lists
        probes = self.settings.probes or ceil(self._inverted.lists / _SHARE_PROBED)
        unfiltered = probes * len(self) / self._inverted.lists
        read = max(unfiltered, _READ_FOR_A_PROPOSAL * proposals)
        return ceil(read / in_a_list) if possible else len(self)
