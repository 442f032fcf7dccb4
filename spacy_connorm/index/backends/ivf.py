"""Approximate search with inverted lists: their codes propose, exact float32 cosine decides."""

from dataclasses import dataclass
from math import ceil, isqrt
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np

from ...encoders.vectors import Raw
from ...errors import refuse
from ..vectors.base import Vectors
from .exact import ExactSearcher
from .protocol import Neighbours, require_positive_settings
from .rabitq import RabitqLists
from .rescoring import build_dense, fill_exactly, open_dense, rescore

if TYPE_CHECKING:
    from .protocol import Searcher

# Lists for the square root of the number of vectors, and at most so many: names of one concept lie
# close together, so that many small lists separate them well.
_LISTS_PER_ROOT = 16
_MOST_LISTS = 16_384
# Of fewer, faiss learns no codes.
_LEAST_VECTORS = 16
# Of so many lists, one is read.
_SHARE_PROBED = 32
# Lists are probed until they hold so many items for each that is rescored ...
_READ_FOR_A_PROPOSAL = 4
# ... unless half of all lists would not be enough: then looking at all takes no longer.
_MOST_PROBED = 2


@dataclass(frozen=True)
class IvfIndex:
    """Settings of the inverted lists of faiss, `spacy-connorm.IvfIndex.v1`.

    lists (Optional[int]): Lists that the vectors are put in; 16 times the square root of their
        number, and at most 16384, if None.
    probes (Optional[int]): Lists read for a query: better recall, more time; a 32nd of them if
        None.
    oversample (int): Proposals rescored for each item asked for.
    exact_below (int): Fewer vectors get no lists and are searched exactly, which is as fast.
    seed (int): Of k-means; the same seed gives the same lists.
    dtype (str): How the vectors that rescore are stored, see `ExactIndex`.
    """

    lists: int | None = None
    probes: int | None = None
    oversample: int = 2
    exact_below: int = 20_000
    seed: int = 13
    dtype: Literal["float32", "float16", "int8"] = "float32"

    def __post_init__(self) -> None:
        require_positive_settings(self, "oversample")
        for setting in ("lists", "probes"):
            if getattr(self, setting) is not None:
                require_positive_settings(self, setting)
        if self.exact_below < _LEAST_VECTORS:
            refuse("exact_below", self.exact_below, f"at least {_LEAST_VECTORS}")

    def build(self, vectors: Vectors, path: Path) -> None:
        """Put the vectors in lists. Sparse vectors get none: they are searched exactly; those
        beside dense ones, by their features.

        vectors (Vectors): The items, one a row.
        path (Path): The file that faiss writes and later maps. Features stand in others beside it.
        """
        build_dense(vectors, path, self._build)

    def open(self, vectors: Vectors, path: Path) -> "Searcher":
        """Map the lists.

        vectors (Vectors): The items that they hold.
        path (Path): Their file.
        RETURNS (Searcher): A searcher over the vectors.
        """
        return open_dense(vectors, path, self._open)

    def _build(self, vectors: Vectors, path: Path) -> None:
        if len(vectors) >= self.exact_below:
            lists = self.lists or min(_LISTS_PER_ROOT * isqrt(len(vectors)), _MOST_LISTS)
            lists = min(lists, len(vectors))
            RabitqLists.build(vectors, lists=lists, seed=self.seed).write(path)

    def _open(self, vectors: Vectors, path: Path) -> "Searcher":
        if len(vectors) < self.exact_below:
            return ExactSearcher(vectors)
        return IvfSearcher(self, vectors, RabitqLists.open(path, vectors))


class IvfSearcher:
    """Searches inverted lists and rescores what they propose."""

    def __init__(self, settings: IvfIndex, vectors: Vectors, inverted: RabitqLists) -> None:
        """Put vectors and lists together.

        settings (IvfIndex): How to search them.
        vectors (DenseVectors): The items.
        inverted (RabitqLists): What holds them.
        """
        self.settings = settings
        self.vectors = vectors
        self._inverted = inverted
        self._exact = ExactSearcher(vectors)

    def __len__(self) -> int:
        return len(self.vectors)

    def nearest(self, queries: Raw, n: int, allowed: np.ndarray | None = None) -> Neighbours:
        """Find the n nearest items of each query; exactly, where so many lists would have to be
        read that looking at all takes no longer.

        queries (Floats2d): float32 (b, width) unit vectors.
        n (int): How many.
        allowed (Optional[np.ndarray]): bool (len(self),): the items that may be found.
        RETURNS (Neighbours): Exact float32 cosines of approximate neighbours.
        """
        possible = len(self) if allowed is None else int(np.count_nonzero(allowed))
        wanted = min(n, possible)
        proposals = min(wanted * self.settings.oversample, possible)
        probes = self._probes(proposals, possible)
        if probes * _MOST_PROBED > self._inverted.lists:
            return self._exact.nearest(queries, n, allowed)
        items = self._inverted.propose(queries, proposals, probes=probes, allowed=allowed)
        found = rescore(self.vectors, queries, (rows[rows >= 0] for rows in items), n)
        return fill_exactly(found, self._exact, queries, wanted=wanted, allowed=allowed)

    def _probes(self, proposals: int, possible: int) -> int:
        """As many lists as hold what `probes` of them would, if all items were allowed, and
        several times the proposals.
        """
        in_a_list = possible / self._inverted.lists
        probes = self.settings.probes or ceil(self._inverted.lists / _SHARE_PROBED)
        unfiltered = probes * len(self) / self._inverted.lists
        read = max(unfiltered, _READ_FOR_A_PROPOSAL * proposals)
        return ceil(read / in_a_list) if possible else len(self)
