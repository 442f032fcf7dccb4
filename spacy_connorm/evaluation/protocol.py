"""Which answers are right: leniently, as papers count, and strictly (design section 7)."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from ..concepts import NIL, Candidate
from ..mentions import Mention

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

    candidates (Sequence[Candidate]): Best first.
    written (str): The id that it writes: the first candidate's, or "NIL".
    """

    candidates: Sequence[Candidate]
    written: str


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
    first k candidates is, or any that ties with the k-th. What the pipeline makes of the scores
    (NIL) does not matter.

    candidates (Sequence[Candidate]): Best first.
    gold (Gold): What is right.
    RETURNS (int): The place, from 1; 0 if no candidate is right.
    """
    right = _first(candidates, lambda candidate: candidate.concept_id in gold.concept_ids)
    if right == NOWHERE:
        return NOWHERE
    score = candidates[right - 1].score
    return 1 + sum(candidate.score > score for candidate in candidates)


def strict_rank(prediction: Prediction, gold: Gold) -> int:
    """Find the right answer among ids of which each stands alone: the one that the pipeline writes
    first, those it would write next after it, ties broken as in the index. An id is right if it is
    all of the gold standard, so a composite of several concepts is never answered in full. A
    pipeline that writes NIL answers nothing.

    prediction (Prediction): What the pipeline says.
    gold (Gold): What is right.
    RETURNS (int): The place, from 1; 0 if no candidate is right.
    """
    if prediction.written == NIL:
        return NOWHERE
    return _first(
        prediction.candidates, lambda candidate: {candidate.concept_id} == gold.concept_ids
    )


def _first(candidates: Sequence[Candidate], is_right: Callable[[Candidate], bool]) -> int:
    places = (place for place, each in enumerate(candidates, start=1) if is_right(each))
    return next(places, NOWHERE)
