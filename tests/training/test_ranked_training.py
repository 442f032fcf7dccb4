"""The loop with ranked lists: candidates of the current weights, and a weight of n-grams that is
learned, kept and resumed."""

import json
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import torch

from spacy_connorm import Concept
from spacy_connorm.encoders import encoder_inputs, trainable
from spacy_connorm.training.batchers import PairBatcher, Ranking
from spacy_connorm.training.batches import Rankings, read_batches
from spacy_connorm.training.candidate_batcher import CandidateBatcher
from spacy_connorm.training.config import Training
from spacy_connorm.training.micro_batches import BatchEncoder, BatchLoss, EpochBatches
from spacy_connorm.training.objectives import Bcnh, BioSyn, SupervisedContrastive

from .conftest import make_mention
from .runs import assert_resumed

CONCEPTS = (
    Concept("C0", "cancer", ("the cancer",)),
    Concept("C1", "skin cancer", ("cancer of the skin",), parents=("C0",)),
    Concept("C2", "acute cancer", ("the acute cancer",), parents=("C0",)),
    Concept("C3", "headache", ("the headache",)),
    Concept("C4", "acute headache", parents=("C3",)),
    Concept("C5", "heart attack", ("attack of the heart",)),
)
MENTIONS = (
    ("cancer of skin", "C1"),
    ("the skin cancer", "C1"),
    ("cancer acute", "C2"),
    ("headache acute", "C4"),
    ("headache of the heart", "C5"),
    ("acute heart attack", "C5"),
)


@pytest.fixture
def pool(gather, make_encoder):
    mentions = [make_mention(*mention) for mention in MENTIONS]
    return gather(CONCEPTS, mentions, inputs=partial(encoder_inputs, make_encoder()))[0]


def settings(objective=None, *, batcher=None, **arguments) -> Training:
    defaults = {"num_train_epochs": 3, "learning_rate": 1e-3, "logging_steps": 1, "report_to": []}
    return Training(
        batcher=batcher or CandidateBatcher(size=4, candidates=4, hypernyms=2),
        objective=objective or Bcnh(),
        arguments={**defaults, **arguments},
        micro_batch_tokens=64,
    )


@pytest.mark.parametrize("make", [Bcnh, BioSyn])
def test_it_learns(run, tmp_path, make):
    trained = run(settings(make(temperature=0.2), num_train_epochs=10), tmp_path)
    losses = [row["loss"] for row in trained.history if "loss" in row]
    assert np.mean(losses[-4:]) < np.mean(losses[:4])


def test_the_weight_of_n_grams_is_learned_and_logged(run, tmp_path):
    trained = run(settings(Bcnh(lexical_weight=0.4, learning_rate=0.05)), tmp_path)
    logged = [row["lexical_weight"] for row in trained.history if "loss" in row]
    assert len(set(logged)) == len(logged) > 2
    assert trained.learned["lexical_weight"] == pytest.approx(logged[-1])
    # Adam's first step is the learning rate, up or down the logarithm.
    assert abs(np.log(logged[0] / 0.4)) == pytest.approx(0.05, rel=1e-3)


def test_a_rate_of_zero_leaves_the_weight(run, tmp_path):
    trained = run(settings(Bcnh(lexical_weight=0.4, learning_rate=0.0)), tmp_path)
    assert trained.learned["lexical_weight"] == pytest.approx(0.4)


def test_nothing_is_learned_beside_an_encoder_by_other_objectives(run, tmp_path):
    training = settings(SupervisedContrastive(), batcher=PairBatcher(size=6))
    trained = run(training, tmp_path)
    assert trained.learned == {}
    assert all("lexical_weight" not in entry for entry in trained.history)


def test_candidates_are_drawn_with_the_weights_of_their_epoch(run, pool, tmp_path):
    now = []

    class Watch(CandidateBatcher):
        def batches(self, pool, *, seed, epoch, ranking):
            rows = np.arange(len(pool.texts))
            now.append((ranking.vectors(rows), ranking.lexical_weight))
            return super().batches(pool, seed=seed, epoch=epoch, ranking=ranking)

    training = settings(Bcnh(learning_rate=0.2), learning_rate=1e-2)
    run(replace(training, batcher=Watch(size=4, candidates=4)), tmp_path)
    assert len(now) == 3
    drawn = []
    for epoch, (vectors, weight) in enumerate(now):
        kept = read_batches(tmp_path / f"epoch-{epoch}.npz", Rankings, pool=pool.digest())
        then = Ranking(vectors.__getitem__, lexical_weight=weight)
        again = CandidateBatcher(size=4, candidates=4).batches(
            pool, seed=0, epoch=epoch, ranking=then
        )
        for (rows, lists), (others, found) in zip(kept, again, strict=True):
            np.testing.assert_array_equal(rows[lists.candidates], others[found.candidates])
        drawn.append(
            {
                int(rows[mention]): tuple(rows[candidates])
                for rows, lists in kept
                for mention, candidates in zip(lists.mentions, lists.candidates, strict=True)
            }
        )
    assert len({weight for _, weight in now}) == 3
    assert drawn[0] != drawn[-1]


def test_resume_continues_exactly(run, tmp_path):
    def training():
        return settings(
            Bcnh(learning_rate=0.05),
            learning_rate=1e-2,
            save_strategy="steps",
            save_steps=1,
            lr_scheduler_type="cosine",
        )

    whole = run(training(), tmp_path / "whole")
    assert_resumed(run, training, tmp_path, whole, steps=(2, 3, 5))


def test_the_best_epoch_has_its_own_weight_of_n_grams(run, tmp_path):
    scores = iter([10.0, 30.0, 20.0])
    trained = run(
        settings(Bcnh(learning_rate=0.05)),
        tmp_path,
        score=lambda module: {"lenient@1": next(scores)},
    )
    logged = {row["step"]: row["lexical_weight"] for row in trained.history if "loss" in row}
    best = next(row["step"] for row in trained.history if row.get("eval_lenient@1") == 30.0)
    assert trained.learned["lexical_weight"] == pytest.approx(logged[best])
    assert best < max(logged)


@pytest.mark.parametrize("micro_batch_tokens", [1, 20, 1000])
def test_cached_gradients_are_those_of_the_whole_batch(
    make_encoder, pool, tmp_path, micro_batch_tokens
):
    def gradients(*, tokens, cache_gradients):
        module = trainable(make_encoder()).eval()  # no dropout
        loss = BatchLoss(BatchEncoder(module, cache_gradients=cache_gradients), Bcnh())
        batches = EpochBatches(
            pool,
            CandidateBatcher(candidates=4),
            module,
            micro_batch_tokens=tokens,
            seed=0,
            folder=tmp_path,
        )
        weight = loss.objective.learned()["lexical_weight"]
        ranking = Ranking(lambda rows: rows[:, None] % [3, 5, 7], lexical_weight=weight)
        batches.begin_epoch(0, ranking)
        loss(**batches[0]).backward()
        return {name: each.grad for name, each in loss.named_parameters() if each.grad is not None}

    plain = gradients(tokens=10_000, cache_gradients=False)
    cached = gradients(tokens=micro_batch_tokens, cache_gradients=True)
    assert plain.keys() == cached.keys() and "objective.log_lexical_weight" in plain
    largest = max(weights.abs().max() for weights in plain.values())
    for name, each in plain.items():
        assert torch.allclose(cached[name], each, atol=float(largest) * 1e-5), name


def test_checkpoints_hold_what_is_learned(run, tmp_path):
    run(settings(Bcnh(learning_rate=0.05)), tmp_path)
    (first, *_) = sorted(tmp_path.glob("checkpoint-*"))
    state = json.loads((first / "trainer_state.json").read_text())
    assert any("lexical_weight" in entry for entry in state["log_history"])
