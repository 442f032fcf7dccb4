"""The loop with triplets and prototypes: what is fitted, what is trained, when it stops."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from spacy_connorm.encoders import trainable
from spacy_connorm.encoders.grounded import WordVectorEncoder
from spacy_connorm.errors import ConnormError
from spacy_connorm.training.batchers import PairBatcher
from spacy_connorm.training.config import Training
from spacy_connorm.training.grounding_batcher import GroundingBatcher
from spacy_connorm.training.objectives import ConceptualGrounding, SupervisedContrastive
from spacy_connorm.training.trainer import run_training

from .runs import InterruptAt, Interruption, assert_equal, weights


@pytest.fixture
def make(load_grounded, fasttext):
    """A function that makes an untrained encoder."""

    def make(**settings):
        given = {"input": WordVectorEncoder(name=str(fasttext)), "hidden": 16, "dropout": 0.2}
        return load_grounded(**given, **settings)

    return make


def settings(**arguments) -> Training:
    defaults = {"num_train_epochs": 3, "learning_rate": 1e-2, "logging_steps": 1, "report_to": []}
    return Training(
        batcher=GroundingBatcher(size=6, neighbours=4),
        objective=ConceptualGrounding(),
        arguments={**defaults, **arguments},
        micro_batch_tokens=1000,
        metric="map",
    )


def train(module, pool, training, folder, **options):
    return run_training(module, pool, training, folder=folder, use_cpu=True, **options)


@pytest.mark.parametrize("cca", [True, False])
def test_it_learns_and_cca_stays_as_it_was_fitted(make, pool, tmp_path, cca):
    module = trainable(make(cca=cca))
    trained = train(module, pool, settings(num_train_epochs=15), tmp_path)
    losses = [row["loss"] for row in trained.history if "loss" in row]
    assert np.mean(losses[-8:]) < 0.7 * np.mean(losses[:8])
    fresh = trainable(make(cca=cca))
    fresh.fit(pool.texts, pool.members)
    assert torch.equal(module.prototypes, fresh.prototypes)
    if cca:
        assert torch.equal(module.cca.matrix, fresh.cca.matrix)
    assert not torch.equal(module.hidden.weight, fresh.hidden.weight)


def test_a_resumed_run_is_the_same(make, pool, tmp_path):
    whole = train(trainable(make()), pool, settings(), tmp_path / "whole")
    steps = max(row["step"] for row in whole.history)
    with pytest.raises(Interruption):
        stop = [InterruptAt(steps // 3 + 2)]
        train(trainable(make()), pool, settings(), tmp_path / "halted", callbacks=stop)
    resumed = train(trainable(make()), pool, settings(), tmp_path / "halted", resume=True)
    assert_equal(weights(resumed.module), weights(whole.module))


def test_it_stops_at_the_first_fall_and_keeps_the_epoch_before(make, pool, tmp_path):
    scores, kept = iter([40.0, 60.0, 50.0, 90.0]), []

    def score(module):
        kept.append(weights(module))
        return {"map": next(scores)}

    training = replace(settings(num_train_epochs=10), patience=1)
    trained = train(trainable(make()), pool, training, tmp_path, score=score)
    assert len(kept) == 3
    assert trained.best is not None and trained.best["eval_map"] == 60.0
    assert_equal(weights(trained.module), kept[1])


def test_any_other_batcher_trains_it_too(make, pool, tmp_path):
    training = replace(settings(), batcher=PairBatcher(size=6), objective=SupervisedContrastive())
    module = trainable(make())
    before = weights(module)
    train(module, pool, training, tmp_path)
    assert not torch.equal(before["hidden.weight"], module.hidden.weight)


def test_an_encoder_without_prototypes_cannot_be_grounded(make_module, pool, tmp_path):
    with pytest.raises(ConnormError, match="CN830"):
        train(make_module(), pool, settings(), tmp_path)
