import numpy as np
import pytest

from spacy_connorm.encoders import fingerprint
from spacy_connorm.encoders.hybrid import lexical_weight
from spacy_connorm.errors import ConnormError
from spacy_connorm.evaluation import Gold, Prediction
from spacy_connorm.evaluation.lexical_weight import best_weight, score_weights, weight_rows
from spacy_connorm.evaluation.metrics import Evaluation, NilScore, Ranks

GOLD = [
    Gold("heart attacks", frozenset({"C2"}), True, seen=False),
    Gold("vertgo", frozenset({"C5"}), True, seen=False),
    Gold("aspirin", frozenset({"C6"}), True, seen=True),
]


@pytest.fixture
def lookup(make_normalizer, hybrid):
    return make_normalizer(**hybrid).lookup


def answers(lookup):
    found = lookup.candidates([each.text for each in GOLD], top_k=5)
    return [Prediction(each, each[0].concept_id) for each in found]


def test_every_weight_is_asked_for_and_the_own_one_too(lookup):
    asked = []

    def answer():
        asked.append(lexical_weight(lookup.encoder))
        return answers(lookup)

    before, own = answers(lookup), lookup.encoder
    scores = score_weights(lookup, GOLD, answer, [2, 0, 0])
    assert asked == [0, 0.5, 2]
    assert list(scores) == [0, 0.5, 2]
    assert lookup.encoder is own
    assert answers(lookup) == before
    rows = weight_rows(scores)
    assert [row["lexical weight"] for row in rows] == [0, 0.5, 2]
    assert [row["best"] for row in rows].count("best") == 1


def test_the_pipeline_stays_as_it_was_where_asking_fails(lookup):
    before = fingerprint(lookup.encoder), lexical_weight(lookup.encoder)

    def answer():
        raise ConnormError("[CN000] something")

    with pytest.raises(ConnormError, match="CN000"):
        score_weights(lookup, GOLD, answer, [3])
    assert (fingerprint(lookup.encoder), lexical_weight(lookup.encoder)) == before


def ranks(lenient, strict):
    return Ranks(np.asarray(lenient), np.asarray(strict))


def test_the_best_weight_is_the_best_leniently_then_strictly_then_the_least():
    worse, better = ranks([1, 0, 2], [1, 0, 0]), ranks([1, 1, 2], [1, 0, 0])
    strict = ranks([1, 1, 0], [1, 1, 0])
    assert best_weight({0.0: worse, 0.5: better, 1.0: better}) == 0.5
    assert best_weight({0.0: worse, 0.5: better, 1.0: strict}) == 1.0
    assert weight_rows({0.3: Evaluation({"all": worse}, NilScore(0, None, None, None))})[0] == {
        "lexical weight": 0.3,
        "lenient@1": 33.33,
        "strict@1": 33.33,
        "best": "best",
    }


def test_another_encoder_has_no_weight(make_normalizer):
    with pytest.raises(ConnormError, match="CN313"):
        score_weights(make_normalizer().lookup, GOLD, list, [1])
