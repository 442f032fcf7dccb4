"""Which answers are right: leniently, as papers count, and strictly (design section 7)."""

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

from ..annotations.mentions import Mention, split_ids
from ..concepts import Candidate

NOWHERE = 0


class Known(NamedTuple):
    """A concept that an index knows.

    concept_id (str): Its id there.
    name (str): Its preferred name.
    in_ontology (bool): False if only annotated data has it.
    """

    concept_id: str
    name: str
    in_ontology: bool


class Gold(NamedTuple):
    """What the annotators say of a mention.

    text (str): The mention.
    concept_ids (FrozenSet[str]): Its concepts, under the ids that they have in the index; empty
        if there is none (NIL). An id that nobody knows stands as it is, and no answer meets it.
    in_ontology (bool): Whether one of them is in the ontology.
    seen (Optional[bool]): Whether the text occurs in D; None if that is not known.
    """

    text: str
    concept_ids: frozenset[str]
    in_ontology: bool
    seen: bool | None = None


class Prediction(NamedTuple):
    """What a pipeline says of a mention.

    candidates (Sequence[Candidate]): Best first; those of a composite that was split part by part.
    written (str): The id that it writes: the first candidate's, or "NIL". Those of the parts of a
        composite are joined by `|`, without parts that are NIL.
    """

    candidates: Sequence[Candidate]
    written: str

    @property
    def written_ids(self) -> frozenset[str]:
        """RETURNS (FrozenSet[str]): The ids that it writes; empty for "NIL"."""
        return frozenset(split_ids(self.written))


def by_part(candidates: Sequence[Candidate]) -> list[list[Candidate]]:
    """RETURNS (List[List[Candidate]]): The candidates of each part of a mention, best first: one
    list for a mention that was looked up whole, none for a mention without candidates.
    """
    return [list(alike) for _, alike in groupby(candidates, key=lambda each: each.part)]


def read_gold(mention: Mention, known: Mapping[str, Known], *, seen: bool | None = None) -> Gold:
    """Read the gold standard of a mention: its ids split on `|` and `+`, alternate ids replaced.

    mention (Mention): As annotated.
    known (Mapping[str, Known]): The concepts by any id that the gold standard may use.
    seen (Optional[bool]): Whether its text occurs in D; None if that is not known.
    RETURNS (Gold): What is right.
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


def lenient_rank(candidates: Sequence[Candidate], gold: Gold) -> int:
    """Find the right answer as BioSyn does, where a dictionary entry is a text with all of its
    concepts: a candidate is right if it is any of the gold concepts, and candidates of one score
    stand on one place, since they belong to one text. So a mention is right at k if any of the
    first k candidates is, or any that ties with the k-th; a composite that was split is if each of
    its parts is. What the pipeline makes of the scores (NIL) does not matter.

    candidates (Sequence[Candidate]): Best first, part by part.
    gold (Gold): What is right.
    RETURNS (int): The place, from 1, of the part that is worst off; 0 if a part has no right
        candidate.
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
    """Find the right answer among ids of which each stands alone: the ones that the pipeline writes
    first, those it would write next after them, ties broken as in the index. What is written is
    right if its set of ids is the gold standard's. Of a composite that was split, an answer is one
    candidate of each part, and its place is that of the candidate that stands last in its part. A
    part that is NIL answers nothing, and a mention whose parts all are has no answer.

    prediction (Prediction): What the pipeline says.
    gold (Gold): What is right.
    RETURNS (int): The place, from 1, of the first right answer; 0 if there is none.
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
    """RETURNS (bool): Whether one right candidate of each part, none behind the last place, can be
    chosen so that together they are all of the gold standard.
    """
    reached = [{each for each, place in part.items() if place <= last} for part in parts]
    if not all(reached) or len(gold.concept_ids) > len(parts):
        return False
    if len(parts) == 1:
        return True
    # A part of its own for each gold concept: the parts left over may repeat any of them.
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import maximum_bipartite_matching

    meets = [[each in part for part in reached] for each in sorted(gold.concept_ids)]
    matched = maximum_bipartite_matching(csr_matrix(meets), perm_type="column")
    return bool((matched >= 0).all())
