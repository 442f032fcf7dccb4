"""The gold standard of a corpus, seen from the index of a pipeline, and which answers are right: by
the lenient protocol of BioSyn, and by the strict one.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ..concepts import Candidate
from ..documents.mentions import Mention, split_ids
from ..errors import Warnings, quote_id, warn
from ..text.cleaning import clean

if TYPE_CHECKING:
    from ..linker.lookup import ConceptLookup

NOWHERE = 0


class KnownConcept(NamedTuple):
    """A concept of an index.

    concept_id (str): Its id there.
    name (str): Its preferred name.
    in_ontology (bool): False if only annotated data has it.
    """

    concept_id: str
    name: str
    in_ontology: bool


class Gold(NamedTuple):
    """The gold standard of a mention.

    text (str): The mention.
    concept_ids (FrozenSet[str]): Its concepts, by their ids in the index; empty if there is none
        (NIL). Ids that the index lacks are kept, and no answer matches them.
    in_ontology (bool): Whether one of them is in the ontology.
    seen (Optional[bool]): Whether the text occurs in D; None if D is unknown.
    """

    text: str
    concept_ids: frozenset[str]
    in_ontology: bool
    seen: bool | None = None


class Prediction(NamedTuple):
    """A pipeline's answer to a mention.

    candidates (Sequence[Candidate]): Best first; of a split composite part by part.
    written (str): The id that it writes: the first candidate's, or "NIL". Ids of a composite's
        parts are joined by `|`; parts that are NIL are left out.
    """

    candidates: Sequence[Candidate]
    written: str

    @property
    def written_ids(self) -> frozenset[str]:
        """The ids that it writes; empty for "NIL"."""
        return frozenset(split_ids(self.written))


def by_part(candidates: Sequence[Candidate]) -> list[list[Candidate]]:
    """Separate the candidates of a mention's parts.

    candidates (Sequence[Candidate]): Best first, part by part.
    RETURNS (List[List[Candidate]]): One list per part, best first: one for a mention that was
        searched as a whole, none for a mention without candidates.
    """
    return [list(alike) for _, alike in groupby(candidates, key=lambda each: each.part)]


def read_gold(
    mention: Mention, known: Mapping[str, KnownConcept], *, seen: bool | None = None
) -> Gold:
    """Read the gold standard of a mention: its ids split on `|` and `+`, alternate ids replaced.

    mention (Mention): The annotated mention.
    known (Mapping[str, KnownConcept]): The concepts by all ids that the gold standard may use.
    seen (Optional[bool]): Whether its text occurs in D; None if D is unknown.
    RETURNS (Gold): Its gold standard.
    """
    found = {gold_id: known[gold_id] for gold_id in mention.concept_ids if gold_id in known}
    return Gold(
        text=mention.text,
        concept_ids=frozenset(
            found[gold_id].concept_id if gold_id in found else gold_id
            for gold_id in mention.concept_ids
        ),
        in_ontology=any(concept.in_ontology for concept in found.values()),
        seen=seen,
    )


def find_known(lookup: "ConceptLookup", mentions: Iterable[Mention]) -> dict[str, KnownConcept]:
    """Find the concepts of gold ids in the index, by id or alternate id.

    lookup (ConceptLookup): Has the index.
    mentions (Iterable[Mention]): The mentions.
    RETURNS (Dict[str, KnownConcept]): The concepts by gold id, without ids that the index lacks.
    """
    store = lookup.index.store
    gold_ids = dict.fromkeys(each for mention in mentions for each in mention.concept_ids)
    numbers = {gold_id: store.number(gold_id) for gold_id in gold_ids}
    found = {gold_id: number for gold_id, number in numbers.items() if number is not None}
    labels = store.labels(found.values())
    return {
        gold_id: KnownConcept(*labels[number], in_ontology=store.in_ontology(number))
        for gold_id, number in found.items()
    }


def read_all_gold(lookup: "ConceptLookup", mentions: Sequence[Mention]) -> list[Gold]:
    """Read the gold standard of mentions. A mention is seen if D has its text; texts that the
    encoder cannot tell apart are the same.

    lookup (ConceptLookup): Has the encoder, and the index with D.
    mentions (Sequence[Mention]): The mentions.
    RETURNS (List[Gold]): One per mention.
    """
    known = find_known(lookup, mentions)
    texts = [clean(mention.text) for mention in mentions]
    seen = lookup.retriever.held(texts, "D")
    return [
        read_gold(mention, known, seen=text in seen)
        for mention, text in zip(mentions, texts, strict=True)
    ]


def warn_of_unknown_ids(mentions: Iterable[Mention], path: Path, *, example: str) -> None:
    """Warn that no gold id is known, so that every answer will count as wrong.

    mentions (Iterable[Mention]): The mentions, at least one with a gold id.
    path (Path): Their corpus.
    example (str): An id that is known.
    WARNS (ConnormWarning): CNW600.
    """
    gold_ids = dict.fromkeys(each for mention in mentions for each in mention.concept_ids)
    first, count = quote_id(next(iter(gold_ids))), len(gold_ids)
    example = quote_id(example)
    warn(Warnings.CNW600.format(path=path, count=count, first=first, example=example))


def lenient_rank(candidates: Sequence[Candidate], gold: Gold) -> int:
    """Rank the right answer as BioSyn does, whose dictionary entries are texts with all of their
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
    right = (each.score for each in candidates if each.concept_id in gold.concept_ids)
    score = next(right, None)
    if score is None:
        return NOWHERE
    return 1 + sum(candidate.score > score for candidate in candidates)


def strict_rank(prediction: Prediction, gold: Gold) -> int:
    """Rank the right answer among single ids: first the written one, then those that would be
    written next, ties broken as in the index. The answer is right if its set of ids equals the gold
    standard's. For a split composite, an answer is one candidate of each part, and its rank is the
    worst rank of these. Parts that are NIL answer nothing, and a mention with only such parts has
    no answer.

    prediction (Prediction): The pipeline's answer.
    gold (Gold): The gold standard.
    RETURNS (int): The rank, from 1, of the first right answer; 0 if there is none.
    """
    written = [
        {
            each.concept_id: place
            for place, each in enumerate(part, start=1)
            if each.concept_id in gold.concept_ids
        }
        for part in by_part(prediction.candidates)
        if part[0].concept_id in prediction.written_ids
    ]
    places = sorted({place for part in written for place in part.values()})
    return next((place for place in places if _is_answered(written, gold, place)), NOWHERE)


def _is_answered(parts: Sequence[Mapping[str, int]], gold: Gold, last: int) -> bool:
    """Tell whether one right candidate of each part can be chosen, none ranked after
    `last`, so that together they are the whole gold standard.
    """
    reached = [{each for each, place in part.items() if place <= last} for part in parts]
    if not all(reached) or len(gold.concept_ids) > len(parts):
        return False
    if len(parts) == 1:
        return True
    # Match each gold concept with a part of its own; the other parts may repeat any of them.
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import maximum_bipartite_matching

    meets = [[each in part for part in reached] for each in sorted(gold.concept_ids)]
    matched = maximum_bipartite_matching(csr_matrix(meets), perm_type="column")
    return bool((matched >= 0).all())
