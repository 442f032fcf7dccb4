from collections import Counter

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer

from spacy_connorm.encoders import encoder_inputs, fingerprint
from spacy_connorm.encoders.dan import DanEncoder
from spacy_connorm.encoders.ngram import NgramEncoder, is_ngram_range, split_ngrams
from spacy_connorm.errors import ConnormError

NAMES = ["Heart Attack", "Heart failure", "headache", "cancer of the skin"]


@pytest.fixture
def model():
    model = NgramEncoder()
    model.initialize(X=NAMES)
    return model


def test_vectors_are_those_of_scikit_learn(model):
    vectors = model.predict(NAMES)
    expected = TfidfVectorizer(analyzer="char_wb", ngram_range=(1, 3), norm=None).fit(NAMES)
    assert list(model.shims[0].weights) == expected.idf_.astype("float32").tolist()
    assert vectors.format == "csr" and vectors.dtype == np.float32
    assert vectors.shape == (4, model.get_dim("nO"))
    assert np.allclose(vectors.toarray(), expected.transform(NAMES).toarray())


@pytest.mark.parametrize("analyzer", ["char", "char_wb"])
@pytest.mark.parametrize("ngram_range", [(1, 3), (2, 2), (3, 4), (4, 9)])
@pytest.mark.parametrize("text", ["", "a", "heart attack", "in the a of", "œdème 2°"])
def test_ngrams_are_those_of_scikit_learn(text, analyzer, ngram_range):
    settings = {"analyzer": analyzer, "ngram_range": ngram_range}
    split = TfidfVectorizer(**settings, lowercase=False).build_analyzer()
    assert Counter(split_ngrams(text, **settings)) == Counter(split(text))


def test_any_string_is_fitted(model, odd_text):
    model.initialize(X=[odd_text, "heart"])
    restored = NgramEncoder().from_bytes(model.to_bytes())
    assert (restored.predict([odd_text]) != model.predict([odd_text])).nnz == 0


def test_inputs_are_equal_where_vectors_are(model):
    one, other, third = encoder_inputs(model, ["Heart  Attack", " heart\tattack", "heart-attack"])
    assert one == other == b"heart attack"
    assert third != one


def test_accents_do_not_matter(model):
    one, other = encoder_inputs(model, ["Céphalée ÅNGSTRÖM", "cephalee angstrom"])
    assert one == other
    # Another letter, not an accent.
    liver, cancer = encoder_inputs(model, ["かん", "がん"])
    assert liver != cancer


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
    with pytest.raises(ConnormError, match="CN409"):
        NgramEncoder().initialize(X=texts)


@pytest.mark.parametrize("ngram_range", [(0, 3), (3, 1), (2,)])
def test_a_range_without_lengths(ngram_range):
    with pytest.raises(ConnormError, match="CN006"):
        NgramEncoder(ngram_range=ngram_range)


@pytest.mark.parametrize("lengths", [(1, 1), (3, 4), [1, 100]])
def test_lengths(lengths):
    assert is_ngram_range(lengths)


@pytest.mark.parametrize("lengths", [(), (1,), (0, 3), (4, 3), (1, 10**9), (1, 2, 3), (1.0, 2)])
def test_no_lengths(lengths):
    assert not is_ngram_range(lengths)
    for make in (NgramEncoder, DanEncoder):
        with pytest.raises(ConnormError, match="CN006.*ngram_range"):
            make(ngram_range=lengths)
