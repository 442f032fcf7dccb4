import numpy as np
import pytest
from flipped_bytes import refuse_flipped_bytes
from hashing_encoder import make_hashing_encoder
from spacy import registry

from spacy_connorm.encoders import (
    encode,
    encoder_inputs,
    fingerprint,
    is_sparse,
    make_encoder,
    replica,
    require_trainable,
    required_extra,
)
from spacy_connorm.encoders.dan import DanEncoder
from spacy_connorm.encoders.ensemble import EnsembleEncoder
from spacy_connorm.encoders.hybrid import HybridEncoder, widths
from spacy_connorm.encoders.ngram import NgramEncoder
from spacy_connorm.encoders.vectors import HybridArray
from spacy_connorm.errors import ConnormError

NAMES = ["Heart Attack", "Heart failure", "headache", "cancer of the skin"]


class DeafShim(type(make_hashing_encoder().shims[0])):
    """Knows nothing of texts without a letter "h"."""

    def _vector(self, text):
        return super()._vector(text) * (b"h" in text)


def build(seeds=(0, 1), **settings):
    parts = {f"part{seed}": make_hashing_encoder(seed) for seed in seeds}
    return EnsembleEncoder(encoders=parts, **settings)


def unit(vectors):
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


@pytest.fixture
def model():
    model = build(weights={"part0": 3, "part1": 1})
    model.initialize()
    return model


def test_the_cosine_is_the_weighted_mean_of_the_parts(model):
    vectors = encode(model, NAMES)
    assert vectors.dtype == "float32" and vectors.shape == (4, 64)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, rtol=1e-6)
    one, other = (unit(encode(part, NAMES)) for part in model.shims[0].parts)
    expected = 0.75 * one @ one.T + 0.25 * other @ other.T
    np.testing.assert_allclose(vectors @ vectors.T, expected, atol=1e-6)


def test_parts_weigh_the_same_by_default():
    model, same = build(), build(weights={"part1": 2, "part0": 2})
    for each in (model, same):
        each.initialize()
    one, other = np.hsplit(encode(model, NAMES), 2)
    np.testing.assert_allclose((one**2).sum(axis=1), (other**2).sum(axis=1), rtol=1e-6)
    assert fingerprint(model) == fingerprint(same)


def test_a_part_that_knows_nothing_of_a_text_does_not_count():
    parts = {"deaf": make_encoder("deaf", DeafShim(0)), "other": make_hashing_encoder(1)}
    model = EnsembleEncoder(encoders=parts, weights={"deaf": 0.8, "other": 0.2})
    model.initialize()
    vectors = encode(model, ["heart", "skin", "ski"])
    assert np.isfinite(vectors).all()
    assert not vectors[1, :32].any() and vectors[1, 32:].any()
    own = unit(encode(model.shims[0].parts[1], ["skin", "ski"]))
    np.testing.assert_allclose(unit(vectors[1:]) @ unit(vectors[1:]).T, own @ own.T, atol=1e-6)
    silent = {name: make_encoder(name, DeafShim(seed)) for seed, name in enumerate("ab")}
    silent = EnsembleEncoder(encoders=silent)
    silent.initialize()
    assert not encode(silent, ["skin"]).any()


def test_inputs_are_equal_where_those_of_all_parts_are(tiny, tiny_folder):
    dan = DanEncoder(name=str(tiny_folder), buckets=64, width=8)
    dan.initialize()
    third = make_hashing_encoder()
    third.initialize()
    model = EnsembleEncoder(encoders={"dan": dan, "tiny": tiny, "third": third})
    model.initialize()
    texts = ["Heart Attack", "heart attack", "heart  attack"]
    one, same, spaced = encoder_inputs(model, texts)
    assert one == same != spaced
    assert required_extra(model) == "dan,transformers"
    assert model.get_dim("nO") == sum(each.get_dim("nO") for each in (dan, tiny, third))
    sides = np.split(encode(model, texts), [8, 8 + 32], axis=1)
    for vectors, part in zip(sides, (dan, third, tiny), strict=True):
        np.testing.assert_allclose(unit(vectors), unit(encode(part, texts)), atol=1e-6)


def test_any_string_is_encoded(model, odd_text):
    assert np.isfinite(encode(model, [odd_text])).all()
    assert len(encoder_inputs(model, [odd_text])) == 1


def test_the_fingerprint_changes_with_weights_and_parts(model):
    others = [build(), build(weights={"part0": 1, "part1": 3}), build((0, 2)), build((0, 1, 2))]
    prints = {fingerprint(model)}
    for other in others:
        other.initialize()
        prints.add(fingerprint(other))
    assert len(prints) == 5


def test_the_order_of_parts_does_not_matter():
    models = [build((0, 1)), build((1, 0))]
    for each in models:
        each.initialize()
    np.testing.assert_array_equal(*(encode(each, NAMES) for each in models))
    assert fingerprint(models[0]) == fingerprint(models[1])


def test_saving_keeps_everything(model, tmp_path):
    model.to_disk(tmp_path / "model")
    restored = build(weights={"part0": 3, "part1": 1}).from_disk(tmp_path / "model")
    assert fingerprint(restored) == fingerprint(model)
    np.testing.assert_array_equal(encode(restored, NAMES), encode(model, NAMES))
    assert restored.to_bytes() == model.to_bytes()


def test_every_flipped_byte_is_found(model):
    refuse_flipped_bytes(model, build)
    data = model.shims[0].to_bytes()
    with pytest.raises(ConnormError, match="CN305"):
        build((0, 1, 2)).shims[0].from_bytes(data)


def test_an_empty_encoder_says_so(model):
    empty = build()
    assert not empty.has_dim("nO")
    with pytest.raises(ConnormError, match="CN301"):
        empty.predict(["heart"])
    with pytest.raises(ConnormError, match="CN301"):
        model.from_bytes(empty.to_bytes()).predict(["heart"])


def test_a_replica_is_loaded_without_its_original():
    model = build()
    replica(model).initialize()
    assert not model.has_dim("nO") and not model.shims[0].width


def test_it_can_be_the_dense_side_of_a_hybrid(model):
    hybrid = HybridEncoder(dense=model, lexical=NgramEncoder())
    hybrid.initialize(X=NAMES)
    vectors = encode(hybrid, NAMES)
    assert isinstance(vectors, HybridArray)
    np.testing.assert_array_equal(vectors.dense, encode(model, NAMES))
    assert widths(hybrid)["dense"] == 64


def test_what_it_is_known_by(model):
    assert not is_sparse(model)
    assert required_extra(model) == ""
    with pytest.raises(ConnormError, match="CN311.*ensemble"):
        require_trainable(model)


@pytest.mark.parametrize(
    ("settings", "setting"),
    [
        ({"encoders": {"one": make_hashing_encoder()}}, "encoders"),
        ({"encoders": {}}, "encoders"),
        ({"encoders": {"one": make_hashing_encoder(), "two": {"name": "x"}}}, "encoders.two"),
        ({"encoders": {"one": make_hashing_encoder(), "two": NgramEncoder()}}, "encoders.two"),
        (
            {
                "encoders": {
                    "one": HybridEncoder(dense=make_hashing_encoder(), lexical=NgramEncoder()),
                    "two": make_hashing_encoder(),
                }
            },
            "encoders.one",
        ),
        *(
            ({"weights": weights}, "weights")
            for weights in (
                *({"part0": 1}, {}, {"part0": 1, "part1": 0}, {"part0": 1, "part1": -1}),
                *({"part0": 1, "part1": float("nan")}, {"part0": 1, "part1": float("inf")}),
                {"part0": 1, "part1": 1, "part2": 1},
            )
        ),
    ],
)
def test_settings_that_make_no_sense(settings, setting):
    parts = {f"part{seed}": make_hashing_encoder(seed) for seed in range(2)}
    with pytest.raises(ConnormError, match=f"CN309.*`{setting}`"):
        EnsembleEncoder(**{"encoders": parts, **settings})


def test_is_registered():
    block = {
        "@architectures": "spacy-connorm.EnsembleEncoder.v1",
        "weights": {"one": 0.5, "two": 1},
        "encoders": {
            "one": {"@architectures": "tests.HashingEncoder.v1"},
            "two": {"@architectures": "tests.HashingEncoder.v1", "seed": 1},
        },
    }
    model = registry.resolve({"encoder": block})["encoder"]
    model.initialize()
    assert model.shims[0].weights == pytest.approx((1 / 3, 2 / 3))
