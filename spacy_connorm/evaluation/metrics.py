"""The gold standard of a corpus in terms of a pipeline's index, and which answers are right: by the
lenient protocol of BioSyn, and by the strict one.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..concepts import NIL, Candidate
from ..concepts.concept import by_part
from ..documents.mentions import Mention, split_ids
from ..encoders.raw import unit_rows
from ..errors import Warnings, quote_id
from ..linker.lookup import ConceptLookup
from ..text.cleaning import clean

NOWHERE = 0


class KnownConcept(NamedTuple):
    """A concept in an index.

    concept_id (str): Its id there.
    name (str): Its preferred name.
    in_ontology (bool): False if it is only in annotated data.
    """

    concept_id: str
    name: str
    in_ontology: bool


class Gold(NamedTuple):
    """The gold standard of a mention.

    text (str): The mention.
    concept_ids (FrozenSet[str]): Its concepts, by their ids in the index; empty if there is none
        (NIL). Ids that are not in the index are kept, and no answer matches them.
    in_ontology (bool): Whether one of them is in the ontology.
    seen (Optional[bool]): Whether the text occurs in D; None if D is unknown.
    """

    text: str
    concept_ids: frozenset[str]
    in_ontology: bool
    seen: bool | None = None


class Prediction(NamedTuple):
    """A pipeline's answer to a mention.

    candidates (Sequence[Candidate]): Best first; for a split composite, part by part.
    written (str): The id that it writes: the first candidate's, or "NIL". The ids of a composite's
        parts are joined by `|`; parts that are NIL are left out.
    """

    candidates: Sequence[Candidate]
    written: str

    @property
    def written_ids(self) -> frozenset[str]:
        """The ids that it writes; empty for "NIL"."""
        return frozenset(split_ids(self.written))


def read_gold(
    mention: Mention, known: Mapping[str, KnownConcept], *, seen: bool | None = None
) -> Gold:
    """Read the gold standard of a mention: its ids split on `|` and `+`, alternate ids replaced.

    mention (Mention): The annotated mention.
    known (Mapping[str, KnownConcept]): The concepts by all ids that the gold standard may use.
    seen (Optional[bool]): Whether its text occurs in D; None if D is unknown.
    RETURNS (Gold): Its gold standard.
    """
    concepts = {gold_id: known.get(gold_id) for gold_id in mention.concept_ids}
    return Gold(
        mention.text,
        frozenset(found.concept_id if found else own_id for own_id, found in concepts.items()),
        in_ontology=any(found.in_ontology for found in concepts.values() if found),
        seen=seen,
    )


def find_known(lookup: ConceptLookup, mentions: Iterable[Mention]) -> dict[str, KnownConcept]:
    """Find the concepts of gold ids in the index, by id or alternate id.

    lookup (ConceptLookup): The lookup with the index.
    mentions (Iterable[Mention]): The mentions.
    RETURNS (Dict[str, KnownConcept]): The concepts by gold id, without ids that are not in the
        index.
    """
    store = lookup.index.store
    gold_ids = dict.fromkeys(gold_id for mention in mentions for gold_id in mention.concept_ids)
    numbers = {gold_id: store.number(gold_id) for gold_id in gold_ids}
    known = {gold_id: number for gold_id, number in numbers.items() if number is not None}
    labels = store.labels(known.values())
    return {
        gold_id: KnownConcept(*labels[number], in_ontology=store.in_ontology(number))
        for gold_id, number in known.items()
    }


def read_all_gold(lookup: ConceptLookup, mentions: Sequence[Mention]) -> list[Gold]:
    """Read the gold standard of mentions. A mention is seen if D has its text; texts that the
    encoder cannot distinguish are the same.

    lookup (ConceptLookup): The lookup with the encoder, and the index with D.
    mentions (Sequence[Mention]): The mentions.
    RETURNS (List[Gold]): One per mention.
    """
    known = find_known(lookup, mentions)
    texts = [clean(mention.text) for mention in mentions]
    seen = lookup.retriever.find_known_texts(texts, "D")
    return [
        read_gold(mention, known, seen=text in seen)
        for mention, text in zip(mentions, texts, strict=True)
    ]


def warn_of_unknown_ids(mentions: Iterable[Mention], path: Path, *, example: str) -> None:
    """Warn that no gold id is known, so that every answer will count as wrong.

    mentions (Iterable[Mention]): The mentions, at least one with a gold id.
    path (Path): Their corpus.
    example (str): A known id.
    WARNS (ConnormWarning): CNW600.
    """
    gold_ids = dict.fromkeys(gold_id for mention in mentions for gold_id in mention.concept_ids)
    first, known = quote_id(next(iter(gold_ids))), quote_id(example)
    Warnings.CNW600.warn(path=path, count=len(gold_ids), first=first, example=known)


def lenient_rank(candidates: Sequence[Candidate], gold: Gold) -> int:
    """Rank the right answer as in BioSyn, whose dictionary entries are texts with all of their
    concepts. A candidate is right if it is any of the gold concepts, and candidates with equal
    scores share a rank, since they belong to one text. So a mention is right at k if any of the
    first k candidates is right, or any that ties with the k-th; a split composite is right if each
    part is. NIL does not matter.

    candidates (Sequence[Candidate]): Best first, part by part.
    gold (Gold): The gold standard.
    RETURNS (int): The rank, from 1, of the worst part; 0 if a part has no right candidate.
    """
    ranks = [_lenient_rank(part, gold) for part in by_part(candidates)]
    return max(ranks) if ranks and NOWHERE not in ranks else NOWHERE


def _lenient_rank(candidates: Sequence[Candidate], gold: Gold) -> int:
    right = (
        candidate.score for candidate in candidates if candidate.concept_id in gold.concept_ids
    )
    score = next(right, None)
    if score is None:
        return NOWHERE
    return 1 + sum(candidate.score > score for candidate in candidates)


def strict_rank(prediction: Prediction, gold: Gold) -> int:
    """Rank the right answer among single ids: first the written one, then those that would be
    written next, with ties broken as in the index. The answer is right if its set of ids equals the
    gold standard's. For a split composite, an answer is one candidate of each part, and its rank is
    the worst rank of these. Parts that are NIL give no answer, and a mention with only such parts
    has no answer.

    prediction (Prediction): The pipeline's answer.
    gold (Gold): The gold standard.
    RETURNS (int): The rank, from 1, of the first right answer; 0 if there is none.
    """
    written = [
        {
            candidate.concept_id: place
            for place, candidate in enumerate(part, start=1)
            if candidate.concept_id in gold.concept_ids
        }
        for part in by_part(prediction.candidates)
        if part[0].concept_id in prediction.written_ids
    ]
    places = sorted({place for part in written for place in part.values()})
    return next((place for place in places if _is_answered(written, gold, place)), NOWHERE)


def _is_answered(parts: Sequence[Mapping[str, int]], gold: Gold, last: int) -> bool:
    """Check whether a right candidate ranked up to `last` can be chosen for each part, so that
    together they are the whole gold standard.
    """
    reached = [
        {concept_id for concept_id, place in part.items() if place <= last} for part in parts
    ]
    if not all(reached) or len(gold.concept_ids) > len(parts):
        return False
    if len(parts) == 1:
        return True
    # Match each gold concept with a different part; the other parts may repeat any of them.
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import maximum_bipartite_matching

    meets = [[concept_id in part for part in reached] for concept_id in sorted(gold.concept_ids)]
    matched = maximum_bipartite_matching(csr_matrix(meets), perm_type="column")
    return bool((matched >= 0).all())


# The number of cosines in memory at once.
_COMPARED_AT_ONCE = 2**24
ALL, IN_ONTOLOGY, SEEN, UNSEEN = "all", "in_ontology", "seen", "unseen"


class Ranks(NamedTuple):
    """Ranks of the right answers, under both protocols.

    lenient (Ints1d): int64 (n,), from 1; 0 if there is no right answer.
    strict (Ints1d): int64 (n,), likewise.
    """

    lenient: np.ndarray
    strict: np.ndarray


class NilScore(NamedTuple):
    """How well mentions without a concept are recognized, 0 to 1; None if there is nothing to
    count.

    mentions (int): Mentions without a gold id.
    precision (Optional[float]): The share of mentions without a gold id among those answered NIL.
    recall (Optional[float]): The share of mentions answered NIL among those without a gold id.
    f1 (Optional[float]): The harmonic mean of the two.
    """

    mentions: int
    precision: float | None
    recall: float | None
    f1: float | None


class Evaluation(NamedTuple):
    """The scores of a run.

    ranks (Dict[str, Ranks]): By group of mentions with a gold id: "all"; "in_ontology", with an id
        in the ontology; and, if D is known, "seen", with a text in D, and "unseen".
    nil (NilScore): NIL scores over all mentions.
    """

    ranks: dict[str, Ranks]
    nil: NilScore


def score_predictions(gold: Sequence[Gold], predictions: Sequence[Prediction]) -> Evaluation:
    """Score a run.

    gold (Sequence[Gold]): The gold standard of n mentions.
    predictions (Sequence[Prediction]): The pipeline's answers to them.
    RETURNS (Evaluation): The ranks of the right answers, and NIL scores.
    """
    linked = [(g, p) for g, p in zip(gold, predictions, strict=True) if g.concept_ids]
    lenient = [lenient_rank(prediction.candidates, mention) for mention, prediction in linked]
    strict = [strict_rank(prediction, mention) for mention, prediction in linked]
    ranks = Ranks(np.asarray(lenient, dtype="int64"), np.asarray(strict, dtype="int64"))
    groups = {
        name: Ranks(ranks.lenient[mask], ranks.strict[mask])
        for name, mask in _groups([mention for mention, _ in linked]).items()
    }
    return Evaluation(groups, nil_score(gold, predictions))


def _groups(gold: Sequence[Gold]) -> dict[str, np.ndarray]:
    groups = {
        ALL: np.ones(len(gold), dtype="bool"),
        IN_ONTOLOGY: np.asarray([mention.in_ontology for mention in gold], dtype="bool"),
    }
    if all(mention.seen is not None for mention in gold):
        groups[SEEN] = np.asarray([mention.seen for mention in gold], dtype="bool")
        groups[UNSEEN] = ~groups[SEEN]
    return groups


def hits(ranks: np.ndarray, k: int) -> np.ndarray:
    """Mark the mentions with a right answer among the first k; the mean is Acc@k.

    ranks (Ints1d): int64 (n,), from 1; 0 without a right answer.
    k (int): The number of answers that count.
    RETURNS (Floats1d): float64 (n,), 1.0 or 0.0.
    """
    return ((ranks != NOWHERE) & (ranks <= k)).astype("float64")


def reciprocals(ranks: np.ndarray) -> np.ndarray:
    """Compute reciprocal ranks; the mean is MRR.

    ranks (Ints1d): int64 (n,), from 1; 0 without a right answer.
    RETURNS (Floats1d): float64 (n,), 1 / rank; 0.0 without a right answer.
    """
    return np.where(ranks != NOWHERE, 1 / np.maximum(ranks, 1), 0.0)


def mean(values: np.ndarray) -> float | None:
    """Average values.

    values (Floats1d): (n,).
    RETURNS (Optional[float]): The mean; None if there are no values.
    """
    return float(values.mean()) if len(values) else None


def nil_score(gold: Sequence[Gold], predictions: Sequence[Prediction]) -> NilScore:
    """Score NIL, which is right for mentions without any gold id. A gold id that is not in the
    ontology is not NIL.

    gold (Sequence[Gold]): The gold standard of n mentions.
    predictions (Sequence[Prediction]): The pipeline's answers to them.
    RETURNS (NilScore): The scores.
    """
    right = np.asarray([not mention.concept_ids for mention in gold], dtype="bool")
    written = np.asarray([prediction.written == NIL for prediction in predictions], dtype="bool")
    both = int(np.count_nonzero(right & written))
    relevant, answered = int(right.sum()), int(written.sum())
    return NilScore(
        mentions=relevant,
        precision=both / answered if answered else None,
        recall=both / relevant if relevant else None,
        f1=2 * both / (relevant + answered) if relevant + answered else None,
    )


RESAMPLES = 10_000
LEVEL = 0.95
SEED = 0


class Interval(NamedTuple):
    """The middle 95 % of the means of the resamples.

    low (float): The lower end.
    high (float): The upper end.
    """

    low: float
    high: float


class Comparison(NamedTuple):
    """The difference between the means of two runs over the same mentions.

    difference (float): The first mean minus the second.
    interval (Interval): The interval of the difference.
    p (float): The two-sided p value.
    """

    difference: float
    interval: Interval
    p: float


def bootstrap(values: np.ndarray) -> Interval:
    """Compute the percentile interval of a mean.

    values (Floats1d): (n,) one per mention, at least one.
    RETURNS (Interval): The interval.
    """
    return middle(_resampled_means(values))


def paired_bootstrap(one: np.ndarray, other: np.ndarray) -> Comparison:
    """Compare two runs over the same mentions, which are resampled together.

    one (Floats1d): (n,) the values of the first run, at least one.
    other (Floats1d): (n,) the values of the second run, in the same order.
    RETURNS (Comparison): The difference of the means, its interval and p.
    """
    differences = one - other
    means = _resampled_means(differences)
    tail = min(np.count_nonzero(means <= 0), np.count_nonzero(means >= 0))
    return Comparison(
        difference=float(differences.mean()),
        interval=middle(means),
        p=min(1.0, 2 * (int(tail) + 1) / (RESAMPLES + 1)),
    )


def _resampled_means(values: np.ndarray) -> np.ndarray:
    # The mean of a resample depends only on how often it has each distinct value, and there are
    # few.
    distinct, counts = np.unique(values, return_counts=True)
    draws = np.random.default_rng(SEED).multinomial(
        len(values), counts / len(values), size=RESAMPLES
    )
    return draws @ distinct / len(values)


def middle(means: np.ndarray) -> Interval:
    """Find the middle 95 % of the means of resamples.

    means (Floats1d): (n,) one per resample.
    RETURNS (Interval): From the 2.5th to the 97.5th percentile.
    """
    low, high = np.quantile(means, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Interval(float(low), float(high))


class RetrievalScores(NamedTuple):
    """Means over the queries, 0 to 1 (Fivez et al. 2021, section 5.1).

    map (float): Mean average precision, over the names of the query's concept.
    accuracy (float): The share of queries whose first name is one of these.
    mrr (float): The mean reciprocal rank of the first of these.
    """

    map: float
    accuracy: float
    mrr: float


def score_retrieval(
    queries: np.ndarray,
    names: np.ndarray,
    relevant: Sequence[np.ndarray],
    *,
    itself: np.ndarray | None = None,
) -> RetrievalScores:
    """Rank all names by their cosine with each query, block by block; see `relevant_ranks`.

    queries (Floats2d): float32 (q, width), of any length.
    names (Floats2d): float32 (n, width), of any length.
    relevant (Sequence[Ints1d]): For each query, the names to find, at least one, each once.
    itself (Optional[Ints1d]): int64 (q,), the position of the query itself among the names, which
        is left out.
    RETURNS (RetrievalScores): The scores.
    """
    queries, names = unit_rows(queries), unit_rows(names)
    averages, ranks = np.zeros(len(queries)), np.zeros(len(queries), dtype="int64")
    at_once = max(1, _COMPARED_AT_ONCE // max(len(names), 1))
    for start in range(0, len(queries), at_once):
        block = queries[start : start + at_once] @ names.T
        for place, cosines in enumerate(block, start=start):
            if itself is not None:
                cosines[itself[place]] = -np.inf
            name_ranks = relevant_ranks(cosines, relevant[place])
            # The mean, over the names to find, of the share of them up to there.
            averages[place] = np.mean(np.arange(1, len(name_ranks) + 1) / name_ranks)
            ranks[place] = name_ranks[0]
    return RetrievalScores(
        float(averages.mean()), float((ranks == 1).mean()), float((1 / ranks).mean())
    )


def relevant_ranks(scores: np.ndarray, relevant: np.ndarray) -> np.ndarray:
    """Rank names by their scores. A name that ties with a relevant one ranks before it, so ties
    earn nothing.

    scores (Floats1d): (n,), the scores of all names.
    relevant (Ints1d): (k,), the positions of the names to find.
    RETURNS (Ints1d): int64 (k,), their ranks, ascending, from 1.
    """
    wanted = np.sort(scores[relevant])[::-1]
    others = np.delete(scores, relevant)
    # There are few relevant names among many others, so nothing is sorted.
    before = np.array([np.count_nonzero(others >= score) for score in wanted])
    return before + np.arange(1, len(wanted) + 1)
