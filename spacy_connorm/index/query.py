"""The six searches: what each compares a mention with, and what its items denote."""

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np

from ..encoders.vectors import Joined, Raw
from ..errors import ConnormError, Errors
from .backends.protocol import Neighbours, Searcher
from .concept_index import ConceptIndex
from .members import TARGETS, D
from .overlay import SynonymOverlay
from .vectors.base import HybridVectors, Vectors

SEARCHES = ("O-T", "O-C", "D-T", "D-C", "OD-T", "OD-C")
# Scores closer than this are ties: the cosine of a text with itself, in float32, is off by 1e-6.
_DIGITS = 5
SCALE = 10**_DIGITS
# Texts asked for first, for each concept wanted: of half as many two mentions in five needed more.
_FIRST_LOOK = 8
_NO_MEMBER = -1


class Hit(NamedTuple):
    """A concept found by one search. Hits sort best first.

    distance (float): Minus the cosine, rounded to five digits.
    rarity (int): Minus the number of times that D gives the text this concept.
    other_name (bool): Whether the text is not the concept's preferred name.
    concept (int): The concept's number, which follows the order of ids.
    item (int): Its place among the vectors that were searched.
    member (int): Which member of the index holds the text; -1 if none does.
    text (str): The text, where no member holds it; empty for a concept's mean.
    parts (Optional[Tuple[float, float]]): The dense and the lexical cosine, where the score weighs
        two.
    """

    distance: float
    rarity: int
    other_name: bool
    concept: int
    item: int
    member: int = _NO_MEMBER
    text: str = ""
    parts: tuple[float, float] | None = None

    @property
    def score(self) -> float:
        """RETURNS (float): The cosine."""
        return 0.0 - self.distance  # never minus zero


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


def rounded(cosines: np.ndarray) -> np.ndarray:
    """RETURNS (np.ndarray): Cosines without the noise of their computation, float64."""
    return np.round(cosines.astype("float64"), _DIGITS)


class _Source(NamedTuple):
    """One part of a search: the index, or the overlay beside it.

    searcher (Searcher): Finds items.
    hits (Callable): Neighbours to what they denote: for each mention at most top_k concepts, best
        first.
    allowed (Optional[np.ndarray]): bool (items,): those that may be found.
    """

    searcher: Searcher
    hits: Callable[[Neighbours], list[list[Hit]]]
    allowed: np.ndarray | None


def run_search(
    search: str,
    index: ConceptIndex,
    overlay: SynonymOverlay,
    query: Query,
    *,
    threshold: float | None = None,
) -> list[list[Hit]]:
    """Look mentions up in one target and representation.

    search (str): One of `SEARCHES`.
    index (ConceptIndex): What is searched.
    overlay (SynonymOverlay): What was added to it and removed from it since it was built.
    query (Query): b mentions.
    threshold (Optional[float]): Mentions whose best cosine is under it need no concepts.
    RETURNS (List[List[Hit]]): For each mention at most top_k concepts, best first, each with
        its best text.
    RAISES (ConnormError): CN500 for an unknown search, CN408 for one over concepts that the index
        was built without.
    """
    if search not in SEARCHES:
        raise ConnormError(Errors.CN500.format(search=search, known=", ".join(SEARCHES)))
    over = _over_texts if search.endswith("T") else _over_concepts
    sources = over(search, index, overlay, query)
    if len(sources) == 1:
        return _look_up(sources[0], query, -np.inf if threshold is None else threshold)
    # What one source has of a mention that another one answers is wanted, however low it scores.
    found = [_look_up(source, query, -np.inf) for source in sources]
    return [
        _best((hit for hits in parts for hit in hits), query.top_k)
        for parts in zip(*found, strict=True)
    ]


def _look_up(source: _Source, query: Query, threshold: float) -> list[list[Hit]]:
    """Ask for more items until no concept among the best can have been missed."""
    found: list[list[Hit]] = [[] for _ in range(query.vectors.shape[0])]
    waiting, n = np.arange(len(found)), _FIRST_LOOK * query.top_k
    while len(waiting):
        neighbours = source.searcher.nearest(query.vectors[waiting], n, source.allowed)
        neighbours = neighbours._replace(scores=rounded(neighbours.scores))
        if neighbours.scores.shape[1]:
            enough = neighbours.scores[:, 0] >= threshold
            waiting, neighbours = waiting[enough], neighbours.only(enough)
        hits = source.hits(neighbours)
        for place, own in zip(waiting.tolist(), hits, strict=True):
            found[place] = own
        waiting = waiting[~_complete(neighbours, hits, n, query.top_k)]
        n *= 4
    return _with_parts(found, source.searcher.vectors, query.vectors)


def _with_parts(found: list[list[Hit]], vectors: Vectors, queries: Raw) -> list[list[Hit]]:
    if not isinstance(vectors, HybridVectors) or not isinstance(queries, Joined):
        return found
    pairs = [(place, hit.item) for place, hits in enumerate(found) for hit in hits]
    asked, items = np.asarray(pairs, dtype="int64").reshape(-1, 2).T
    both = rounded(np.asarray(vectors.parts(queries, asked, items)))
    parts = zip(*both.tolist(), strict=True)
    return [[hit._replace(parts=next(parts)) for hit in hits] for hits in found]


def _complete(neighbours: Neighbours, hits: list[list[Hit]], n: int, top_k: int) -> np.ndarray:
    if neighbours.items.shape[1] < n:
        return np.ones(len(hits), dtype="bool")
    # The worst of as many concepts as are wanted; where there are fewer, none is worse.
    worst = [own[-1].score if len(own) == top_k else -np.inf for own in hits]
    return (neighbours.items[:, -1] < 0) | (np.asarray(worst) > neighbours.scores[:, -1])


def _best(hits: Iterable[Hit], top_k: int) -> list[Hit]:
    by_concept: dict[int, Hit] = {}
    for hit in sorted(hits):
        by_concept.setdefault(hit.concept, hit)
        if len(by_concept) == top_k:
            break
    return list(by_concept.values())


def _over_texts(
    search: str, index: ConceptIndex, overlay: SynonymOverlay, query: Query
) -> list[_Source]:
    allowed, target = query.allowed, TARGETS[search.split("-")[0]]
    first = index.first_row(search)
    searcher = index.searcher(search)

    def hits(neighbours: Neighbours) -> list[list[Hit]]:
        return _member_hits(index, overlay, search, neighbours, query)

    items = None if allowed is None else _allowed_rows(index, target, allowed)
    if items is not None:
        items = items[first : first + len(searcher)]
    sources = [_Source(searcher, hits, items)]
    added = overlay.texts()
    if target & D and added is not None:
        sources.append(_Source(added, lambda found: _added_hits(overlay, found, query), None))
    return sources


def _allowed_rows(index: ConceptIndex, target: int, allowed: np.ndarray) -> np.ndarray:
    members = index.members
    rows = np.zeros(len(members.start) - 1, dtype="bool")
    rows[index.row_numbers[(members.target & target > 0) & allowed[members.concept]]] = True
    return rows


def _member_hits(
    index: ConceptIndex,
    overlay: SynonymOverlay,
    search: str,
    found: Neighbours,
    query: Query,
) -> list[list[Hit]]:
    """Read the members of all neighbours' rows at once: one gather for the whole batch."""
    members, target = index.members, TARGETS[search.split("-")[0]]
    mention, place = np.nonzero(found.items >= 0)
    item = found.items[mention, place]
    row = item + index.first_row(search)
    size = members.start[row + 1] - members.start[row]
    which = members.of_rows(row)
    keep = members.target[which] & target > 0
    if query.allowed is not None:
        keep &= query.allowed[members.concept[which]]
    if overlay.removed:
        pairs = zip(np.repeat(row, size).tolist(), members.concept[which].tolist(), strict=True)
        keep &= np.fromiter((pair not in overlay.removed for pair in pairs), "bool", len(which))
    distance = -np.repeat(found.scores[mention, place], size)[keep]
    item = np.repeat(item, size)[keep]
    which, mention = which[keep], np.repeat(mention, size)[keep]
    rarity = -members.count[which] if target & D else np.zeros(len(which), dtype="int32")
    fields = (distance, rarity, ~members.preferred[which], members.concept[which], item, which)
    best = _best_members(mention, fields, query.top_k)
    columns = (mention, *fields)
    hits: list[list[Hit]] = [[] for _ in range(len(found.items))]
    for each, *values in zip(*(column[best].tolist() for column in columns), strict=True):
        hits[each].append(Hit(*values))
    return hits


def _best_members(mention: np.ndarray, fields: tuple[np.ndarray, ...], top_k: int) -> np.ndarray:
    """What `_best` does, for all mentions at once and before there are any hits: the best member
    of each concept, and of those the first top_k of each mention.

    mention (Ints1d): int64 (members,): whose members they are.
    fields (Tuple[np.ndarray, ...]): Those of `Hit`, one value a member.
    top_k (int): Members kept for each mention.
    RETURNS (Ints1d): int64: the places of the members kept, best first.
    """
    order = np.lexsort((*fields[::-1], mention))
    concept = fields[3].astype("int64")
    pairs = mention * (concept.max(initial=0) + 1) + concept
    _, first = np.unique(pairs[order], return_index=True)
    order = order[np.sort(first)]
    starts = np.searchsorted(mention[order], mention[order])
    return order[np.arange(len(order)) - starts < top_k]


def _added_hits(overlay: SynonymOverlay, found: Neighbours, query: Query) -> list[list[Hit]]:
    denoted, allowed = overlay.added, query.allowed
    return [
        _best(
            (
                Hit(-score, -count, not preferred, concept, item, text=text)
                for item, score in zip(items, scores, strict=True)
                if item >= 0
                for concept, (text, count, preferred) in denoted[item].items()
                if allowed is None or allowed[concept]
            ),
            query.top_k,
        )
        for items, scores in zip(found.items.tolist(), found.scores.tolist(), strict=True)
    ]


def _over_concepts(
    search: str, index: ConceptIndex, overlay: SynonymOverlay, query: Query
) -> list[_Source]:
    allowed = query.allowed
    searcher, concepts = index.searcher(search), index.concepts_of(search)
    concerned, means = overlay.means(search)
    if allowed is None and means is None:
        return [_Source(searcher, lambda found: _mean_hits(concepts, found, query.top_k), None)]
    may = np.ones(index.concept_count, dtype="bool") if allowed is None else allowed
    stale = np.isin(concepts, concerned)
    sources = [
        _Source(
            searcher, lambda found: _mean_hits(concepts, found, query.top_k), may[concepts] & ~stale
        )
    ]
    if means is not None:
        left = may[concerned] & (means.vectors.norms > 0)
        sources.append(
            _Source(means, lambda found: _mean_hits(concerned, found, query.top_k), left)
        )
    return sources


def _mean_hits(concepts: np.ndarray, found: Neighbours, top_k: int) -> list[list[Hit]]:
    return [
        _best(
            (
                Hit(-score, 0, False, int(concepts[item]), item)
                for item, score in zip(items, scores, strict=True)
                if item >= 0
            ),
            top_k,
        )
        for items, scores in zip(found.items.tolist(), found.scores.tolist(), strict=True)
    ]
