"""Mention vectors to the concepts that one search finds for them."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from ..encoders.vectors import HybridArray, Raw
from ..errors import ConnormError, Errors
from .backends.protocol import AllowedItems, Neighbours, Searcher, rescore
from .concept_index import ConceptIndex
from .filters import AllowedConcepts
from .members import D
from .overlay import SynonymOverlay
from .ranking import Hit, best_hits, best_members, rounded
from .rewriting import Rewritten
from .search import Search
from .vectors.base import HybridVectors, Vectors

# How many texts to ask for first, for each concept wanted: with half as many, two mentions in five
# had to ask again.
_FIRST_LOOK = 8
# Rounding to eight bits can add a little.
_MAX_COSINE = 1.5


class Query(NamedTuple):
    """What every search is asked.

    vectors (Raw): (b, width) mention vectors: at unit length, unless the index compares by inner
        products.
    top_k (int): How many concepts each mention wants.
    allowed (Optional[AllowedConcepts]): Which concepts may be found; all if None.
    rewritten (Sequence[Rewritten]): b times the names that a mention becomes when words in it are
        replaced; empty if no mention becomes any. The certainty says how far a name's cosine is
        raised towards 1.
    """

    vectors: Raw
    top_k: int
    allowed: AllowedConcepts | None = None
    rewritten: Sequence[Rewritten] = ()

    def only(self, places: list[int]) -> "Query":
        """RETURNS (Query): The same for some of the mentions."""
        rewritten = [self.rewritten[place] for place in places] if self.rewritten else ()
        return self._replace(vectors=self.vectors[places], rewritten=rewritten)


class _Source(NamedTuple):
    """One part of a search: the index, or the overlay beside it.

    searcher (Searcher): Finds items.
    hits (Callable): Gives what neighbours denote: for each mention at most top_k concepts, best
        first.
    allowed (Optional[AllowedItems]): Which may be found; all if None.
    """

    searcher: Searcher
    hits: Callable[[Neighbours], list[list[Hit]]]
    allowed: AllowedItems | None


def run_search(
    search: Search,
    index: ConceptIndex,
    overlay: SynonymOverlay,
    query: Query,
    *,
    threshold: float = -np.inf,
) -> list[list[Hit]]:
    """Search one target in one representation.

    search (Search): Which of the six.
    index (ConceptIndex): What is searched.
    overlay (SynonymOverlay): What was added to it and removed from it.
    query (Query): b mentions.
    threshold (float): Mentions whose best score is lower need no concepts.
    RETURNS (List[List[Hit]]): For each mention at most top_k concepts, best first, each with its
        best text.
    RAISES (ConnormError): CN408 for a search over concepts that the index was built without, CN420
        for scores that can't be.
    """
    over = _over_texts if search.representation == "T" else _over_concepts
    sources = over(search, index, overlay, query)
    rewritten = query.rewritten if search.representation == "T" else ()
    if len(sources) == 1 and not rewritten:
        return _ask(sources[0], query, threshold)
    # Another source may answer a mention for which this one scores low: ask both for everything.
    found = [_ask(source, query, -np.inf) for source in sources]
    if rewritten:
        found.append(_rewritten_hits(search, index, overlay, query))
    return [
        best_hits((hit for hits in parts for hit in hits), query.top_k)
        for parts in zip(*found, strict=True)
    ]


def _ask(source: _Source, query: Query, threshold: float) -> list[list[Hit]]:
    """Ask for more items until no concept among the best can have been missed."""
    found: list[list[Hit]] = [[] for _ in range(query.vectors.shape[0])]
    waiting, n = np.arange(len(found)), _FIRST_LOOK * query.top_k
    while len(waiting):
        neighbours = source.searcher.nearest(query.vectors[waiting], n, source.allowed)
        # Larger ones, infinite ones and NaN come from damaged vectors.
        if not (neighbours.scores <= _largest(source.searcher.vectors)).all():
            raise ConnormError(Errors.CN420)
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


def _largest(vectors: Vectors) -> float:
    return float(np.finfo("float32").max) if vectors.is_scaled else _MAX_COSINE


def _complete(neighbours: Neighbours, hits: list[list[Hit]], n: int, top_k: int) -> np.ndarray:
    if neighbours.items.shape[1] < n:
        return np.ones(len(hits), dtype="bool")
    # The worst of the concepts wanted; with fewer than that, anything could still enter.
    worst = [own[-1].score if len(own) == top_k else -np.inf for own in hits]
    return (neighbours.items[:, -1] < 0) | (np.asarray(worst) > neighbours.scores[:, -1])


def _with_parts(found: list[list[Hit]], vectors: Vectors, queries: Raw) -> list[list[Hit]]:
    if not isinstance(vectors, HybridVectors) or not isinstance(queries, HybridArray):
        return found
    pairs = [(place, hit.item) for place, hits in enumerate(found) for hit in hits]
    asked, items = np.asarray(pairs, dtype="int64").reshape(-1, 2).T
    both = rounded(np.asarray(vectors.parts(queries, asked, items)))
    parts = zip(*both.tolist(), strict=True)
    return [[hit._replace(parts=next(parts)) for hit in hits] for hits in found]


def _over_texts(
    search: Search, index: ConceptIndex, overlay: SynonymOverlay, query: Query
) -> list[_Source]:
    searcher = index.searcher(search)

    def hits(neighbours: Neighbours) -> list[list[Hit]]:
        return _member_hits(index, overlay, search, neighbours, query)

    items = None if query.allowed is None else query.allowed.items(search)
    sources = [_Source(searcher, hits, items)]
    added = overlay.searcher if search.target & D else None
    if added is not None:
        sources.append(_Source(added, lambda found: _added_hits(overlay, found, query), None))
    return sources


def _member_hits(
    index: ConceptIndex,
    overlay: SynonymOverlay,
    search: Search,
    found: Neighbours,
    query: Query,
) -> list[list[Hit]]:
    """Read the members of all neighbours' rows at once: one gather for the whole batch."""
    members, target = index.members, search.target
    mention, place = np.nonzero(found.items >= 0)
    item = found.items[mention, place]
    row = item + index.first_row(search)
    size = members.start[row + 1] - members.start[row]
    which = members.of_rows(row)
    keep = members.target[which] & target > 0
    if query.allowed is not None:
        keep &= query.allowed.concepts[members.concept[which]]
    if overlay.removed:
        pairs = zip(np.repeat(row, size).tolist(), members.concept[which].tolist(), strict=True)
        keep &= np.fromiter((pair not in overlay.removed for pair in pairs), "bool", len(which))
    distance = -np.repeat(found.scores[mention, place], size)[keep]
    item = np.repeat(item, size)[keep]
    which, mention = which[keep], np.repeat(mention, size)[keep]
    rarity = -members.count[which] if target & D else np.zeros(len(which), dtype="int32")
    fields = (distance, rarity, members.ranks(which), members.concept[which], item, which)
    best = best_members(mention, fields, query.top_k)
    columns = (mention, *fields)
    hits: list[list[Hit]] = [[] for _ in range(len(found.items))]
    for each, *values in zip(*(column[best].tolist() for column in columns), strict=True):
        hits[each].append(Hit(*values))
    return hits


def _rewritten_hits(
    search: Search, index: ConceptIndex, overlay: SynonymOverlay, query: Query
) -> list[list[Hit]]:
    """Find what the names that mentions become denote, with raised cosines."""
    first, vectors = index.first_row(search), index.searcher(search).vectors
    proposed, raised = [], []
    for rows, certainty in query.rewritten:
        inside = (rows >= first) & (rows < first + len(vectors))
        proposed.append(rows[inside] - first)
        raised.append(certainty[inside])
    most = max(map(len, proposed))
    found = rescore(vectors, query.vectors, proposed, most)
    for mention, (items, certainty) in enumerate(zip(proposed, raised, strict=True)):
        own = slice(len(items))
        order = np.argsort(items)
        places = order[np.searchsorted(items, found.items[mention, own], sorter=order)]
        found.scores[mention, own] += certainty[places] * (1 - found.scores[mention, own])
    found = found._replace(scores=rounded(found.scores))
    hits = _member_hits(index, overlay, search, found, query)
    return _with_parts(hits, vectors, query.vectors)


def _added_hits(overlay: SynonymOverlay, found: Neighbours, query: Query) -> list[list[Hit]]:
    denoted, allowed = overlay.added, query.allowed
    return [
        best_hits(
            (
                Hit(-score, -count, int(not preferred), concept, item, text=text)
                for item, score in zip(items, scores, strict=True)
                if item >= 0
                for concept, (text, count, preferred) in denoted[item].items()
                if allowed is None or allowed.concepts[concept]
            ),
            query.top_k,
        )
        for items, scores in zip(found.items.tolist(), found.scores.tolist(), strict=True)
    ]


def _over_concepts(
    search: Search, index: ConceptIndex, overlay: SynonymOverlay, query: Query
) -> list[_Source]:
    searcher, concepts = index.searcher(search), index.concepts_of(search)
    concerned, means = overlay.means(search)
    if means is None:
        items = None if query.allowed is None else query.allowed.items(search)
        return [_Source(searcher, lambda found: _mean_hits(concepts, found, query.top_k), items)]
    kept, left = overlay.allowed_means(search, concepts, query.allowed)
    return [
        _Source(searcher, lambda found: _mean_hits(concepts, found, query.top_k), kept),
        _Source(means, lambda found: _mean_hits(concerned, found, query.top_k), left),
    ]


def _mean_hits(concepts: np.ndarray, found: Neighbours, top_k: int) -> list[list[Hit]]:
    return [
        best_hits(
            (
                Hit(-score, 0, 0, int(concepts[item]), item)
                for item, score in zip(items, scores, strict=True)
                if item >= 0
            ),
            top_k,
        )
        for items, scores in zip(found.items.tolist(), found.scores.tolist(), strict=True)
    ]
