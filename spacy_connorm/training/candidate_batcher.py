"""Ranked lists: each annotated text with the names that it is most easily confused with."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..encoders import is_sparse
from ..encoders.ngram import NgramEncoder
from ..encoders.protocol import fitted
from ..encoders.raw import unit_rows
from ..errors import Errors, Warnings, refuse, require_range
from ..index.vectors.kinds import from_raw
from .batchers import COMPARED_AT_ONCE, Batcher, Ranking, locate_rows, top_columns
from .batches import Batch, Rankings, Relevance
from .pool import SynonymPool


@dataclass(frozen=True)
class CandidateBatcher(Batcher):
    """`spacy-connorm.CandidateBatcher.v1`: every text of D is a mention once per epoch. Its
    candidates are the names of O that score highest by the current encoder and by n-grams (Yan et
    al. 2021, section 2.1, after Sung et al. 2020). For the objectives that rank, `Bcnh` and
    `BioSyn`. Mentions are left out if O has no name for their concepts.

    size (int): The maximum number of mentions in a batch.
    candidates (int): The number of candidates of a mention; all names if there are fewer. The
        paper's k1.
    hypernyms (int): The maximum number of hypernyms of a mention: names of the parents of its
        concepts, in the order of O. The paper's k2, but short lists are not padded.
    lexical_share (Optional[float]): The share of the candidates chosen by n-grams alone; the
        encoder alone chooses the others, among the remaining names. BioSyn's code uses 0.5. If
        None, the highest sums of both are chosen, as in the paper.
    lexical (Optional[Model[List[str], Floats2d]]): The n-gram encoder, which is fitted to the texts
        of the pool; a default `NgramEncoder` if None.
    RAISES (ConnormError): CN006 for an invalid setting.
    """

    size: int = 16
    candidates: int = 20
    hypernyms: int = 10
    lexical: Any = None
    lexical_share: float | None = None
    # N-gram vectors of the last pool, by its digest, since they are the same in all epochs.
    _ngrams: dict[str, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    relations = Rankings
    each_once = True

    def __post_init__(self) -> None:
        require_range(least=1, size=self.size, candidates=self.candidates)
        require_range(least=0, hypernyms=self.hypernyms)
        require_range(least=0, most=1, lexical_share=self.lexical_share)
        if self.lexical is not None and not is_sparse(self.lexical):
            refuse("lexical", self.lexical.name, "an encoder of n-grams, e.g. NgramEncoder.v1")

    def batches(self, pool: SynonymPool, *, seed: int, epoch: int, ranking: Ranking) -> list[Batch]:
        """Draw the batches of an epoch; see `Batcher`.

        pool (SynonymPool): The pool to draw from.
        seed (int): The seed of the training, from 0.
        epoch (int): The number of the epoch, from 0.
        ranking (Ranking): Compares texts with the current encoder.
        RETURNS (List[Batch]): The batches.
        RAISES (ConnormError): CN810 if no mention has a concept with a name.
        """
        hierarchy = Hierarchy(pool)
        mentions = [row for row in pool.mentions.tolist() if hierarchy.has_name(row)]
        if not mentions:
            texts = f"{len(pool.mentions)} annotated texts"
            reason = f"none of the {texts} has a concept with a name in the ontology"
            raise Errors.CN810(reason=reason, mend="`corpora` with the ontology's ids")
        if self.hypernyms and epoch == 0 and not any(pool.parents):
            Warnings.CNW830.warn()
        order = np.random.default_rng((seed, epoch)).permutation(mentions)
        candidates, lexical = self._find_candidates(pool, order, ranking)
        relevance = np.zeros(candidates.shape, dtype="int64")
        hypernyms = np.full((len(order), self.hypernyms), -1)
        for place, row in enumerate(order.tolist()):
            relevance[place] = hierarchy.relevances(row, candidates[place].tolist())
            rows = hierarchy.hypernyms(row, limit=self.hypernyms)
            hypernyms[place, : len(rows)] = rows
        columns = (order, candidates, relevance, lexical, hypernyms)
        count = -(-len(order) // self.size)
        parts = zip(*(np.array_split(column, count) for column in columns), strict=True)
        return [_batch(Rankings(*part)) for part in parts]

    def _find_candidates(
        self, pool: SynonymPool, mentions: np.ndarray, ranking: Ranking
    ) -> tuple[np.ndarray, np.ndarray]:
        """Find the rows of each mention's candidates, and their lexical cosines."""
        names = pool.names.astype("int64")
        rows, (of_mentions, of_names) = locate_rows(mentions, names)
        vectors = ranking.vectors(rows)
        if ranking.normalized:
            vectors = unit_rows(vectors)
        mention_vectors, name_vectors = vectors[of_mentions], vectors[of_names]
        del vectors  # as large as these
        ngrams = self._ngrams_of(pool)
        ngrams, ngrams_of_names = ngrams[mentions], ngrams[names].T.tocsr()
        count = min(self.candidates, len(names))
        candidates = np.empty((len(mentions), count), dtype="int64")
        lexical = np.empty((len(mentions), count), dtype="float32")
        at_once = max(1, COMPARED_AT_ONCE // len(names))
        for start in range(0, len(mentions), at_once):
            part = slice(start, start + at_once)
            cosines = (ngrams[part] @ ngrams_of_names).toarray()
            dense = mention_vectors[part] @ name_vectors.T
            chosen = self._choose(dense, cosines, ranking.lexical_weight, count)
            candidates[part] = names[chosen]
            lexical[part] = np.take_along_axis(cosines, chosen, axis=1)
        return candidates, lexical

    def _choose(
        self, dense: np.ndarray, lexical: np.ndarray, weight: float, count: int
    ) -> np.ndarray:
        """Choose the columns of each mention's candidates, int64 (b, count)."""
        if self.lexical_share is None:
            return top_columns(dense + weight * lexical, count)
        by_ngrams = top_columns(lexical, round(self.lexical_share * count))
        np.put_along_axis(dense, by_ngrams, -np.inf, axis=1)
        return np.hstack([by_ngrams, top_columns(dense, count - by_ngrams.shape[1])])

    def _ngrams_of(self, pool: SynonymPool) -> Any:
        """Compute the n-gram vectors of all texts at unit length, CSR, float32."""
        digest = pool.digest()
        if digest not in self._ngrams:
            self._ngrams.clear()
            encoder = fitted(NgramEncoder() if self.lexical is None else self.lexical, pool.texts)
            self._ngrams[digest] = from_raw(encoder.predict(pool.texts)).unit
        return self._ngrams[digest]


def _batch(ranked: Rankings) -> Batch:
    """Make a batch of rankings of rows of the pool."""
    is_hypernym = ranked.hypernyms >= 0
    rows, (mentions, candidates, above) = locate_rows(
        ranked.mentions, ranked.candidates, ranked.hypernyms[is_hypernym]
    )
    hypernyms = np.full(is_hypernym.shape, -1)
    hypernyms[is_hypernym] = above
    places = ranked._replace(mentions=mentions, candidates=candidates, hypernyms=hypernyms)
    return Batch(rows, places)


class Hierarchy:
    """Synonyms and hypernyms among the texts of a pool. A name is a synonym of a text if they share
    a concept, and a hypernym if it names a parent of one of the text's concepts.
    """

    def __init__(self, pool: SynonymPool) -> None:
        """Collect the names of each concept.

        pool (SynonymPool): Texts, concepts and their parents.
        """
        self._concepts = pool.concepts
        self._parents = pool.parents
        self._names = {
            concept: pool.names[places].tolist()
            for concept, places in pool.places_by_concept(pool.names).items()
        }

    def has_name(self, row: int) -> bool:
        """Check whether O has a name for one of a text's concepts.

        row (int): The text.
        RETURNS (bool): True if it has.
        """
        return any(concept in self._names for concept in self._concepts[row])

    def relevances(self, row: int, names: Iterable[int]) -> list[Relevance]:
        """Find the relevance of names to a text.

        row (int): The text.
        names (Iterable[int]): Rows of names.
        RETURNS (List[Relevance]): The relevance of each name.
        """
        relevance_of = dict.fromkeys(self._above(row), Relevance.HYPERNYM)
        relevance_of |= dict.fromkeys(self._concepts[row], Relevance.SYNONYM)
        return [
            max(relevance_of.get(concept, Relevance.NONE) for concept in self._concepts[name])
            for name in names
        ]

    def hypernyms(self, row: int, *, limit: int) -> list[int]:
        """Find the hypernyms of a text, parent by parent.

        row (int): The text.
        limit (int): The maximum number.
        RETURNS (List[int]): Rows, each once.
        """
        concepts = set(self._concepts[row])
        names = dict.fromkeys(
            name
            for concept in self._above(row)
            for name in self._names.get(concept, ())
            if concepts.isdisjoint(self._concepts[name])
        )
        return list(names)[:limit]

    def _above(self, row: int) -> list[int]:
        concepts = self._concepts[row] if self._parents else ()
        return [parent for concept in concepts for parent in self._parents[concept]]
