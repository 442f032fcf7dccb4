"""What a forest must inspect for a recall, and what searches cost: measured when it is built."""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter

import numpy as np

from ...errors import ConnormError, Errors
from ..vectors.base import Vectors
from .exact import ExactSearcher

# What a pipeline asks for first: eight texts for each of five concepts.
_WANTED = 40
_RECALL_AT = 10
# Names that stand for mentions: enough to tell a recall to half a percent.
_SAMPLED = 256
_FEWEST_NODES = 1_000
_BATCH = 32
_REPEATS = 3
# An exact search misses nothing, so the forest must be clearly cheaper. Two measurements of one
# search differ by a tenth.
_WORTH = 1.25

# Unit vectors, float32 (b, width), how many items each wants, and how many nodes to inspect, to the
# items proposed for each.
Propose = Callable[[np.ndarray, int, int], list[np.ndarray]]


@dataclass(frozen=True)
class AnnoyCosts:
    """Measured when a forest is built.

    search_k (int): Nodes to inspect per query.
    exact_batch (float): Seconds an exact search takes for any batch: all vectors are read.
    exact_query (float): Seconds it takes for each query besides.
    forest_query (float): Seconds that the forest takes for each query.
    """

    search_k: int
    exact_batch: float
    exact_query: float
    forest_query: float

    def exact_pays(self, queries: int) -> bool:
        """queries (int): The size of a batch.
        RETURNS (bool): Whether an exact search costs at most a quarter more than asking the forest.
        """
        exact = self.exact_batch + queries * self.exact_query
        return exact <= _WORTH * queries * self.forest_query

    def write(self, path: Path) -> None:
        """path (Path): The file to write."""
        path.write_text(json.dumps(asdict(self)), encoding="utf8")

    @classmethod
    def read(cls, path: Path) -> "AnnoyCosts | None":
        """Read what `write` wrote.

        path (Path): The file.
        RETURNS (Optional[AnnoyCosts]): The costs; None if there is no such file: forests of older
            versions have none.
        RAISES (ConnormError): CN403 if it is damaged.
        """
        if not path.exists():
            return None
        try:
            costs = cls(**json.loads(path.read_text(encoding="utf8")))
            if costs.search_k < 1 or not all(0 <= each < np.inf for each in asdict(costs).values()):
                raise ValueError("a cost is no number above zero")
        except (ValueError, TypeError) as error:
            raise ConnormError(Errors.CN403.format(path=path, reason=error)) from error
        return costs


def measure_costs(
    vectors: Vectors,
    propose: Propose,
    *,
    search_k: int | None,
    recall: float,
    oversample: int,
    seed: int,
) -> AnnoyCosts:
    """Choose how many nodes to inspect, unless that is given, and measure what searches cost.

    vectors (Vectors): The items.
    propose (Callable): Asks the forest.
    search_k (Optional[int]): Nodes to inspect; if None, the fewest that reach the recall.
    recall (float): The share of an item's ten nearest that the forest must propose.
    oversample (int): Proposals for each item wanted.
    seed (int): Of the sample.
    RETURNS (AnnoyCosts): The costs.
    RAISES (ConnormError): Those of `propose`.
    """
    drawn = np.random.default_rng(seed).choice(
        len(vectors), min(_SAMPLED, len(vectors)), replace=False
    )
    queries, exact = vectors.queries(np.sort(drawn)), ExactSearcher(vectors)
    proposals = _WANTED * oversample
    if search_k is None:
        wanted = exact.nearest(queries, _RECALL_AT).items
        search_k = _FEWEST_NODES
        while search_k < len(vectors):
            if _recall(wanted, propose(queries, proposals, search_k)) >= recall:
                break
            search_k *= 2
    few, many = queries[:1], queries[:_BATCH]
    alone = _seconds(lambda: exact.nearest(few, _WANTED))
    batch = _seconds(lambda: exact.nearest(many, _WANTED))
    each = max(batch - alone, 0.0) / max(len(many) - 1, 1)
    asked = _seconds(lambda: _rescored(vectors, many, propose(many, proposals, search_k)))
    return AnnoyCosts(search_k, max(alone - each, 0.0), each, asked / len(many))


def _recall(wanted: np.ndarray, proposed: list[np.ndarray]) -> float:
    found = [np.isin(items, rows).mean() for items, rows in zip(wanted, proposed, strict=True)]
    return float(np.mean(found))


def _rescored(vectors: Vectors, queries: np.ndarray, proposed: list[np.ndarray]) -> None:
    for query, rows in enumerate(proposed):
        vectors.rescore(queries, query, rows)


def _seconds(work: Callable[[], object]) -> float:
    """RETURNS (float): The least time of some runs: what other programs do only adds to it."""
    times = []
    for _ in range(_REPEATS):
        start = perf_counter()
        work()
        times.append(perf_counter() - start)
    return min(times)
