"""Vectors of mentions to the concepts that one search finds for them, ordered by score, count in D,
rank of the name and concept id.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, TypeAlias

import numpy as np

from ..encoders.protocol import HybridArray, Raw
from ..errors import ConnormError, Errors
from .backends.exact import AllowedItems, Neighbours, Searcher
from .concept_index import AllowedConcepts, ConceptIndex, D, Search
from .overlay import SynonymOverlay
from .vectors import COSINE, HybridVectors, Vectors

# Scores closer than this are ties: the cosine of a text with itself, in float32, is off by 1e-6.
# Inner products of 10 and more have six digits that count.
DIGITS = 5
_LARGE = 10
_NO_MEMBER = -1


def rounded(scores: np.ndarray) -> np.ndarray:
    """Round scores, so that noise does not decide.

    RETURNS (np.ndarray): Cosines or inner products without rounding noise, float64.
    """
    wide = scores.astype("float64")
    found = np.round(wide, DIGITS)
    large = np.isfinite(wide) & (np.abs(wide) >= _LARGE)
    if large.any():
        units = 10.0 ** (np.floor(np.log10(np.abs(wide[large]))) - DIGITS)
        found[large] = np.round(np.round(wide[large] / units) * units, DIGITS)
    return found


class Hit(NamedTuple):
    """A concept found by one search. Hits sort best first.

    distance (float): Minus the score, rounded to five digits: the cosine or inner product, raised
        for a name that the mention becomes by substitutions, lowered for words that it lacks.
    rarity (int): Minus how often D gives the text this concept.
    rank (int): Of the text among the concept's names, from `Members.ranks`.
    concept (int): The concept's number; numbers follow the order of ids.
    item (int): Its place among the vectors that were searched.
    member (int): The member of the index with the text; -1 if none has it.
    text (str): The text, if no member has it or if it was read already; empty for a mean.
    parts (Optional[Tuple[float, float]]): The dense and the lexical score of a hybrid encoder.
    """

    distance: float
    rarity: int
    rank: int
    concept: int
    item: int
    member: int = _NO_MEMBER
    text: str = ""
    parts: tuple[float, float] | None = None

    @property
    def score(self) -> float:
        """The score of the hit.

        RETURNS (float): The score.
        """
        return 0.0 - self.distance  # never minus zero


def best_hits(hits: Iterable[Hit], top_k: int) -> list[Hit]:
    """Keep the best hit of each concept.

    RETURNS (List[Hit]): The best hit of each concept, best first, at most top_k.
    """
    by_concept: dict[int, Hit] = {}
    for hit in sorted(hits):
        by_concept.setdefault(hit.concept, hit)
        if len(by_concept) == top_k:
            break
    return list(by_concept.values())


def best_members(mention: np.ndarray, fields: tuple[np.ndarray, ...], top_k: int) -> np.ndarray:
    """Rank as `best_hits`, but all mentions at once and before there are any hits.

    mention (Ints1d): int64 (members,): whose members they are.
    fields (Tuple[np.ndarray, ...]): The first fields of `Hit`, one value per member.
    top_k (int): At most how many members to keep for each mention.
    RETURNS (Ints1d): int64: the places of the members kept, best first.
    """
    order = np.lexsort((*fields[::-1], mention))
    concept = fields[3].astype("int64")
    pairs = mention * (concept.max(initial=0) + 1) + concept
    _, first = np.unique(pairs[order], return_index=True)
    order = order[np.sort(first)]
    starts = np.searchsorted(mention[order], mention[order])
    return order[np.arange(len(order)) - starts < top_k]


# How many texts to ask for first, for each concept wanted: with half as many, two mentions in five
# had to ask again.
_FIRST_LOOK = 8
# Rounding to eight bits can add a little.
_MAX_COSINE = 1.5


@dataclass(frozen=True)
class IndexTexts:
    """The texts of the index that a search looks at.

    searcher (Searcher): Finds them.
    items (Optional[AllowedItems]): Which may be found; all if None.
    search (Search): The search.
    index (ConceptIndex): Has the texts.
    removed (FrozenSet[Tuple[int, int]]): What it no longer says: row, concept number.
    concepts (Optional[np.ndarray]): bool (concepts,): which concepts may be found; all if None.
    """

    searcher: Searcher
    items: AllowedItems | None
    search: Search
    index: ConceptIndex
    removed: frozenset[tuple[int, int]]
    concepts: np.ndarray | None

    @classmethod
    def of(
        cls,
        search: Search,
        index: ConceptIndex,
        overlay: SynonymOverlay,
        allowed: AllowedConcepts | None,
    ) -> "IndexTexts":
        """RETURNS (IndexTexts): The texts; the arguments are those of `run_search`."""
        items, concepts = (allowed.items(search), allowed.concepts) if allowed else (None, None)
        return cls(index.searcher(search), items, search, index, overlay.removed, concepts)

    def hits(self, found: Neighbours, top_k: int) -> list[list[Hit]]:
        """Read what neighbours denote, all at once: one gather for the whole batch.

        found (Neighbours): (b, n) texts.
        top_k (int): At most how many concepts for each mention.
        RETURNS (List[List[Hit]]): b lists, best first.
        """
        members, target = self.index.members, self.search.target
        mention, place = np.nonzero(found.items >= 0)
        item = found.items[mention, place]
        row = item + self.index.first_row(self.search)
        size = members.start[row + 1] - members.start[row]
        which = members.of_rows(row)
        keep = members.target[which] & target > 0
        if self.concepts is not None:
            keep &= self.concepts[members.concept[which]]
        if self.removed:
            pairs = zip(np.repeat(row, size).tolist(), members.concept[which].tolist(), strict=True)
            keep &= np.fromiter((pair not in self.removed for pair in pairs), "bool", len(which))
        distance = -np.repeat(found.scores[mention, place], size)[keep]
        item = np.repeat(item, size)[keep]
        which, mention = which[keep], np.repeat(mention, size)[keep]
        rarity = -members.count[which] if target & D else np.zeros(len(which), dtype="int32")
        fields = (distance, rarity, members.ranks(which), members.concept[which], item, which)
        best = best_members(mention, fields, top_k)
        columns = (mention, *fields)
        hits: list[list[Hit]] = [[] for _ in range(len(found.items))]
        for each, *values in zip(*(column[best].tolist() for column in columns), strict=True):
            hits[each].append(Hit(*values))
        return hits


class _OtherItems(NamedTuple):
    """Texts that users added, or means of concepts.

    searcher (Searcher): Finds them.
    items (Optional[AllowedItems]): Which may be found; all if None.
    denoted (Callable): Gives rarity, rank, concept and text of all that an item denotes.
    """

    searcher: Searcher
    items: AllowedItems | None
    denoted: Callable[[int], Iterable[tuple[int, int, int, str]]]

    def hits(self, found: Neighbours, top_k: int) -> list[list[Hit]]:
        return [
            best_hits(
                (
                    Hit(-score, rarity, rank, concept, item, text=text)
                    for item, score in zip(items, scores, strict=True)
                    if item >= 0
                    for rarity, rank, concept, text in self.denoted(item)
                ),
                top_k,
            )
            for items, scores in zip(found.items.tolist(), found.scores.tolist(), strict=True)
        ]


_Source: TypeAlias = IndexTexts | _OtherItems


def run_search(
    search: Search,
    index: ConceptIndex,
    overlay: SynonymOverlay,
    vectors: Raw,
    *,
    top_k: int,
    allowed: AllowedConcepts | None = None,
    thresholds: np.ndarray | None = None,
) -> list[list[Hit]]:
    """Search one target in one representation.

    search (Search): Which of the six.
    index (ConceptIndex): What is searched.
    overlay (SynonymOverlay): What was added to it and removed from it.
    vectors (Raw): (b, width) vectors of mentions: at unit length, unless the index compares by
        inner products.
    top_k (int): How many concepts each mention wants.
    allowed (Optional[AllowedConcepts]): Which concepts may be found; all if None.
    thresholds (Optional[Floats1d]): (b,): a mention whose best score is lower needs no concepts.
    RETURNS (List[List[Hit]]): For each mention at most top_k concepts, best first, each with its
        best text.
    RAISES (ConnormError): CN408 for a search over concepts that the index was built without, CN420
        for scores that can't be.
    """
    over = _over_texts if search.representation == "T" else _over_concepts
    sources = over(search, index, overlay, allowed)
    if len(sources) == 1:
        return _ask(sources[0], vectors, index.metric, top_k, thresholds)
    # Another source may answer a mention for which this one scores low: ask both for everything.
    found = [_ask(source, vectors, index.metric, top_k, None) for source in sources]
    return [
        best_hits((hit for hits in parts for hit in hits), top_k)
        for parts in zip(*found, strict=True)
    ]


def _over_texts(
    search: Search, index: ConceptIndex, overlay: SynonymOverlay, allowed: AllowedConcepts | None
) -> list[_Source]:
    sources: list[_Source] = [IndexTexts.of(search, index, overlay, allowed)]
    if search.target & D and overlay.searcher is not None:
        sources.append(_OtherItems(overlay.searcher, None, partial(_added, overlay, allowed)))
    return sources


def _added(
    overlay: SynonymOverlay, allowed: AllowedConcepts | None, item: int
) -> Iterator[tuple[int, int, int, str]]:
    for concept, (text, count, preferred) in overlay.added[item].items():
        if allowed is None or allowed.concepts[concept]:
            yield -count, int(not preferred), concept, text


def _over_concepts(
    search: Search, index: ConceptIndex, overlay: SynonymOverlay, allowed: AllowedConcepts | None
) -> list[_Source]:
    searcher, concepts = index.searcher(search), index.concepts_of(search)
    changed, means = overlay.means(search)
    if means is None:
        return [_means(searcher, allowed.items(search) if allowed else None, concepts)]
    kept, left = overlay.allowed_means(search, concepts, allowed)
    return [_means(searcher, kept, concepts), _means(means, left, changed)]


def _means(searcher: Searcher, items: AllowedItems | None, concepts: np.ndarray) -> _OtherItems:
    return _OtherItems(searcher, items, lambda item: [(0, 0, int(concepts[item]), "")])


def _ask(
    source: _Source, vectors: Raw, metric: str, top_k: int, thresholds: np.ndarray | None
) -> list[list[Hit]]:
    """Ask for more items until no concept among the best can have been missed."""
    largest = _MAX_COSINE if metric == COSINE else float(np.finfo("float32").max)
    found: list[list[Hit]] = [[] for _ in range(vectors.shape[0])]
    waiting, n = np.arange(len(found)), _FIRST_LOOK * top_k
    while len(waiting):
        neighbours = source.searcher.nearest(vectors[waiting], n, source.items)
        # Larger ones, infinite ones and NaN come from damaged vectors.
        if not (neighbours.scores <= largest).all():
            raise ConnormError(Errors.CN420)
        neighbours = neighbours._replace(scores=rounded(neighbours.scores))
        if thresholds is not None and neighbours.scores.shape[1]:
            enough = neighbours.scores[:, 0] >= thresholds[waiting]
            waiting, neighbours = (
                waiting[enough],
                Neighbours(*(each[enough] for each in neighbours)),
            )
        hits = source.hits(neighbours, top_k)
        for place, own in zip(waiting.tolist(), hits, strict=True):
            found[place] = own
        waiting = waiting[~_complete(neighbours, hits, n, top_k)]
        n *= 4
    return with_parts(found, source.searcher.vectors, vectors)


def _complete(neighbours: Neighbours, hits: list[list[Hit]], n: int, top_k: int) -> np.ndarray:
    if neighbours.items.shape[1] < n:
        return np.ones(len(hits), dtype="bool")
    # The worst of the concepts wanted; with fewer than that, anything could still enter.
    worst = [own[-1].score if len(own) == top_k else -np.inf for own in hits]
    return (neighbours.items[:, -1] < 0) | (np.asarray(worst) > neighbours.scores[:, -1])


def with_parts(found: list[list[Hit]], searched: Vectors, vectors: Raw) -> list[list[Hit]]:
    """Add the dense and the lexical score of a hybrid encoder to hits.

    found (List[List[Hit]]): Of b mentions.
    searched (Vectors): What was searched.
    vectors (Raw): (b, width): those of the mentions.
    RETURNS (List[List[Hit]]): The same with `parts`; as they are with another encoder.
    """
    if not isinstance(searched, HybridVectors) or not isinstance(vectors, HybridArray):
        return found
    pairs = [(place, hit.item) for place, hits in enumerate(found) for hit in hits]
    asked, items = np.asarray(pairs, dtype="int64").reshape(-1, 2).T
    both = rounded(np.asarray(searched.parts(vectors, asked, items)))
    parts = zip(*both.tolist(), strict=True)
    return [[hit._replace(parts=next(parts)) for hit in hits] for hits in found]
