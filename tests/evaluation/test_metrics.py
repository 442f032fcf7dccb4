import numpy as np
import pytest

from spacy_connorm.concepts import NIL, Candidate
from spacy_connorm.evaluation import Gold, Prediction, score_predictions
from spacy_connorm.evaluation.metrics import hits, mean, nil_score, reciprocals

RANKS = np.asarray([1, 2, 0, 6])


def predict(*answers, written=None):
    found = [Candidate(concept, concept, score, "", "O-T") for concept, score in answers]
    return Prediction(found, written or (found[0].concept_id if found else NIL))


def gold(*concept_ids, in_ontology=True, seen=None):
    return Gold("mention", frozenset(concept_ids), in_ontology, seen)


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


def test_unseen_is_no_group_where_d_is_not_known():
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
