"""What every encoder promises, whatever it computes; and models that are none."""

import subprocess
import sys
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
import pytest
from confection import ConfigValidationError
from hashing_encoder import make_hashing_encoder
from spacy import registry
from thinc.api import Linear, Model

from spacy_connorm.encoders import (
    encode,
    encode_inputs,
    encoder_inputs,
    fingerprint,
    fits,
    is_sparse,
    replica,
)
from spacy_connorm.encoders.dan import DanEncoder
from spacy_connorm.encoders.hybrid import HybridEncoder
from spacy_connorm.encoders.ngram import NgramEncoder
from spacy_connorm.encoders.onnx import OnnxEncoder
from spacy_connorm.encoders.raw import HybridArray
from spacy_connorm.encoders.saving import open_encoder, store_encoder
from spacy_connorm.encoders.transformer import TransformerEncoder
from spacy_connorm.errors import ConnormError

TEXTS = ["heart attack", "Heart  Attack", "", "acute cancer of the skin", "heart \ud800"]


class Kind(NamedTuple):
    """An encoder.

    build (Callable): Makes one that is not loaded and reads no files.
    model (Model): A loaded one. Tests do not change it.
    block (Dict[str, Any]): Its block of a config.
    invalid (Dict[str, Any]): A setting that a config can't have.
    step (int): Every how many bytes of a saved one are damaged: large ones take long to read.
    """

    build: Callable[[], Model]
    model: Model
    block: dict
    invalid: dict
    step: int


def make_kind(architecture, build, invalid, step, **block):
    block["@architectures"] = f"spacy-connorm.{architecture}.v1"
    model = registry.resolve({"encoder": block})["encoder"]
    model.initialize(X=TEXTS)
    return Kind(build, model, block, invalid, step)


def hybrid():
    return HybridEncoder(dense=make_hashing_encoder(), lexical=NgramEncoder())


@pytest.fixture(scope="module", params=["ngram", "transformer", "dan", "onnx", "hybrid"])
def kind(request):
    if request.param == "onnx":
        folder = str(request.getfixturevalue("tiny_folder"))
        return make_kind("OnnxEncoder", OnnxEncoder, {"pooling": "sum"}, 997, name=folder)
    if request.param == "hybrid":
        blocks = {
            "dense": {"@architectures": "tests.HashingEncoder.v1"},
            "lexical": {"@architectures": "spacy-connorm.NgramEncoder.v1"},
        }
        return make_kind("HybridEncoder", hybrid, {"lexical_weight": "half"}, 7, **blocks)
    if request.param == "ngram":
        return make_kind("NgramEncoder", NgramEncoder, {"ngram_range": "all"}, 1)
    name = str(request.getfixturevalue("tiny_folder"))
    if request.param == "dan":
        settings = {"name": name, "buckets": 64, "principal_components": 8}
        return make_kind("DanEncoder", DanEncoder, {"buckets": "yes"}, 97, **settings)
    return make_kind("TransformerEncoder", TransformerEncoder, {"pooling": "sum"}, 997, name=name)


def sides(vectors):
    if isinstance(vectors, HybridArray):
        return [vectors.dense, vectors.lexical.toarray()]
    return [vectors.toarray() if hasattr(vectors, "toarray") else vectors]


def assert_same(one, other):
    for own, their in zip(sides(one), sides(other), strict=True):
        np.testing.assert_array_equal(own, their)


def test_no_texts(kind):
    assert encode(kind.model, []).shape == (0, kind.model.get_dim("nO"))
    assert encoder_inputs(kind.model, []) == []


def test_any_string_is_encoded(kind, odd_text):
    vectors = encode(kind.model, [odd_text, "heart"])
    assert all(np.isfinite(each).all() for each in sides(vectors))
    assert len(encoder_inputs(kind.model, [odd_text])) == 1


def test_vectors_come_from_inputs(kind):
    inputs = encoder_inputs(kind.model, TEXTS)
    for places in ([0, 1, 2, 3, 4], [3, 0], [2], []):
        direct = encode(kind.model, [TEXTS[place] for place in places])
        assert direct.shape == (len(places), kind.model.get_dim("nO"))
        assert_same(direct, encode_inputs(kind.model, [inputs[place] for place in places]))


def test_a_second_initialize_changes_nothing(kind):
    before, held = fingerprint(kind.model), kind.model.shims[0]._model
    kind.model.initialize(X=None if fits(kind.model) else ["other"])
    assert fingerprint(kind.model) == before
    assert fits(kind.model) or kind.model.shims[0]._model is held


def test_saving_keeps_everything(kind, tmp_path):
    kind.model.to_disk(tmp_path / "model")
    restored = kind.build().from_disk(tmp_path / "model")
    assert fingerprint(restored) == fingerprint(kind.model)
    assert restored.get_dim("nO") == kind.model.get_dim("nO")
    assert_same(encode(restored, TEXTS), encode(kind.model, TEXTS))
    assert encoder_inputs(restored, TEXTS) == encoder_inputs(kind.model, TEXTS)
    assert restored.to_bytes() == kind.model.to_bytes()


def test_flipped_bytes_are_found(kind):
    data = kind.model.shims[0].to_bytes()
    for place in range(0, len(data), kind.step):
        damaged = data[:place] + bytes([data[place] ^ 0x10]) + data[place + 1 :]
        with pytest.raises(ConnormError, match="CN305"):
            kind.build().shims[0].from_bytes(damaged)
    with pytest.raises(ConnormError, match="CN305"):
        kind.build().shims[0].from_bytes(data[: len(data) // 2])


def test_an_encoder_of_another_kind_is_named(kind, tmp_path):
    store_encoder(kind.model, tmp_path / "encoder")
    with pytest.raises(ConnormError, match=f"CN318.*{kind.model.name}, but"):
        open_encoder(make_hashing_encoder(), tmp_path / "encoder")


def test_an_empty_encoder_says_so(kind):
    empty = kind.build()
    assert not empty.has_dim("nO")
    for ask in (fingerprint, partial(encoder_inputs, texts=["heart"]), lambda it: it.predict([])):
        with pytest.raises(ConnormError, match="CN301"):
            ask(empty)
    assert kind.build().from_bytes(empty.to_bytes()).to_bytes() == empty.to_bytes()


def test_a_replica_is_emptied_without_its_original(kind):
    before = fingerprint(kind.model)
    emptied = replica(kind.model).from_bytes(kind.build().to_bytes())
    with pytest.raises(ConnormError, match="CN301"):
        emptied.predict(["heart"])
    assert fingerprint(kind.model) == before


def test_a_config_is_checked(kind):
    with pytest.raises(ConfigValidationError):
        registry.resolve({"encoder": {**kind.block, **kind.invalid}})


@pytest.mark.parametrize(
    ("build", "extra"),
    [(TransformerEncoder, "transformers"), (DanEncoder, "dan"), (OnnxEncoder, "onnx")],
)
def test_a_missing_library_is_named(build, extra, monkeypatch):
    monkeypatch.setattr("spacy_connorm.errors.find_spec", lambda name: None)
    with pytest.raises(ConnormError, match=rf"CN126.*pip install 'spacy-connorm\[{extra}\]'"):
        build()


def test_importing_encoders_imports_nothing_heavy():
    code = (
        "import sys, spacy_connorm.encoders.transformer, spacy_connorm.encoders.ngram, "
        "spacy_connorm.encoders.dan, spacy_connorm.encoders.onnx, "
        "spacy_connorm.encoders.grounded;"
        "heavy = {'transformers', 'spacy_transformers', 'sklearn', 'tokenizers', 'safetensors', "
        "'onnxruntime', 'onnx', 'gensim'};"
        "print(heavy & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_another_model_is_refused_as_an_encoder():
    for ask in (fingerprint, is_sparse):
        with pytest.raises(ConnormError, match="CN300"):
            ask(Linear(2, 2))
    with pytest.raises(ConnormError, match="CN300"):
        encoder_inputs(Linear(2, 2), ["heart"])


def test_replica_is_fitted_anew_without_its_original():
    model = NgramEncoder()
    model.initialize(X=["heart"])
    before = fingerprint(model)
    fitted = replica(model)
    assert fingerprint(fitted) == before
    fitted.initialize(X=["skin cancer"])
    assert fingerprint(fitted) != before == fingerprint(model)


def test_kinds_of_matrices_are_known_before_anything_is_loaded():
    assert is_sparse(NgramEncoder())
    assert not is_sparse(TransformerEncoder())


def test_gradients_are_refused(tiny):
    vectors, backprop = tiny(["heart attack"], is_train=True)
    with pytest.raises(ConnormError, match="CN302"):
        backprop(vectors)


def test_encoders_that_look_at_the_texts_they_are_loaded_with(tiny):
    assert fits(NgramEncoder())
    assert fits(HybridEncoder(dense=tiny, lexical=NgramEncoder()))
    assert not fits(tiny)
    assert not any(map(fits, (TransformerEncoder(), DanEncoder(), OnnxEncoder(name="x"))))
