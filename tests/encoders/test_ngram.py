import numpy as np
import pytest
from confection import ConfigValidationError
from flipped_bytes import refuse_flipped_bytes
from spacy import registry

from spacy_connorm.encoders import encoder_inputs, fingerprint
from spacy_connorm.encoders.dan import DanEncoder
from spacy_connorm.encoders.ngram import NgramEncoder, is_ngram_range
from spacy_connorm.errors import ConnormError

NAMES = ["Heart Attack", "Heart failure", "headache", "cancer of the skin"]


@pytest.fixture
def model():
    model = NgramEncoder()
    model.initialize(X=NAMES)
    return model


def test_vectors_are_those_of_scikit_learn(model):
    from sklearn.feature_extraction.text import TfidfVectorizer

    vectors = model.predict(NAMES)
    expected = TfidfVectorizer(analyzer="char_wb", ngram_range=(1, 3), norm=None).fit(NAMES)
    assert vectors.format == "csr" and vectors.dtype == np.float32
    assert vectors.shape == (4, model.get_dim("nO"))
    assert np.allclose(vectors.toarray(), expected.transform(NAMES).toarray())
    assert model.predict([]).shape == (0, model.get_dim("nO"))


def test_any_string_is_fitted_and_encoded(model, odd_text):
    assert np.isfinite(model.predict([odd_text]).data).all()
    assert len(encoder_inputs(model, [odd_text])) == 1
    model.initialize(X=[odd_text, "heart"])
    restored = NgramEncoder().from_bytes(model.to_bytes())
    assert (restored.predict([odd_text]) != model.predict([odd_text])).nnz == 0


def test_inputs_are_equal_where_vectors_are(model):
    one, other, third = encoder_inputs(model, ["Heart  Attack", " heart\tattack", "heart-attack"])
    assert one == other == b"heart attack"
    assert third != one


def test_saving_keeps_everything(model, tmp_path):
    model.to_disk(tmp_path / "model")
    restored = NgramEncoder().from_disk(tmp_path / "model")
    assert fingerprint(restored) == fingerprint(model)
    assert restored.get_dim("nO") == model.get_dim("nO")
    assert (restored.predict(NAMES) != model.predict(NAMES)).nnz == 0
    assert restored.to_bytes() == model.to_bytes()


def test_every_flipped_byte_is_found(model):
    refuse_flipped_bytes(model, NgramEncoder)
    data = model.shims[0].to_bytes()
    with pytest.raises(ConnormError, match="CN305"):
        NgramEncoder().shims[0].from_bytes(data[: len(data) // 2])


def test_fingerprints_differ_with_texts_and_settings(model):
    encoders = [NgramEncoder(), NgramEncoder(ngram_range=(1, 2)), NgramEncoder(analyzer="char")]
    for encoder in encoders:
        encoder.initialize(X=NAMES)
    other = NgramEncoder()
    other.initialize(X=NAMES[:3])
    prints = [fingerprint(encoder) for encoder in (*encoders, other)]
    assert prints[0] == fingerprint(model)
    assert len(set(prints)) == 4


def test_initialize_fits_again_only_if_there_are_texts(model):
    before = fingerprint(model)
    model.initialize()
    assert fingerprint(model) == before
    model.initialize(X=["something else"])
    assert fingerprint(model) != before


@pytest.mark.parametrize("texts", [None, [], ["", "  "]])
def test_nothing_to_fit(texts):
    with pytest.raises(ConnormError, match="CN310"):
        NgramEncoder().initialize(X=texts)


@pytest.mark.parametrize("ngram_range", [(0, 3), (3, 1), (2,)])
def test_a_range_without_lengths(ngram_range):
    with pytest.raises(ConnormError, match="CN006"):
        NgramEncoder(ngram_range=ngram_range)


def test_is_registered_and_its_settings_are_checked():
    block = {"@architectures": "spacy-connorm.NgramEncoder.v1", "ngram_range": [2, 4]}
    model = registry.resolve({"encoder": block})["encoder"]
    model.initialize(X=NAMES)
    assert model.predict(NAMES).shape[0] == 4
    with pytest.raises(ConfigValidationError):
        registry.resolve({"encoder": {**block, "analyzer": "word"}})


@pytest.mark.parametrize("lengths", [(1, 1), (3, 4), [1, 100]])
def test_lengths(lengths):
    assert is_ngram_range(lengths)


@pytest.mark.parametrize("lengths", [(), (1,), (0, 3), (4, 3), (1, 10**9), (1, 2, 3), (1.0, 2)])
def test_no_lengths(lengths):
    assert not is_ngram_range(lengths)
    for make in (NgramEncoder, DanEncoder):
        with pytest.raises(ConnormError, match="CN006.*ngram_range"):
            make(ngram_range=lengths)
