from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_connorm.concepts import NIL, Candidate
from spacy_connorm.documents.mentions import Mention
from spacy_connorm.evaluation import metrics, score_predictions
from spacy_connorm.evaluation.metrics import (
    Gold,
    KnownConcept,
    Prediction,
    bootstrap,
    hits,
    lenient_rank,
    mean,
    nil_score,
    paired_bootstrap,
    read_gold,
    reciprocals,
    score_retrieval,
    strict_rank,
)

KNOWN = {
    "C1": KnownConcept("C1", "one", in_ontology=True),
    "C1-OLD": KnownConcept("C1", "one", in_ontology=True),
    "D9": KnownConcept("D9", "only in data", in_ontology=False),
}


def candidates(*answers):
    return [Candidate(concept, concept, score, "text", "O-T") for concept, score in answers]


def gold(*concept_ids, in_ontology=True, seen=None):
    return Gold("mention", frozenset(concept_ids), in_ontology, seen)


def annotated(kb_id):
    return Mention("mention", "Disease", kb_id, ((0, 7),))


def answer(found, *, written=None):
    return Prediction(found, written or (found[0].concept_id if found else NIL))


@pytest.mark.parametrize(
    ("kb_id", "concept_ids", "in_ontology"),
    [
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
    assert strict_rank(answer(found), gold(*right)) == strict


def test_who_writes_nil_answers_nothing_strictly():
    found = candidates(("A", 0.3))
    assert strict_rank(answer(found, written=NIL), gold("A")) == 0
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
    found = parts(*([(concept_id, 1.0) for concept_id in ids] for ids in lists))
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
    found = parts(*([(concept_id, 1.0) for concept_id in ids] for _ in ids))
    assert strict_rank(Prediction(found, "C0"), gold(*ids)) == 16


RANKS = np.asarray([1, 2, 0, 6])


def predict(*answers, written=None):
    found = [Candidate(concept, concept, score, "", "O-T") for concept, score in answers]
    return Prediction(found, written or (found[0].concept_id if found else NIL))


def test_accuracy_and_reciprocal_rank_by_hand():
    assert mean(hits(RANKS, 1)) == 0.25
    assert mean(hits(RANKS, 5)) == 0.5
    assert mean(reciprocals(RANKS)) == pytest.approx((1 + 1 / 2 + 1 / 6) / 4)


def test_nothing_has_no_mean():
    assert mean(hits(np.asarray([], dtype="int64"), 1)) is None


def test_groups_of_mentions():
    run = score_predictions(
        [
            gold("A", seen=True),
            gold("B", seen=False),
            gold("X", in_ontology=False, seen=False),
            gold(seen=False),
        ],
        [predict(("A", 0.9)), predict(("A", 0.9), ("B", 0.9)), predict(("A", 0.5)), predict()],
    )
    assert {name: ranks.lenient.tolist() for name, ranks in run.ranks.items()} == {
        "all": [1, 1, 0],
        "in_ontology": [1, 1],
        "seen": [1],
        "unseen": [1, 0],
    }
    assert run.ranks["all"].strict.tolist() == [1, 2, 0]


def test_mentions_are_not_grouped_as_unseen_where_d_is_unknown():
    run = score_predictions([gold("A")], [predict(("A", 0.9))])
    assert list(run.ranks) == ["all", "in_ontology"]


def test_mentions_without_gold_id_count_for_nil_alone():
    annotated = [gold(), gold(), gold("A"), gold("B")]
    written = [predict(), predict(("A", 0.9)), predict(("A", 0.1), written=NIL), predict(("B", 1))]
    score = nil_score(annotated, written)
    assert score == (2, 0.5, 0.5, 0.5)
    assert len(score_predictions(annotated, written).ranks["all"].lenient) == 2


@pytest.mark.parametrize(
    ("annotated", "written", "expected"),
    [
        ([gold("A")], [predict(("A", 0.9))], (0, None, None, None)),
        ([gold()], [predict(("A", 0.9))], (1, None, 0.0, 0.0)),
        ([gold("A")], [predict()], (0, 0.0, None, 0.0)),
    ],
)
def test_nil_scores_without_anything_to_count(annotated, written, expected):
    assert nil_score(annotated, written) == expected


def shares(right, n):
    return np.asarray([1.0] * right + [0.0] * (n - right))


def test_interval_of_a_share_is_the_binomial_one():
    low, high = bootstrap(shares(80, 100))
    # mean 0.8, standard error 0.04: 0.8 -+ 1.96 * 0.04
    assert low == pytest.approx(0.72, abs=0.011)
    assert high == pytest.approx(0.88, abs=0.011)


def test_resampling_counts_equals_resampling_mentions():
    values = np.asarray([1, 1, 1 / 2, 1 / 3, 0, 0, 0, 1])
    draws = np.random.default_rng(5).integers(0, len(values), size=(10_000, len(values)))
    expected = np.quantile(values[draws].mean(axis=1), [0.025, 0.975])
    assert bootstrap(values) == pytest.approx(expected.tolist(), abs=0.03)


def test_equal_seeds_give_equal_intervals():
    values = np.random.default_rng(1).random(50)
    assert bootstrap(values) == bootstrap(values)


def test_one_value_has_no_width():
    assert bootstrap(shares(3, 3)) == (1.0, 1.0)


def test_pairs_are_resampled_together():
    one, other = shares(80, 100), shares(70, 100)
    compared = paired_bootstrap(one, other)
    assert compared.difference == pytest.approx(0.1)
    # ten mentions differ, all one way: sd 0.3, standard error 0.03
    assert compared.interval.low == pytest.approx(0.1 - 1.96 * 0.03, abs=0.02)
    assert compared.interval.high == pytest.approx(0.1 + 1.96 * 0.03, abs=0.02)
    assert compared.p < 0.001


def test_the_other_way_round_the_sign_changes_and_p_does_not():
    one, other = shares(80, 100), shares(79, 100)
    there, back = paired_bootstrap(one, other), paired_bootstrap(other, one)
    assert back.difference == -there.difference
    assert back.p == there.p > 0.05


def test_equal_runs_do_not_differ():
    same = shares(7, 10)
    assert paired_bootstrap(same, same) == (0.0, (0.0, 0.0), 1.0)


def by_definition(queries, names, relevant, itself=None):
    averages, firsts, inverses = [], [], []
    for place, query in enumerate(queries):
        scores = {
            row: (query @ name) / (np.linalg.norm(query) * np.linalg.norm(name))
            for row, name in enumerate(names)
            if itself is None or row != itself[place]
        }
        wanted = set(relevant[place].tolist())
        ranking = sorted(scores, key=lambda row: (-round(scores[row], 5), row in wanted))
        ranks = [rank for rank, row in enumerate(ranking, start=1) if row in wanted]
        averages.append(np.mean([found / rank for found, rank in enumerate(ranks, start=1)]))
        firsts.append(ranks[0] == 1)
        inverses.append(1 / ranks[0])
    return np.mean(averages), np.mean(firsts), np.mean(inverses)


@pytest.fixture
def drawn():
    random = np.random.default_rng(0)
    names = random.standard_normal((40, 5)).astype("float32")
    names[7] = 2 * names[3]  # a tie
    queries = random.standard_normal((12, 5)).astype("float32")
    relevant = [random.choice(40, size=number % 5 + 1, replace=False) for number in range(12)]
    return queries, names, relevant


def test_scores_are_those_of_the_definition(drawn):
    np.testing.assert_allclose(score_retrieval(*drawn), by_definition(*drawn), rtol=1e-6)


def test_a_name_is_not_found_by_itself(drawn):
    _, names, _ = drawn
    itself = np.arange(40)
    relevant = [np.asarray([number ^ 1]) for number in range(40)]
    found = score_retrieval(names, names, relevant, itself=itself)
    np.testing.assert_allclose(found, by_definition(names, names, relevant, itself), rtol=1e-6)
    assert found.map == found.mrr < 1


def test_blocks_change_nothing(drawn, monkeypatch):
    whole = score_retrieval(*drawn)
    monkeypatch.setattr(metrics, "_COMPARED_AT_ONCE", 90)
    np.testing.assert_allclose(score_retrieval(*drawn), whole, rtol=1e-6)


def test_ties_earn_nothing():
    names = np.asarray([[1, 0], [2, 0], [0, 1]], dtype="float32")
    found = score_retrieval(names[:1], names, [np.asarray([1])])
    assert found == (0.5, 0.0, 0.5)
    # Vectors of no direction are as far as they can be from all.
    assert score_retrieval(0 * names[:1], names, [np.asarray([1])]).accuracy == 0.0
