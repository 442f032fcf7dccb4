"""The loop: what it learns, which weights it keeps, that it stops clearly."""

import json

import numpy as np
import pytest
import torch

from spacy_connorm.errors import ConnormError
from spacy_connorm.training.batchers import PairBatcher
from spacy_connorm.training.checkpoints import last_checkpoint
from spacy_connorm.training.trainer import run_training

from .runs import Own, assert_equal, settings, weights


def test_it_learns(make_module, pool, tmp_path):
    module, training = make_module(), settings(num_train_epochs=12)
    trained = run_training(module, pool, training, folder=tmp_path, use_cpu=True)
    losses = [row["loss"] for row in trained.history if "loss" in row]
    assert np.mean(losses[-5:]) < np.mean(losses[:5]) / 2
    module.eval()
    with torch.no_grad():
        vectors = module(**module.collate(module.rows(pool.texts))).numpy()
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    np.fill_diagonal(cosines := unit @ unit.T, -1)
    nearest = cosines.argmax(axis=1)
    assert [pool.concepts[row] for row in nearest] == pool.concepts


def test_the_best_epoch_is_kept(run, tmp_path):
    seen, scores = [], iter([10.0, 30.0, 20.0, 25.0])

    def score(module):
        seen.append(weights(module))
        return {"lenient@1": next(scores)}

    training = settings(batcher=PairBatcher(size=12), num_train_epochs=4)
    trained = run(training, tmp_path, score=score)
    assert len(seen) == 4
    assert_equal(weights(trained.module), seen[1])
    assert trained.best["eval_lenient@1"] == 30.0


def test_the_last_weights_are_scored_too(run, tmp_path):
    by_steps = {
        f"{what}_{name}": value
        for what in ("eval", "save")
        for name, value in (("strategy", "steps"), ("steps", 3))
    }
    scores = iter([10.0, 30.0])
    trained = run(
        settings(num_train_epochs=1, **by_steps),
        tmp_path,
        score=lambda module: {"lenient@1": next(scores)},
    )
    assert trained.best["epoch"] == 1 and trained.best["eval_lenient@1"] == 30.0


def test_patience_ends_the_training(run, tmp_path):
    scores = iter([10.0, 30.0, 20.0, 25.0, 0.0])
    trained = run(
        settings(batcher=PairBatcher(size=12), patience=2, num_train_epochs=9),
        tmp_path,
        score=lambda module: {"lenient@1": next(scores)},
    )
    assert [row["epoch"] for row in trained.history if "eval_lenient@1" in row] == [1, 2, 3, 4]


def test_scoring_changes_nothing(run, tmp_path):
    scored = []

    def score(module):
        scored.append(weights(module))
        torch.rand(3)
        module.train()
        return {"lenient@1": 1.0}

    plain = run(settings(), tmp_path / "a")
    run(settings(), tmp_path / "b", score=score)
    assert_equal(scored[-1], weights(plain.module))


def test_a_missing_score_is_named(run, tmp_path):
    with pytest.raises(ConnormError, match="CN118.*lenient@1.*mrr"):
        run(settings(), tmp_path, score=lambda module: {"mrr": 1.0})


def test_a_loss_that_is_not_finite_stops(run, tmp_path):
    calls = []

    def objective(vectors):
        calls.append(1)
        return vectors.sum() * (float("nan") if len(calls) == 6 else 0.0)

    training = settings(objective=Own(objective))
    with pytest.raises(ConnormError, match="CN820.*step 6"):
        run(training, tmp_path)
    state = json.loads((last_checkpoint(tmp_path) / "trainer_state.json").read_text())
    assert state["global_step"] < 6


def test_weights_that_are_not_finite_are_not_saved(run, tmp_path):
    class Overflow(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x

        @staticmethod
        def backward(ctx, gradient):
            return gradient * float("inf")

    training = settings(
        objective=Own(lambda vectors: Overflow.apply(vectors).sum()), max_grad_norm=0.0
    )
    with pytest.raises(ConnormError, match="CN820"):
        run(training, tmp_path)
    assert last_checkpoint(tmp_path) is None


def test_gradients_accumulate_over_batches(run, pool, tmp_path):
    trained = run(settings(gradient_accumulation_steps=2, bf16=True), tmp_path)
    batches = len(PairBatcher(size=6).batches(pool, seed=0, epoch=0))
    assert max(row["step"] for row in trained.history) == 2 * -(-batches // 2)
