import pytest

from spacy_connorm.concepts import NIL, Candidate
from spacy_connorm.evaluation.protocol import (
    Gold,
    Known,
    Prediction,
    lenient_rank,
    read_gold,
    strict_rank,
)
from spacy_connorm.mentions import Mention

KNOWN = {
    "C1": Known("C1", "one", in_ontology=True),
    "C1-OLD": Known("C1", "one", in_ontology=True),
    "D9": Known("D9", "only in data", in_ontology=False),
}


def candidates(*answers):
    return [Candidate(concept, concept, score, "text", "O-T") for concept, score in answers]


def gold(*concept_ids):
    return Gold("mention", frozenset(concept_ids), in_ontology=True)


def annotated(kb_id):
    return Mention("mention", "Disease", kb_id, ((0, 7),))


def predict(found, *, written=None):
    return Prediction(found, written or (found[0].concept_id if found else NIL))


@pytest.mark.parametrize(
    ("kb_id", "concept_ids", "in_ontology"),
    [
        ("C1", {"C1"}, True),
        ("C1-OLD", {"C1"}, True),
        ("C1|C1-OLD", {"C1"}, True),
        ("C1+D9", {"C1", "D9"}, True),
        ("C7|-1|C1", {"C1", "C7"}, True),
        ("D9", {"D9"}, False),
        ("C7", {"C7"}, False),
        ("-1", set(), False),
        ("", set(), False),
    ],
)
def test_gold_ids_are_split_and_alternate_ones_replaced(kb_id, concept_ids, in_ontology):
    read = read_gold(annotated(kb_id), KNOWN, seen=True)
    assert read == Gold("mention", frozenset(concept_ids), in_ontology, seen=True)


def test_without_d_nobody_knows_what_is_seen():
    assert read_gold(annotated("C1"), KNOWN).seen is None


@pytest.mark.parametrize(
    ("answers", "right", "lenient", "strict"),
    [
        # the first
        ([("A", 0.9), ("B", 0.8)], {"A"}, 1, 1),
        # a tie with the first: one text with two concepts
        ([("A", 0.9), ("B", 0.9), ("C", 0.8)], {"B"}, 1, 2),
        # behind a tie: two candidates score better, so the third place in both
        ([("A", 0.9), ("B", 0.9), ("C", 0.8)], {"C"}, 3, 3),
        # in a tie that begins on the second place
        ([("A", 0.9), ("B", 0.8), ("C", 0.8), ("D", 0.8)], {"D"}, 2, 4),
        # composites: any part is lenient, no single id is all of it
        ([("A", 0.9), ("B", 0.8)], {"B", "C"}, 2, 0),
        ([("A", 0.9), ("B", 0.8)], {"A", "B"}, 1, 0),
        # not found, and nothing found
        ([("A", 0.9)], {"Z"}, 0, 0),
        ([], {"A"}, 0, 0),
    ],
)
def test_ranks_by_hand(answers, right, lenient, strict):
    found = candidates(*answers)
    assert lenient_rank(found, gold(*right)) == lenient
    assert strict_rank(predict(found), gold(*right)) == strict


def test_who_writes_nil_answers_nothing_strictly():
    found = candidates(("A", 0.3))
    assert strict_rank(predict(found, written=NIL), gold("A")) == 0
    assert lenient_rank(found, gold("A")) == 1
