"""Ranked lists: each annotated text with the names that it is most easily taken for."""

from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from ..encoders import is_sparse, replica
from ..encoders.ngram import NgramEncoder
from ..errors import ConnormError, Errors, Warnings, refuse, require_positive, warn
from .batches import RankedRows
from .neighbour_batcher import best
from .pool import SynonymPool, distinct
from .relevance import Hierarchy

# Scores that stand in memory at once.
_COMPARED_AT_ONCE = 2**24


class Ranking(Protocol):
    """How texts are compared now, by the encoder and the objective in training."""

    @property
    def normalized(self) -> bool:
        """RETURNS (bool): Whether vectors are scaled to unit length to be compared."""

    @property
    def lexical_weight(self) -> float:
        """RETURNS (float): The weight of the n-grams' cosine beside the vectors' product."""

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        """RETURNS (Floats2d): As `Vectors`."""


@dataclass(frozen=True)
class CandidateBatcher:
    """`spacy-connorm.CandidateBatcher.v1`: every text of D, once an epoch, as a mention with its
    candidates: the names of O that score highest by the encoder as it is and by their n-grams (Yan
    et al. 2021, section 2.1, after Sung et al. 2020). For the objectives that rank, `Bcnh` and
    `BioSyn`. A mention of whose concepts O has no name is left out.

    size (int): At most so many mentions in a batch.
    candidates (int): Of each mention; all names where there are fewer. The paper's k1.
    hypernyms (int): At most so many of each mention, 0 to do without: names of the parents of its
        concepts, in the order of O. The paper's k2; where there are fewer, none are filled in.
    lexical (Optional[Model[List[str], Floats2d]]): The encoder of n-grams, which is fitted to the
        texts of the pool; `NgramEncoder` as it comes if None.
    """

    size: int = 16
    candidates: int = 20
    hypernyms: int = 10
    lexical: Any = None
    # N-gram vectors of the last pool, which change in no epoch.
    _ngrams: dict[str, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    # What an objective must take.
    ranked = True

    def __post_init__(self) -> None:
        require_positive("size", self.size)
        require_positive("candidates", self.candidates)
        if self.hypernyms < 0:
            refuse("hypernyms", self.hypernyms, "at least 0")
        if self.lexical is not None and not is_sparse(self.lexical):
            refuse("lexical", self.lexical.name, "an encoder of n-grams, e.g. NgramEncoder.v1")

    def batches(
        self, pool: SynonymPool, *, seed: int, epoch: int, vectors: Ranking
    ) -> list[RankedRows]:
        """Draw the batches of an epoch, about equally full and as many in each; see `Batcher`.

        pool (SynonymPool): What to draw from.
        seed (int): Of the training, 0 or more.
        epoch (int): Its number, 0 or more.
        vectors (Ranking): Compares texts with the encoder as it is.
        RETURNS (List[RankedRows]): The batches.
        RAISES (ConnormError): CN831 if no mention has a concept with a name.
        """
        hierarchy = Hierarchy(pool)
        mentions = [row for row in pool.mentions.tolist() if hierarchy.has_name(row)]
        if not mentions:
            raise ConnormError(Errors.CN831.format(count=len(pool.mentions)))
        if self.hypernyms and epoch == 0 and not any(pool.parents):
            warn(Warnings.CNW830)
        order = np.random.default_rng((seed, epoch)).permutation(mentions)
        candidates, lexical = self._find_candidates(pool, order, vectors)
        relevance = [
            hierarchy.relevances(*each)
            for each in zip(order.tolist(), candidates.tolist(), strict=True)
        ]
        hypernyms = np.full((len(order), self.hypernyms), -1)
        for own, row in zip(hypernyms, order.tolist(), strict=True):
            found = hierarchy.hypernyms(row, most=self.hypernyms)
            own[: len(found)] = found
        columns = (order, candidates, np.asarray(relevance, dtype="int64"), lexical, hypernyms)
        count = -(-len(order) // self.size)
        parts = zip(*(np.array_split(column, count) for column in columns), strict=True)
        return [_batch(*part) for part in parts]

    def _find_candidates(
        self, pool: SynonymPool, mentions: np.ndarray, ranking: Ranking
    ) -> tuple[np.ndarray, np.ndarray]:
        """The rows of the candidates of each mention, and their lexical cosines."""
        names = pool.names.astype("int64")
        own, others = _dense(mentions, names, ranking)
        ngrams = self._ngrams_of(pool)
        ngrams, ngrams_of_names = ngrams[mentions], ngrams[names].T.tocsr()
        count = min(self.candidates, len(names))
        candidates = np.empty((len(mentions), count), dtype="int64")
        lexical = np.empty((len(mentions), count), dtype="float32")
        at_once = max(1, _COMPARED_AT_ONCE // len(names))
        for start in range(0, len(mentions), at_once):
            part = slice(start, start + at_once)
            cosines = (ngrams[part] @ ngrams_of_names).toarray()
            chosen = best(own[part] @ others.T + ranking.lexical_weight * cosines, count)
            candidates[part] = names[chosen]
            lexical[part] = np.take_along_axis(cosines, chosen, axis=1)
        return candidates, lexical

    def _ngrams_of(self, pool: SynonymPool) -> Any:
        """The n-gram vectors of all texts, scaled to unit length: CSR, float32."""
        from sklearn.preprocessing import normalize

        digest = pool.digest()
        if digest not in self._ngrams:
            self._ngrams.clear()
            encoder = NgramEncoder() if self.lexical is None else replica(self.lexical)
            encoder.initialize(X=pool.texts)
            self._ngrams[digest] = normalize(encoder.predict(pool.texts))
        return self._ngrams[digest]


def _dense(
    mentions: np.ndarray, names: np.ndarray, ranking: Ranking
) -> tuple[np.ndarray, np.ndarray]:
    """The vectors of mentions and of names, as they are compared."""
    rows = distinct(np.concatenate([mentions, names]))
    vectors = ranking(rows)
    if ranking.normalized:
        vectors = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    return vectors[np.searchsorted(rows, mentions)], vectors[np.searchsorted(rows, names)]


def _batch(
    mentions: np.ndarray,
    candidates: np.ndarray,
    relevance: np.ndarray,
    lexical: np.ndarray,
    hypernyms: np.ndarray,
) -> RankedRows:
    """Rows of the pool as places in a batch."""
    there = hypernyms >= 0
    rows = distinct(np.concatenate([mentions, candidates.ravel(), hypernyms[there]]))
    places = np.searchsorted(rows, hypernyms)
    return RankedRows(
        rows,
        np.searchsorted(rows, mentions),
        np.searchsorted(rows, candidates),
        relevance,
        lexical,
        np.where(there, places, -1),
    )
