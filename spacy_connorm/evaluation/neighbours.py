"""The concept texts nearest to a mention (Xu and Bethard 2021, Table 6)."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from ..index.backends.exact import ExactSearcher
from ..index.concept_index import ConceptIndex
from ..index.overlay import SynonymOverlay
from ..index.ranking import rounded
from ..index.search import Search
from ..index.vectors.base import from_raw
from ..linker.lookup import ConceptLookup
from ..text.cleaning import clean

RANKS = (1, 5, 10, 15, 20)
_SEARCH = Search.OD_T


class Neighbour(NamedTuple):
    """A concept text near a mention.

    rank (int): Its rank among the texts, from 1.
    concept_ids (Tuple[str, ...]): The concepts that it denotes, ordered.
    text (str): The text.
    score (float): Its cosine or inner product with the mention.
    """

    rank: int
    concept_ids: tuple[str, ...]
    text: str
    score: float


def nearest_texts(
    lookup: ConceptLookup, mention: str, *, ranks: Sequence[int] = RANKS
) -> list[Neighbour]:
    """Rank the texts of O and D by their exact scores with a mention, without filters. A text
    counts once even if it denotes several concepts; texts that are the same to the encoder are one.

    lookup (ConceptLookup): Encoder, index and synonyms added later.
    mention (str): A text.
    ranks (Sequence[int]): The wanted ranks, from 1.
    RETURNS (List[Neighbour]): In this order; without ranks beyond the last text, and empty if the
        mention is empty to the encoder.
    """
    raw = lookup.normalized_encoder.encode([clean(mention)])
    vectors = lookup.index.as_compared(from_raw(raw))
    if not vectors.norms[0]:
        return []
    query = vectors.queries(np.arange(1), weight=lookup.normalized_encoder.lexical_weight)
    texts = {**_indexed(lookup, query, max(ranks))}
    for row, score, denoted in _added(lookup, query):
        score, known = texts.get(row, (score, {}))
        texts[row] = score, denoted | known
    ordered = sorted(texts.values(), key=lambda each: (-each[0], min(each[1].items())))
    chosen = [(rank, *ordered[rank - 1]) for rank in ranks if rank <= len(ordered)]
    labels = lookup.index.store.labels(number for _, _, denoted in chosen for number in denoted)
    return [
        Neighbour(
            rank,
            tuple(labels[number][0] for number in sorted(denoted)),
            denoted[min(denoted)],
            score,
        )
        for rank, score, denoted in chosen
    ]


# A text: its row, its cosine, and its spelling by concept number.
_Text = tuple[int, float, dict[int, str]]


def _indexed(
    lookup: ConceptLookup, query: np.ndarray, n: int
) -> dict[int, tuple[float, dict[int, str]]]:
    index, overlay = lookup.index, lookup.overlay
    searcher = ExactSearcher(index.search_vectors(_SEARCH))
    # Removed texts are skipped, so as many more are needed.
    found = searcher.nearest(query, n + len({row for row, _ in overlay.removed}))
    rows = found.items[0][found.items[0] >= 0] + index.first_row(_SEARCH)
    scores = rounded(found.scores[0]).tolist()
    texts = {
        row: (score, _denoted(index, overlay, row))
        for row, score in zip(rows.tolist(), scores, strict=False)
    }
    return {row: text for row, text in texts.items() if text[1]}


def _denoted(index: ConceptIndex, overlay: SynonymOverlay, row: int) -> dict[int, str]:
    members = range(index.members.start[row], index.members.start[row + 1])
    numbers = index.members.concept[members.start : members.stop].tolist()
    written = index.store.texts(members)
    return {
        number: written[member]
        for member, number in zip(members, numbers, strict=True)
        if (row, number) not in overlay.removed
    }


def _added(lookup: ConceptLookup, query: np.ndarray) -> Iterator[_Text]:
    searcher, added = lookup.overlay.searcher, lookup.overlay.added
    if searcher is None:
        return
    found = searcher.nearest(query, len(added))
    scores = rounded(found.scores[0]).tolist()
    for item, score in zip(found.items[0].tolist(), scores, strict=True):
        denoted = {number: synonym.text for number, synonym in added[item].items()}
        (key,) = lookup.normalized_encoder.inputs([next(iter(denoted.values()))])
        row = lookup.index.keys.row(key)
        # Texts that the index lacks get negative numbers.
        yield -1 - item if row is None else row, score, denoted
