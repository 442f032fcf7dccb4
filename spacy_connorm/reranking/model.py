"""`spacy-connorm.CandidateReranker.v1`: a small network that scores the candidates of mentions.

spaCy imports this module whenever it creates a pipeline, so it must stay light.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from spacy.tokens import Doc
from thinc.api import Dropout, LayerNorm, Linear, Model, Relu, chain
from thinc.types import Floats1d, Floats2d


class MentionBatch(NamedTuple):
    """The mentions of one document and all of their candidates.

    contexts (Sequence[Ints1d]): m times int64 (t,): the tokens around a mention, at least one.
    mention (Ints1d): int64 (c,): the mention of each candidate, mentions in order.
    features (Floats2d): float32 (c, f): see `candidate_features`.
    names (Sequence[str]): c preferred names of candidates.
    """

    contexts: Sequence[np.ndarray]
    mention: np.ndarray
    features: np.ndarray
    names: Sequence[str]


class RankingInput(NamedTuple):
    """What the network reads of n documents.

    docs (Sequence[Doc]): The documents.
    batches (Sequence[MentionBatch]): The mentions of each.
    vectors (Floats2d): float32 (c, w): of all candidates' names; (c, 0) if no sentences are read.
    """

    docs: Sequence[Doc]
    batches: Sequence[MentionBatch]
    vectors: np.ndarray


Reranker: TypeAlias = Model[RankingInput, Floats1d]


def build_reranker(
    tok2vec: Model[list[Doc], list[Floats2d]] | None = None,
    hidden_width: int = 32,
    context_width: int = 16,
) -> Reranker:
    """Score candidates by what is known of them and, with `tok2vec`, by how well their names fit
    the sentence: a score of features, plus the mean product of the components of the sentence's
    vector and the vector of the candidate's name, both mapped to `context_width`.

    tok2vec (Optional[Model[List[Doc], List[Floats2d]]]): The vectors of tokens, such as a listener
        to the pipeline's own transformer; None: sentences are not read.
    hidden_width (int): Of the layer over features.
    context_width (int): Of the two mappings.
    RETURNS (Model[RankingInput, Floats1d]): One score per candidate, in order. Before training all
        are 0.
    """
    features: Model = chain(Relu(nO=hidden_width), Dropout(), Linear(nO=1, init_W=_zeros))
    layers, refs = [features], {"features": features}
    if tok2vec is not None:
        # Zeros on one side: before training, sentences say nothing.
        sentence: Model = chain(LayerNorm(), Dropout(), Linear(nO=context_width, init_W=_zeros))
        name: Model = chain(Dropout(), Linear(nO=context_width))
        layers += [tok2vec, sentence, name]
        refs |= {"tok2vec": tok2vec, "sentence": sentence, "name": name}
    return Model("candidate_reranker", _forward, init=_initialize, layers=layers, refs=dict(refs))


def is_initialized(model: Reranker) -> bool:
    """RETURNS (bool): Whether a model has weights: from `initialize` or from disk."""
    return bool(model.get_ref("features").layers[0].has_dim("nI"))


def reads_sentences(model: Reranker) -> bool:
    """RETURNS (bool): Whether a model needs the vectors of candidates' names."""
    return bool(model.has_ref("tok2vec"))


def mention_numbers(batches: Sequence[MentionBatch]) -> np.ndarray:
    """RETURNS (Ints1d): int64 (c,): the mention of each candidate, counted through all batches."""
    starts = np.cumsum([0, *(len(each.contexts) for each in batches)])
    numbers = [each.mention + start for each, start in zip(batches, starts[:-1], strict=True)]
    return np.concatenate(numbers)


def _zeros(ops: Any, shape: tuple[int, ...]) -> Any:
    return ops.alloc(shape)


def _initialize(model: Reranker, X: RankingInput | None = None, Y: Floats1d | None = None) -> None:
    if X is None:
        return
    model.get_ref("features").initialize(X=_features(model, X))
    if reads_sentences(model):
        model.get_ref("tok2vec").initialize(X=list(X.docs))
        sentences, _ = _sentences(model, X, is_train=False)
        model.get_ref("sentence").initialize(X=sentences)
        model.get_ref("name").initialize(X=_array(model, X.vectors))


def _forward(model: Reranker, X: RankingInput, is_train: bool) -> tuple[Any, Callable]:
    column, learn_features = model.get_ref("features")(_features(model, X), is_train)
    if not reads_sentences(model):
        return column[:, 0], lambda gradient: learn_features(gradient[:, None])
    fits, learn_context = _context_scores(model, X, is_train)

    def backprop(gradient: Any) -> None:
        learn_features(gradient[:, None])
        learn_context(gradient)

    return column[:, 0] + fits, backprop


def _context_scores(model: Reranker, X: RankingInput, is_train: bool) -> tuple[Any, Callable]:
    """RETURNS (Tuple[Floats1d, Callable]): (c,): how well each candidate fits its sentence."""
    sentences, learn_tokens = _sentences(model, X, is_train)
    mapped, learn_sentences = model.get_ref("sentence")(sentences, is_train)
    vectors = _array(model, X.vectors)
    # Unit vectors of many components are small numbers.
    names, learn_names = model.get_ref("name")(vectors * vectors.shape[1] ** 0.5, is_train)
    mention: Any = model.ops.asarray1i(mention_numbers(X.batches).tolist())

    def backprop(gradient: Any) -> None:
        column = gradient[:, None] / names.shape[1]
        learn_names(column * mapped[mention])
        by_sentence: Any = model.ops.alloc2f(*mapped.shape)
        model.ops.scatter_add(by_sentence, mention, column * names)
        learn_tokens(learn_sentences(by_sentence))

    return (mapped[mention] * names).mean(axis=1), backprop


def _sentences(model: Reranker, X: RankingInput, is_train: bool) -> tuple[Any, Callable]:
    """RETURNS (Tuple[Floats2d, Callable]): The mean of the token vectors around each mention."""
    tokens, learn_tokens = model.get_ref("tok2vec")(list(X.docs), is_train)
    means = [
        rows[context].mean(axis=0)
        for rows, each in zip(tokens, X.batches, strict=True)
        for context in each.contexts
    ]

    def backprop(gradient: Any) -> None:
        rows = iter(gradient)
        learned = []
        for vectors, each in zip(tokens, X.batches, strict=True):
            by_token: Any = model.ops.alloc2f(*vectors.shape)
            for context in each.contexts:
                by_token[context] += next(rows) / len(context)
            learned.append(by_token)
        learn_tokens(learned)

    joined = model.ops.xp.stack(means) if means else model.ops.alloc2f(0, tokens[0].shape[1])
    return joined, backprop


def _features(model: Reranker, X: RankingInput) -> Any:
    return _array(model, np.concatenate([each.features for each in X.batches]))


def _array(model: Reranker, values: Any) -> Any:
    return model.ops.asarray(values)
