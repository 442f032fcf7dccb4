"""The network that scores candidates."""

import numpy as np
import pytest
import spacy
from thinc.api import Adam, Model

from spacy_connorm.reranking.features import COLUMNS
from spacy_connorm.reranking.model import (
    MentionBatch,
    RankingInput,
    build_reranker,
    is_initialized,
    mention_numbers,
)

WIDTH = 4


def token_vectors():
    """A vector for each token, by its length and place, whose gradient is kept in `learned`."""
    learned = []

    def forward(model, docs, is_train):
        vectors = [
            model.ops.asarray2f([[len(token), token.i, 1, (-1) ** token.i] for token in doc])
            for doc in docs
        ]
        return vectors, lambda gradient: learned.append(gradient) or []

    return Model("vectors", forward, dims={"nO": WIDTH}), learned


def batch(sizes, contexts, seed=0):
    rng = np.random.default_rng(seed)
    total = sum(sizes)
    return MentionBatch(
        contexts=[np.asarray(each) for each in contexts],
        mention=np.repeat(np.arange(len(sizes)), sizes),
        features=rng.normal(size=(total, len(COLUMNS))).astype("float32"),
        names=["name"] * total,
    )


@pytest.fixture
def inputs():
    nlp = spacy.blank("xx")
    docs = [nlp("one two three four"), nlp("nothing"), nlp("five six")]
    batches = [batch([2, 3], [[0, 1], [3]]), batch([], []), batch([2], [[1]], seed=1)]
    vectors = np.random.default_rng(2).normal(size=(7, 3)).astype("float32")
    return RankingInput(docs, batches, vectors)


@pytest.mark.parametrize("with_sentences", [False, True])
def test_before_training_all_scores_are_zero(inputs, with_sentences):
    model = build_reranker(token_vectors()[0] if with_sentences else None)
    assert not is_initialized(model)
    model.initialize(X=inputs)
    assert is_initialized(model)
    np.testing.assert_array_equal(model.predict(inputs), np.zeros(7))


def test_mentions_are_counted_through_all_documents(inputs):
    assert mention_numbers(inputs.batches).tolist() == [0, 0, 1, 1, 1, 2, 2]


@pytest.mark.parametrize("with_sentences", [False, True])
def test_gradients_are_slopes(inputs, with_sentences):
    tok2vec, learned = token_vectors()
    model = build_reranker(tok2vec if with_sentences else None, hidden_width=5, context_width=2)
    model.initialize(X=inputs)
    rng = np.random.default_rng(0)
    for node in model.walk():
        for name in node.param_names:
            shape = node.get_param(name).shape
            node.set_param(name, rng.normal(size=shape).astype("float32"))
    wanted = rng.normal(size=7).astype("float32")
    _, backprop = model.begin_update(inputs)
    backprop(wanted)
    checked = 0
    for node in model.walk():
        for name in node.param_names:
            own, gradient = node.get_param(name).copy(), node.get_grad(name)
            place = np.unravel_index(np.abs(gradient).argmax(), own.shape)
            scores = []
            for step in (1e-2, -1e-2):
                changed = own.copy()
                changed[place] += step
                node.set_param(name, changed)
                scores.append(float((model.predict(inputs) * wanted).sum()))
            node.set_param(name, own)
            assert gradient[place] == pytest.approx((scores[0] - scores[1]) / 2e-2, rel=0.05)
            checked += 1
    assert checked == (10 if with_sentences else 4)
    if with_sentences:
        shapes = [each.shape for each in learned[-1]]
        assert shapes == [(4, WIDTH), (1, WIDTH), (2, WIDTH)]
        assert not learned[-1][1].any() and not learned[-1][0][2].any()  # in no context


def test_it_learns_and_survives_bytes(inputs):
    model = build_reranker(token_vectors()[0])
    model.initialize(X=inputs)
    optimizer = Adam(0.01)
    target = np.array([0, 1, 0, 0, 1, 1, 0], dtype="float32")
    for _ in range(200):
        scores, backprop = model.begin_update(inputs)
        backprop(scores - target)
        model.finish_update(optimizer)
    scores = model.predict(inputs)
    np.testing.assert_allclose(scores, target, atol=0.2)
    copy = build_reranker(token_vectors()[0]).from_bytes(model.to_bytes())
    np.testing.assert_array_equal(copy.predict(inputs), scores)


def test_documents_without_mentions_still_answer_for_their_tokens(inputs):
    tok2vec, learned = token_vectors()
    model = build_reranker(tok2vec)
    model.initialize(X=inputs)
    empty = RankingInput(inputs.docs[1:2], inputs.batches[1:2], np.empty((0, 3), dtype="float32"))
    scores, backprop = model.begin_update(empty)
    backprop(np.zeros(0, dtype="float32"))
    assert scores.shape == (0,) and [each.shape for each in learned[-1]] == [(1, WIDTH)]
