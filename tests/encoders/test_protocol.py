import subprocess
import sys

import pytest
from thinc.api import Linear

from spacy_connorm.encoders import (
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
