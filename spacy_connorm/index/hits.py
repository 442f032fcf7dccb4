"""Find the concepts of mentions by one search, ordered by score, count in D, rank of the name and
concept id.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import NamedTuple, TypeAlias

import numpy as np

from ..encoders.raw import HybridArray, Raw
from ..errors import Errors
from ..files.arrays import list_ranges
from .backends.protocol import AllowedItems, Searcher
from .concept_index import ConceptIndex
from .filter import AllowedConcepts
from .overlay import SynonymOverlay
from .search import COSINE, D, Search
from .vectors.hybrid import HybridVectors

# Scores closer than this are ties: the float32 cosine of a text with itself has an error of 1e-6.
# Inner products of 10 and more have six significant digits.
DIGITS = 5
_LARGE = 10
_NO_MEMBER = -1


def rounded(scores: np.ndarray) -> np.ndarray:
    """Round scores, so that noise does not decide the order.

    RETURNS (np.ndarray): Cosines or inner products, float64.
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

    distance (float): Minus the score, rounded to five digits. The score is the cosine or inner
        product, raised for a name that substitutions turn the mention into, lowered for words that
        the mention lacks.
    rarity (int): Minus the number of times that the text has this concept in D.
    rank (int): The rank of the text among the concept's names, from `Members.ranks`.
    concept (int): The concept's number; numbers follow the order of ids.
    item (int): Its position among the vectors that were searched.
    member (int): The member of the index with the text; -1 if none has it.
    text (str): The text, if no member has it; else empty, and for a mean.
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


def best_hits(hits: Iterable[Hit], top_k: int) -> list[Hit]:
    """Keep the best hit of each concept.

    RETURNS (List[Hit]): At most top_k hits, best first.
    """
    by_concept: dict[int, Hit] = {}
    for hit in sorted(hits):
        by_concept.setdefault(hit.concept, hit)
        if len(by_concept) == top_k:
            break
    return list(by_concept.values())


def best_members(mention: np.ndarray, fields: tuple[np.ndarray, ...], top_k: int) -> np.ndarray:
    """Rank like `best_hits`, but for all mentions at once, and before hits are created.

    mention (Ints1d): int64 (members,): the mention that each member was found for.
    fields (Tuple[np.ndarray, ...]): The first six fields of `Hit`, one value per member. Items are
        in the order of members.
    top_k (int): The maximum number of members to keep for each mention.
    RETURNS (Ints1d): int64: the positions of the members kept, best first.
    """
    distance, rarity, rank, *_ = fields
    concept, member = (field.astype("int64") for field in (fields[3], fields[5]))
    # Each key is a sort, so fields that fit into one number are one.
    order = np.lexsort(
        (concept << 32 | member, rarity.astype("int64") * 4 + rank, distance, mention)
    )
    pairs = mention * (concept.max(initial=0) + 1) + concept
    _, first = np.unique(pairs[order], return_index=True)
    order = order[np.sort(first)]
    starts = np.searchsorted(mention[order], mention[order])
    return order[np.arange(len(order)) - starts < top_k]


def with_parts(
    found: list[list[Hit]], searched: HybridVectors, vectors: HybridArray
) -> list[list[Hit]]:
    """Add the dense and the lexical score of a hybrid encoder to hits.

    found (List[List[Hit]]): The hits of b mentions.
    searched (HybridVectors): The vectors that were searched.
    vectors (HybridArray): (b, width): the vectors of the mentions.
    RETURNS (List[List[Hit]]): The hits with `parts`.
    """
    pairs = [(place, hit.item) for place, hits in enumerate(found) for hit in hits]
    mentions, items = np.asarray(pairs, dtype="int64").reshape(-1, 2).T
    both = rounded(np.asarray(searched.parts(vectors, mentions, items)))
    parts = zip(*both.tolist(), strict=True)
    return [[hit._replace(parts=next(parts)) for hit in hits] for hits in found]


# The number of texts to request first, for each concept wanted: with half as many, two mentions in
# five needed a second search.
_FIRST_LOOK = 8
# Rounding to eight bits can increase scores slightly.
_MAX_COSINE = 1.5
_LARGEST = float(np.finfo("float32").max)


@dataclass(eq=False)
class IndexTexts:
    """The texts of the index that a search covers. Its `searcher` searches them; `items` are those
    that may be found, or None for all.

    search, index, overlay, allowed: As for `run_search`.
    """

    search: Search
    index: ConceptIndex
    overlay: SynonymOverlay
    allowed: AllowedConcepts | None

    def __post_init__(self) -> None:
        self.searcher = self.index.searcher(self.search)
        self.items = self.allowed.items(self.search) if self.allowed else None

    def hits(
        self, batch: int, mention: np.ndarray, item: np.ndarray, score: np.ndarray, top_k: int
    ) -> list[list[Hit]]:
        """Look up the concepts of texts, for the whole batch at once.

        batch (int): The number of mentions, b.
        mention, item, score (np.ndarray): (n,): texts that were found, the mention that each was
            found for, and its score.
        top_k (int): The maximum number of concepts for each mention.
        RETURNS (List[List[Hit]]): b lists, best first.
        """
        members, target = self.index.members, self.search.target
        row = item + self.index.row_ranges[target][0]
        at, which = list_ranges(members.start[row], members.start[row + 1])
        concept = members.concept[which]
        keep = members.target[which] & target > 0
        if self.allowed is not None:
            keep &= self.allowed.concepts[concept]
        if removed := self.overlay.removed:
            pairs = zip(row[at].tolist(), concept.tolist(), strict=True)
            keep &= np.fromiter((pair not in removed for pair in pairs), "bool", len(which))
        which, at, concept = which[keep], at[keep], concept[keep]
        distance = -score[at]
        rarity = -members.count[which] if target & D else np.zeros(len(which), dtype="int32")
        fields = (distance, rarity, members.ranks(which), concept, item[at], which)
        mention = mention[at]
        best = best_members(mention, fields, top_k)
        columns = [column[best].tolist() for column in fields]
        hits: list[list[Hit]] = [[] for _ in range(batch)]
        for number, hit in zip(mention[best].tolist(), map(Hit, *columns), strict=True):
            hits[number].append(hit)
        return hits


class _OtherItems(NamedTuple):
    """Texts that users added, or means of concepts.

    searcher (Searcher): Searches them.
    items (Optional[AllowedItems]): The items that may be found; all if None.
    denoted (Callable): Returns rarity, rank, concept and text of everything that an item denotes.
    """

    searcher: Searcher
    items: AllowedItems | None
    denoted: Callable[[int], Iterable[tuple[int, int, int, str]]]

    def hits(
        self, batch: int, mention: np.ndarray, item: np.ndarray, score: np.ndarray, top_k: int
    ) -> list[list[Hit]]:
        hits: list[list[Hit]] = [[] for _ in range(batch)]
        proposals = zip(mention.tolist(), item.tolist(), score.tolist(), strict=True)
        for number, place, value in proposals:
            for rarity, rank, concept, text in self.denoted(place):
                hits[number].append(Hit(-value, rarity, rank, concept, place, text=text))
        return [best_hits(of_mention, top_k) for of_mention in hits]


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

    search (Search): One of the six searches.
    index (ConceptIndex): The index to search.
    overlay (SynonymOverlay): The synonyms added to it and removed from it.
    vectors (Raw): (b, width) vectors of mentions: at unit length, unless the index compares by
        inner products.
    top_k (int): The number of concepts wanted for each mention.
    allowed (Optional[AllowedConcepts]): The concepts that may be found; all if None.
    thresholds (Optional[Floats1d]): (b,): concepts are not needed for a mention whose best score is
        lower.
    RETURNS (List[List[Hit]]): For each mention, at most top_k concepts, best first, each with its
        best text.
    RAISES (ConnormError): CN408 for a search over concepts that the index was built without, CN420
        for impossible scores.
    """
    if search.representation == "C":
        sources = _over_concepts(search, index, overlay, allowed)
    else:
        sources = [IndexTexts(search, index, overlay, allowed)]
        if search.target & D and overlay.searcher is not None:
            added = partial(_added, overlay, allowed)
            sources.append(_OtherItems(overlay.searcher, None, added))
    if len(sources) == 1:
        return _search_source(sources[0], vectors, index.metric, top_k, thresholds)
    # The other source may have the best score for a mention for which this one scores low, so
    # search both completely.
    found = [_search_source(source, vectors, index.metric, top_k, None) for source in sources]
    return [best_hits(chain(*parts), top_k) for parts in zip(*found, strict=True)]


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
    kept, left = ~np.isin(concepts, changed), means.vectors.norms > 0
    if allowed is not None:
        kept &= allowed.concepts[concepts]
        left &= allowed.concepts[changed]
    return [
        _means(searcher, AllowedItems(kept), concepts),
        _means(means, AllowedItems(left), changed),
    ]


def _means(searcher: Searcher, items: AllowedItems | None, concepts: np.ndarray) -> _OtherItems:
    return _OtherItems(searcher, items, lambda item: [(0, 0, int(concepts[item]), "")])


def _search_source(
    source: _Source, vectors: Raw, metric: str, top_k: int, thresholds: np.ndarray | None
) -> list[list[Hit]]:
    """Request more items until no concept among the best can have been missed."""
    largest = _MAX_COSINE if metric == COSINE else _LARGEST
    found: list[list[Hit]] = [[] for _ in range(vectors.shape[0])]
    searched = source.searcher.vectors
    if not len(searched):
        return found  # no annotated mentions, or none yet
    waiting, n = np.arange(len(found)), _FIRST_LOOK * top_k
    while len(waiting):
        queries = vectors if len(waiting) == len(found) else vectors[waiting]
        neighbours = source.searcher.nearest(queries, n, source.items)
        # Larger or infinite scores and NaN come from damaged vectors.
        if not (neighbours.scores <= largest).all():
            raise Errors.CN420()
        items, scores = neighbours.items, rounded(neighbours.scores)
        if thresholds is not None and items.shape[1]:
            enough = scores[:, 0] >= thresholds[waiting]
            if not enough.any():
                break
            waiting, items, scores = waiting[enough], items[enough], scores[enough]
        mention, place = np.nonzero(items >= 0)
        best = items[mention, place], scores[mention, place]
        hits = source.hits(len(items), mention, *best, top_k)
        for number, of_mention in zip(waiting.tolist(), hits, strict=True):
            found[number] = of_mention
        if items.shape[1] < n:
            break
        # The worst of the concepts wanted; with fewer concepts, any item could still be among them.
        worst = np.array([-own[-1].distance if len(own) == top_k else -np.inf for own in hits])
        waiting = waiting[(items[:, -1] >= 0) & (scores[:, -1] >= worst)]
        n *= 4
    return with_parts(found, searched, vectors) if isinstance(searched, HybridVectors) else found
