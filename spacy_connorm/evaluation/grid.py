"""The fourteen searches of the paper (Xu and Bethard 2021, section 3.2 and Table 4): six searches
and eight sieves of two, with each mention encoded once.
"""

from collections.abc import Sequence

import numpy as np
from tqdm import tqdm

from ..concepts import Candidate
from ..index.backends.exact import ExactSearcher
from ..index.backends.protocol import Searcher
from ..index.builder.centroids import concept_centroids
from ..index.concept_index import ConceptIndex
from ..index.filters import Filter, allowed_concepts
from ..index.query import Query
from ..index.search import SEARCHES, Search
from ..index.vectors.base import from_raw
from ..linker.lookup import ConceptLookup
from ..linker.sieve import Sieve, name_candidates, run_sieve
from ..text.cleaning import clean

# In the order of the paper's table.
SIEVES = tuple(
    (first, f"{target}-{representation}")
    for target in ("O", "OD")
    for first in ("D-T", "D-C")
    for representation in ("T", "C")
)
DEFAULT_THRESHOLD = 0.95
_BATCH = 256


class CompleteIndex(ConceptIndex):
    """An index for all six searches. The means that it was built without are computed, exactly as
    `write_index` does, and searched exactly.
    """

    def __init__(self, index: ConceptIndex) -> None:
        """Share the files of an index, which stays as it is.

        index (ConceptIndex): The index.
        """
        vars(self).update(vars(index))
        self._searchers = dict(self._searchers)
        self._concepts = dict(self._concepts)

    def _open_searcher(self, search: Search) -> Searcher:
        if search.representation == "T" or search in self.manifest["searches"]:
            return super()._open_searcher(search)
        concepts, means = concept_centroids(
            self.vectors, self.members, search.target, self.concept_count
        )
        self._concepts[search] = concepts
        return ExactSearcher(self.as_compared(from_raw(means, dtype=self.backend.dtype)))


def search_all(
    lookup: ConceptLookup,
    mentions: Sequence[str],
    *,
    top_k: int,
    types: Sequence[str] = (),
    branches: Sequence[str] = (),
) -> dict[str, list[list[Candidate]]]:
    """Ask the six searches. Each distinct encoder input is encoded once for all of them.

    lookup (ConceptLookup): Encoder, index and the synonyms beside it.
    mentions (Sequence[str]): b texts; an empty one has no candidates.
    top_k (int): At most how many candidates of each.
    types (Sequence[str]): Find only concepts of these semantic types; all if empty.
    branches (Sequence[str]): Find only concepts at or below these; all if empty.
    RETURNS (Dict[str, List[List[Candidate]]]): By search b lists, best first: what
        `ConceptLookup.candidates` finds with this search.
    RAISES (ConnormError): CN406 and CN407 for types and branches that the index lacks.
    """
    index = CompleteIndex(lookup.index)
    weight = lookup.normalized_encoder.lexical_weight
    limits = Filter.of(types, branches)
    allowed = allowed_concepts(limits, index)
    texts = [clean(mention) for mention in mentions]
    distinct = list(dict.fromkeys(text for text in texts if text))
    keys = lookup.normalized_encoder.inputs(distinct) if distinct else []
    key_of = dict(zip(distinct, keys, strict=True))
    found: dict[str, dict[bytes, list[Candidate]]] = {search: {} for search in SEARCHES}
    waiting = list(dict(zip(keys, distinct, strict=True)).items())
    with tqdm(total=len(waiting), unit=" mentions", delay=2, leave=False, disable=None) as bar:
        for start in range(0, len(waiting), _BATCH):
            batch = waiting[start : start + _BATCH]
            raw = lookup.normalized_encoder.encode([text for _, text in batch])
            vectors = index.as_compared(from_raw(raw))
            known = np.flatnonzero(vectors.norms)
            searched = [batch[place][1] for place in known]
            rows = index.keys.rows([batch[place][0] for place in known])
            query, penalty = lookup.retriever.prepare(
                Query(vectors.queries(known, weight=weight), top_k, allowed), searched, rows
            )
            for search in SEARCHES:
                alone = Sieve([search], [])
                answers = run_sieve(alone, index, lookup.overlay, query, penalty)
                named = name_candidates(answers, index, searched)
                found[search].update(
                    (batch[place][0], candidates)
                    for place, candidates in zip(known, named, strict=True)
                )
            bar.update(len(batch))
    return {
        search: [
            [each._replace(searched=text) for each in by_key.get(key_of.get(text, b""), ())]
            for text in texts
        ]
        for search, by_key in found.items()
    }


def grid_sieves(threshold: float) -> dict[str, Sieve]:
    """Make the fourteen rows of the paper's table.

    threshold (float): The cosine at which the first search of a sieve answers.
    RETURNS (Dict[str, Sieve]): The sieves by name, the six searches first.
    RAISES (ConnormError): CN006 if it is no cosine.
    """
    alone = {search: Sieve([search], []) for search in SEARCHES}
    sieves = {"+".join(searches): Sieve([*searches], [threshold]) for searches in SIEVES}
    return alone | sieves
