"""The six searches: what each compares a mention with, and what its items denote."""

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np

from .concept_index import ConceptIndex, Searcher
from .exact import Neighbours
from .layer import SynonymLayer
from .members import TARGETS, D
from .vectors import Raw

SEARCHES = ("O-T", "O-C", "D-T", "D-C", "OD-T", "OD-C")
# Scores closer than this are ties: it is the noise of a float32 cosine.
_DIGITS = 6
_NO_MEMBER = -1


class Hit(NamedTuple):
    """A concept found by one search. Hits sort best first.

    distance (float): Minus the cosine, rounded to six digits.
    rarity (int): Minus the number of times that D gives the text this concept.
    other_name (bool): Whether the text is not the concept's preferred name.
    concept (int): The concept's number, which follows the order of ids.
    member (int): Which member of the index holds the text; -1 if none does.
    text (str): The text, where no member holds it; empty for a concept's mean.
    """

    distance: float
    rarity: int
    other_name: bool
    concept: int
    member: int = _NO_MEMBER
    text: str = ""

    @property
    def score(self) -> float:
        """RETURNS (float): The cosine."""
        return -self.distance


class Query(NamedTuple):
    """What every search is asked.

    vectors (Raw): (b, width) unit mention vectors.
    top_k (int): Concepts wanted for each mention.
    allowed (Optional[np.ndarray]): bool (concepts,): those that may be found.
    """

    vectors: Raw
    top_k: int
    allowed: np.ndarray | None = None

    def only(self, places: list[int]) -> "Query":
        """RETURNS (Query): The same for some of the mentions."""
        return self._replace(vectors=self.vectors[places])


class _Source(NamedTuple):
    """One part of a search: the index, or the layer beside it.

    searcher (Searcher): Finds items.
    hits (Callable): Neighbours to what they denote, for each mention.
    allowed (Optional[np.ndarray]): bool (items,): those that may be found.
    """

    searcher: Searcher
    hits: Callable[[Neighbours], list[list[Hit]]]
    allowed: np.ndarray | None


def run_search(
    search: str, index: ConceptIndex, layer: SynonymLayer, query: Query
) -> list[list[Hit]]:
    """Look mentions up in one target and representation.

    search (str): One of `SEARCHES`.
    index (ConceptIndex): What is searched.
    layer (SynonymLayer): What was added to it and removed from it since it was built.
    query (Query): b mentions.
    RETURNS (List[List[Hit]]): For each mention at most top_k concepts, best first, each with
        its best text.
    RAISES (ConnormError): CN408 if the index was built without this search.
    """
    over = _over_texts if search.endswith("T") else _over_concepts
    found = [_look_up(source, query) for source in over(search, index, layer, query.allowed)]
    return [
        _best((hit for hits in parts for hit in hits), query.top_k)
        for parts in zip(*found, strict=True)
    ]


def _look_up(source: _Source, query: Query) -> list[list[Hit]]:
    """Ask for more items until no concept among the best can have been missed."""
    found: dict[int, list[Hit]] = {}
    waiting, n = list(range(query.vectors.shape[0])), 4 * query.top_k
    while waiting:
        neighbours = source.searcher.nearest(query.vectors[waiting], n, source.allowed)
        neighbours = neighbours._replace(
            scores=np.round(neighbours.scores.astype("float64"), _DIGITS)
        )
        hits = [_best(each, query.top_k) for each in source.hits(neighbours)]
        found.update(zip(waiting, hits, strict=True))
        complete = _complete(neighbours, hits, n, query.top_k)
        waiting = [place for place, done in zip(waiting, complete, strict=True) if not done]
        n *= 4
    return [found[place] for place in range(len(found))]


def _complete(neighbours: Neighbours, hits: list[list[Hit]], n: int, top_k: int) -> list[bool]:
    if neighbours.items.shape[1] < n:
        return [True] * len(hits)
    exhausted = neighbours.items[:, -1] < 0
    last = neighbours.scores[:, -1]
    return [
        bool(done) or (len(best) == top_k and best[-1].score > score)
        for done, score, best in zip(exhausted, last, hits, strict=True)
    ]


def _best(hits: Iterable[Hit], top_k: int) -> list[Hit]:
    by_concept: dict[int, Hit] = {}
    for hit in sorted(hits):
        by_concept.setdefault(hit.concept, hit)
        if len(by_concept) == top_k:
            break
    return list(by_concept.values())


def _over_texts(
    search: str, index: ConceptIndex, layer: SynonymLayer, allowed: np.ndarray | None
) -> list[_Source]:
    target = TARGETS[search.split("-")[0]]
    first = index.first_row(search)
    searcher = index.searcher(search)

    def hits(neighbours: Neighbours) -> list[list[Hit]]:
        rows = np.where(neighbours.items >= 0, neighbours.items + first, -1)
        return _member_hits(index, layer, target, rows, neighbours.scores, allowed)

    items = None if allowed is None else _allowed_rows(index, target, allowed)
    if items is not None:
        items = items[first : first + len(searcher)]
    sources = [_Source(searcher, hits, items)]
    added = layer.texts()
    if target & D and added is not None:
        sources.append(_Source(added, lambda found: _added_hits(layer, found, allowed), None))
    return sources


def _allowed_rows(index: ConceptIndex, target: int, allowed: np.ndarray) -> np.ndarray:
    members = index.members
    rows = np.zeros(len(members.start) - 1, dtype="bool")
    rows[index.row_numbers[(members.target & target > 0) & allowed[members.concept]]] = True
    return rows


def _member_hits(
    index: ConceptIndex,
    layer: SynonymLayer,
    target: int,
    rows: np.ndarray,
    scores: np.ndarray,
    allowed: np.ndarray | None,
) -> list[list[Hit]]:
    """Read the members of all neighbours' rows at once: one gather for the whole batch."""
    members, removed = index.members, layer.removed
    mention, place = np.nonzero(rows >= 0)
    row = rows[mention, place]
    start, size = members.start[row], members.start[row + 1] - members.start[row]
    ends = np.cumsum(size)
    which = np.repeat(start - ends + size, size) + np.arange(ends[-1] if len(ends) else 0)
    keep = members.target[which] & target > 0
    if allowed is not None:
        keep &= allowed[members.concept[which]]
    which, row = which[keep], np.repeat(row, size)[keep]
    columns = zip(
        np.repeat(mention, size)[keep].tolist(),
        row.tolist(),
        (-np.repeat(scores[mention, place], size)[keep]).tolist(),
        (-members.count[which] if target & D else np.zeros_like(which)).tolist(),
        (~members.preferred[which]).tolist(),
        members.concept[which].tolist(),
        which.tolist(),
        strict=True,
    )
    hits: list[list[Hit]] = [[] for _ in range(len(rows))]
    for each, row_number, *fields in columns:
        if not removed or (row_number, fields[3]) not in removed:
            hits[each].append(Hit(*fields))
    return hits


def _added_hits(
    layer: SynonymLayer, found: Neighbours, allowed: np.ndarray | None
) -> list[list[Hit]]:
    denoted = layer.added
    return [
        [
            Hit(-score, -count, True, concept, text=text)
            for item, score in zip(items, scores, strict=True)
            if item >= 0
            for concept, (text, count) in denoted[item].items()
            if allowed is None or allowed[concept]
        ]
        for items, scores in zip(found.items.tolist(), found.scores.tolist(), strict=True)
    ]


def _over_concepts(
    search: str, index: ConceptIndex, layer: SynonymLayer, allowed: np.ndarray | None
) -> list[_Source]:
    searcher, concepts = index.searcher(search), index.concepts_of(search)
    concerned, means = layer.means(search)
    if allowed is None and means is None:
        return [_Source(searcher, lambda found: _mean_hits(concepts, found), None)]
    may = np.ones(index.concept_count, dtype="bool") if allowed is None else allowed
    stale = np.isin(concepts, concerned)
    sources = [_Source(searcher, lambda found: _mean_hits(concepts, found), may[concepts] & ~stale)]
    if means is not None:
        left = may[concerned] & (means.vectors.norms > 0)
        sources.append(_Source(means, lambda found: _mean_hits(concerned, found), left))
    return sources


def _mean_hits(concepts: np.ndarray, found: Neighbours) -> list[list[Hit]]:
    return [
        [
            Hit(-score, 0, False, int(concepts[item]))
            for item, score in zip(items, scores, strict=True)
            if item >= 0
        ]
        for items, scores in zip(found.items.tolist(), found.scores.tolist(), strict=True)
    ]
