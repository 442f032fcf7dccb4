from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_connorm.concepts import NIL, Candidate
from spacy_connorm.documents.mentions import Mention
from spacy_connorm.evaluation.protocol import (
    Gold,
    KnownConcept,
    Prediction,
    by_part,
    lenient_rank,
    read_gold,
    strict_rank,
)

KNOWN = {
    "C1": KnownConcept("C1", "one", in_ontology=True),
    "C1-OLD": KnownConcept("C1", "one", in_ontology=True),
    "D9": KnownConcept("D9", "only in data", in_ontology=False),
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
        ("CUI-less", set(), False),
        ("C1|CUI-less", {"C1"}, True),
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
        # composites looked up whole: any concept is lenient, no single id is all of them
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


def parts(*lists):
    """Candidates of a split mention, from the ids and scores of each part."""
    return [
        Candidate(concept, concept, score, "text", "O-T", part=number)
        for number, answers in enumerate(lists, start=1)
        for concept, score in answers
    ]


@pytest.mark.parametrize(
    ("lists", "right", "written", "lenient", "strict"),
    [
        # every part right at once
        ([[("A", 0.9)], [("B", 0.8)]], "AB", "A|B", 1, 1),
        # the place of the part that is worst off
        ([[("A", 0.9)], [("X", 0.8), ("B", 0.7)]], "AB", "A|X", 2, 2),
        # a tie: lenient on the first place, strict by the order of the index
        ([[("A", 0.9)], [("X", 0.8), ("B", 0.8)]], "AB", "A|X", 1, 2),
        # each part meets the gold standard, but together they do not cover it
        ([[("A", 0.9)], [("A", 0.8), ("B", 0.7)]], "AB", "A", 1, 2),
        ([[("A", 0.9)], [("A", 0.8)]], "AB", "A", 1, 0),
        # one concept of which two parts speak
        ([[("A", 0.9)], [("A", 0.8)]], "A", "A", 1, 1),
        ([[("A", 0.9)], [("X", 0.9)]], "A", "A|X", 0, 0),
        # a part too few, a part too many
        ([[("A", 0.9)], [("B", 0.8)]], "ABC", "A|B", 1, 0),
        ([[("A", 0.9)], [("B", 0.8)], [("X", 0.8)]], "AB", "A|B|X", 0, 0),
        # three parts, of which the greedy choice for the first would leave none for the second
        (
            [[("A", 0.9), ("B", 0.8)], [("A", 0.9)], [("C", 0.9), ("B", 0.8)]],
            "ABC",
            "A|C",
            1,
            2,
        ),
        # a part that is NIL answers nothing strictly; leniently it counts as what it finds
        ([[("A", 0.9)], [("B", 0.1)]], "AB", "A", 1, 0),
        ([[("A", 0.9)], [("X", 0.1)]], "A", "A", 0, 1),
        ([[("A", 0.2)], [("B", 0.1)]], "AB", NIL, 1, 0),
    ],
)
def test_ranks_of_split_mentions_by_hand(lists, right, written, lenient, strict):
    found = parts(*lists)
    assert lenient_rank(found, gold(*right)) == lenient
    assert strict_rank(Prediction(found, written), gold(*right)) == strict


@given(
    st.lists(st.permutations("ABCD").map(lambda ids: ids[:3]), min_size=1, max_size=3),
    st.sets(st.sampled_from("ABCD"), min_size=1),
)
def test_the_strict_rank_is_the_best_of_all_choices(lists, right):
    found = parts(*([(each, 1.0) for each in ids] for ids in lists))
    choices = product(*(list(enumerate(ids, start=1)) for ids in lists))
    fitting = [
        max(place for place, _ in choice)
        for choice in choices
        if {concept for _, concept in choice} == right
    ]
    written = "|".join(dict.fromkeys(ids[0] for ids in lists))
    assert strict_rank(Prediction(found, written), gold(*right)) == min(fitting, default=0)


def test_many_parts_of_many_concepts_take_no_time():
    ids = [f"C{number}" for number in range(16)]
    found = parts(*([(each, 1.0) for each in ids] for _ in ids))
    assert strict_rank(Prediction(found, "C0"), gold(*ids)) == 16


def test_candidates_by_part():
    found = parts([("A", 0.9), ("B", 0.8)], [("C", 0.7)])
    assert by_part(found) == [found[:2], found[2:]]
    assert by_part(candidates(("A", 0.9), ("B", 0.8))) == [candidates(("A", 0.9), ("B", 0.8))]
    assert by_part([]) == []
