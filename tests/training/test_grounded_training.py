"""The loop with triplets and prototypes: what is fitted, what is trained, when it stops."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from spacy_connorm import Concept, Ontology
from spacy_connorm.documents.mentions import Mention
from spacy_connorm.encoders import encode, trainable
from spacy_connorm.encoders.word_vectors import WordVectorEncoder
from spacy_connorm.errors import ConnormError
from spacy_connorm.evaluation.metrics import score_retrieval
from spacy_connorm.training.batchers import PairBatcher
from spacy_connorm.training.config import Training
from spacy_connorm.training.dev_retrieval import DevRetrieval
from spacy_connorm.training.grounding_batcher import GroundingBatcher
from spacy_connorm.training.objectives import ConceptualGrounding, SupervisedContrastive
from spacy_connorm.training.trainer import run_training

from .conftest import NAMES
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
    losses = [each["loss"] for each in trained.history if "loss" in each]
    assert np.mean(losses[-8:]) < 0.7 * np.mean(losses[:8])
    fresh = trainable(make(cca=cca))
    fresh.fit(pool.texts, pool.members)
    assert torch.equal(module.prototypes, fresh.prototypes)
    if cca:
        assert torch.equal(module.cca.matrix, fresh.cca.matrix)
    assert not torch.equal(module.hidden.weight, fresh.hidden.weight)


def test_a_resumed_run_is_the_same(make, pool, tmp_path):
    whole = train(trainable(make()), pool, settings(), tmp_path / "whole")
    steps = max(each["step"] for each in whole.history)
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


def test_batcher_objective_and_encoder_belong_together(make_module, pool, tmp_path):
    for other in ({"batcher": PairBatcher()}, {"objective": SupervisedContrastive()}):
        with pytest.raises(ConnormError, match="CN830"):
            replace(settings(), **other)
    with pytest.raises(ConnormError, match="CN836"):
        train(make_module(), pool, settings(), tmp_path)


def mention(text, kb_id):
    return Mention(text, "Disease", kb_id, ((0, len(text)),))


ONTOLOGY = Ontology(
    Concept(f"C{number}", names[0], names[1:], alt_ids=(f"A{number}",))
    for number, names in enumerate(NAMES)
)


def test_the_dev_score_ranks_the_names_of_o_and_d(make):
    synonyms = [("the skin", "C2"), ("the heart", "C9")]
    asked = [("cancer skin", "A2"), ("attack", "C0"), ("heart", "C9"), ("zzz", "C8"), ("of", "")]
    score = DevRetrieval(ONTOLOGY, synonyms, [mention(*each) for each in asked])
    model = make()
    found = score(trainable(model).eval())
    names = [*(name for names in NAMES for name in names), "the skin", "the heart"]
    relevant = [[6, 7, 8, 12], [0, 1, 2], [13]]
    queries = encode(model, [text for text, _ in asked[:3]])
    expected = score_retrieval(queries, encode(model, names), list(map(np.asarray, relevant)))
    assert found.pop("mentions") == 3
    assert found == {key: round(100 * each, 2) for key, each in expected._asdict().items()}


def test_the_dev_score_takes_any_module(make_module):
    found = DevRetrieval(ONTOLOGY, [], [mention("skin cancer", "C2")])(make_module().eval())
    assert found["accuracy"] == 100.0 and 0 < found["map"] <= 100.0


def test_dev_mentions_of_no_known_concept():
    with pytest.raises(ConnormError, match="CN810"):
        DevRetrieval(ONTOLOGY, [], [mention("skin cancer", "C9")])
