import numpy as np
import pytest
from hashing_encoder import make_hashing_encoder
from spacy import registry

from spacy_connorm.encoders import (
    encode,
    encoder_inputs,
    fingerprint,
    is_sparse,
    replica,
    require_trainable,
    required_extra,
)
from spacy_connorm.encoders.hybrid import HybridEncoder
from spacy_connorm.encoders.ngram import NgramEncoder
from spacy_connorm.encoders.raw import HybridArray
from spacy_connorm.errors import ConnormError

NAMES = ["Heart Attack", "Heart failure", "headache", "cancer of the skin"]


def build(seed=0, **settings):
    return HybridEncoder(dense=make_hashing_encoder(seed), lexical=NgramEncoder(), **settings)


@pytest.fixture
def model():
    model = build()
    model.initialize(X=NAMES)
    return model


def test_vectors_are_those_of_both(model):
    dense, lexical = make_hashing_encoder(), NgramEncoder()
    for each in (dense, lexical):
        each.initialize(X=NAMES)
    vectors = encode(model, NAMES)
    assert isinstance(vectors, HybridArray)
    np.testing.assert_array_equal(vectors.dense, dense.predict(NAMES))
    assert (vectors.lexical != lexical.predict(NAMES)).nnz == 0
    assert vectors.shape == (4, model.get_dim("nO"))
    assert vectors.weight == 0.3


def test_the_dense_side_may_be_a_transformer(tiny):
    model = HybridEncoder(dense=tiny, lexical=NgramEncoder(), lexical_weight=1)
    model.initialize(X=NAMES)
    np.testing.assert_array_equal(encode(model, NAMES).dense, tiny.predict(NAMES))
    assert required_extra(model) == "transformers"
    restored = HybridEncoder(dense=replica(tiny), lexical=NgramEncoder())
    restored.from_bytes(model.to_bytes())
    assert fingerprint(restored) == fingerprint(model)


def test_inputs_are_equal_where_both_sides_are(model):
    one, other, spaced, third = encoder_inputs(
        model, ["Heart Attack", "heart attack", "heart  attack", "heart-attack"]
    )
    assert one == other
    assert len({one, spaced, third}) == 3


def test_the_weight_changes_no_fingerprint_and_all_else_does(model):
    prints = {fingerprint(model)}
    for other, texts in ((build(lexical_weight=2), NAMES), (build(), NAMES[:3]), (build(1), NAMES)):
        other.initialize(X=texts)
        prints.add(fingerprint(other))
    assert len(prints) == 3


def test_the_weight_is_that_of_the_config(model):
    restored = build(lexical_weight=0.7).from_bytes(model.to_bytes())
    assert encode(restored, NAMES).weight == 0.7


def test_replica_is_fitted_anew_without_its_original(model):
    before = fingerprint(model)
    fitted = replica(model)
    fitted.initialize(X=["skin cancer"])
    assert fingerprint(fitted) != before == fingerprint(model)


def test_nothing_is_changed_where_one_side_cannot_be_fitted(model):
    before = fingerprint(model)
    with pytest.raises(ConnormError, match="CN409"):
        model.initialize(X=[" "])
    assert fingerprint(model) == before


def test_what_it_is_known_by():
    assert not is_sparse(build())
    assert required_extra(build()) == ""
    with pytest.raises(ConnormError, match=r"CN311.*`dense`"):
        require_trainable(build())


@pytest.mark.parametrize(
    ("settings", "setting"),
    [
        ({"lexical_weight": -0.1}, "lexical_weight"),
        ({"lexical_weight": float("nan")}, "lexical_weight"),
        ({"lexical_weight": float("inf")}, "lexical_weight"),
        ({"dense": NgramEncoder()}, "dense"),
        ({"dense": build()}, "dense"),
        ({"lexical": make_hashing_encoder()}, "lexical"),
    ],
)
def test_settings_that_make_no_sense(settings, setting):
    sides = {"dense": make_hashing_encoder(), "lexical": NgramEncoder()}
    with pytest.raises(ConnormError, match=f"CN006.*`{setting}`"):
        HybridEncoder(**{**sides, **settings})


def test_is_registered():
    block = {
        "@architectures": "spacy-connorm.HybridEncoder.v1",
        "lexical_weight": 0.5,
        "dense": {"@architectures": "tests.HashingEncoder.v1"},
        "lexical": {"@architectures": "spacy-connorm.NgramEncoder.v1", "ngram_range": [2, 3]},
    }
    model = registry.resolve({"encoder": block})["encoder"]
    model.initialize(X=NAMES)
    assert encode(model, NAMES).weight == 0.5
