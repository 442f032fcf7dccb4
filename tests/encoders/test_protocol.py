import subprocess
import sys

import numpy as np
import pytest
from thinc.api import Linear

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
from spacy_connorm.encoders.protocol import HybridArray
from spacy_connorm.encoders.transformer import TransformerEncoder
from spacy_connorm.errors import ConnormError


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


def test_another_model_is_no_encoder():
    for ask in (fingerprint, is_sparse):
        with pytest.raises(ConnormError, match="CN300"):
            ask(Linear(2, 2))
    with pytest.raises(ConnormError, match="CN300"):
        encoder_inputs(Linear(2, 2), ["heart"])


@pytest.mark.parametrize("build", [NgramEncoder, TransformerEncoder, DanEncoder, OnnxEncoder])
def test_an_empty_encoder_says_so(build):
    model = build()
    assert not model.has_dim("nO")
    with pytest.raises(ConnormError, match="CN301"):
        model.predict(["heart"])
    with pytest.raises(ConnormError, match="CN301"):
        encoder_inputs(model, ["heart"])
    with pytest.raises(ConnormError, match="CN301"):
        fingerprint(model)
    assert build().from_bytes(model.to_bytes()).to_bytes() == model.to_bytes()


def test_loading_an_empty_encoder_empties(tiny):
    model = tiny.copy().from_bytes(TransformerEncoder().to_bytes())
    with pytest.raises(ConnormError, match="CN301"):
        model.predict(["heart"])


def test_replica_is_fitted_anew_without_its_original():
    model = NgramEncoder()
    model.initialize(X=["heart"])
    before = fingerprint(model)
    fitted = replica(model)
    assert fingerprint(fitted) == before
    fitted.initialize(X=["skin cancer"])
    assert fingerprint(fitted) != before == fingerprint(model)


def test_replica_is_loaded_anew_without_its_original(tiny):
    before = fingerprint(tiny)
    replica(tiny).from_bytes(TransformerEncoder().to_bytes())
    assert fingerprint(tiny) == before


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


@pytest.mark.parametrize("kind", ["ngram", "tiny", "dan", "hybrid"])
def test_vectors_come_from_inputs(kind, tiny, tiny_folder):
    dan = {"name": str(tiny_folder), "buckets": 64, "principal_components": 8}
    model = {
        "ngram": NgramEncoder,
        "tiny": lambda: tiny,
        "dan": lambda: DanEncoder(**dan),
        "hybrid": lambda: HybridEncoder(dense=DanEncoder(**dan), lexical=NgramEncoder()),
    }[kind]()
    texts = ["heart attack", "Heart  Attack", "", "skin cancer of the head", "heart \ud800"]
    if kind != "tiny":
        model.initialize(X=texts)
    inputs = encoder_inputs(model, texts)
    for places in ([0, 1, 2, 3, 4], [3, 0], [2], []):
        direct = encode(model, [texts[place] for place in places])
        indirect = encode_inputs(model, [inputs[place] for place in places])
        assert direct.shape == indirect.shape == (len(places), model.get_dim("nO"))
        for one, other in zip(sides(direct), sides(indirect), strict=True):
            np.testing.assert_array_equal(one, other)


def sides(vectors):
    if isinstance(vectors, HybridArray):
        return [vectors.dense, vectors.lexical.toarray()]
    return [vectors.toarray() if hasattr(vectors, "toarray") else vectors]
