"""The trainer's arguments: what is refused, what follows from the rest, which device is taken."""

import pytest
import torch
from transformers.integrations.integration_utils import INTEGRATION_TO_CALLBACK

from spacy_connorm.errors import ConnormError
from spacy_connorm.training.arguments import make_arguments
from spacy_connorm.training.batchers import PairBatcher
from spacy_connorm.training.config import Training
from spacy_connorm.training.objectives import SupervisedContrastive


def make(folder, *, scored, use_cpu=True, **arguments):
    training = Training(
        batcher=PairBatcher(size=6),
        objective=SupervisedContrastive(),
        arguments=arguments,
    )
    return make_arguments(training, folder, use_cpu=use_cpu, scored=scored)


@pytest.mark.parametrize(
    "arguments",
    [
        {"learning_rat": 1},
        {"output_dir": "x"},
        {"eval_strategy": "sometimes"},
        {"gradient_checkpointing": True},
        {"save_safetensors": False},
        {"save_only_model": True},
    ],
)
def test_what_the_trainer_does_not_take(tmp_path, arguments):
    with pytest.raises(ConnormError, match="CN711"):
        make(tmp_path, scored=False, **arguments)


@pytest.mark.parametrize("name", ["learning_rate", "weight_decay", "num_train_epochs"])
@pytest.mark.parametrize("value", ["abc", -1, None, float("nan"), True])
def test_a_number_that_the_trainer_would_stumble_over(tmp_path, name, value):
    with pytest.raises(ConnormError, match=f"CN711.*`{name}` must be a number, at least 0"):
        make(tmp_path, scored=False, **{name: value})


@pytest.mark.parametrize("value", ["nonsense", ["none", "all"]])
def test_a_service_that_is_not_known(tmp_path, value):
    with pytest.raises(ConnormError, match="CN711.*`report_to` must be .*wandb"):
        make(tmp_path, scored=False, report_to=value)


@pytest.mark.parametrize(
    "arguments",
    [
        {"eval_strategy": "no"},
        {"eval_strategy": "steps", "eval_steps": 2},
        {"eval_strategy": "steps", "eval_steps": 2, "save_strategy": "steps", "save_steps": 4},
        {"save_strategy": "best"},
    ],
)
def test_every_score_needs_its_checkpoint(tmp_path, arguments):
    with pytest.raises(ConnormError, match="CN711"):
        make(tmp_path, scored=True, **arguments)


def test_scores_and_checkpoints_may_go_by_steps(tmp_path):
    steps = {"eval_strategy": "steps", "eval_steps": 2, "save_strategy": "steps", "save_steps": 2}
    assert make(tmp_path, scored=True, **steps).eval_strategy == "steps"
    assert make(tmp_path, scored=False, **steps).eval_strategy == "no"


def test_one_gpu_is_used_the_present_one(tmp_path, monkeypatch):
    present = [2]
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 4)
    monkeypatch.setattr(torch.cuda, "current_device", lambda: present[-1])
    monkeypatch.setattr(
        torch.cuda, "set_device", lambda device: present.append(getattr(device, "index", device))
    )
    arguments = make(tmp_path, scored=False, use_cpu=False)
    assert arguments.device == torch.device("cuda", 2)
    assert arguments.n_gpu == 1 and arguments.train_batch_size == 1
    assert torch.cuda.current_device() == 2


def test_scores_are_sent_nowhere_unless_asked(tmp_path, monkeypatch):
    assert make(tmp_path, scored=False).report_to == []
    for nothing in (["none"], [], None):
        assert make(tmp_path, scored=False, report_to=nothing).report_to == []
    monkeypatch.setitem(INTEGRATION_TO_CALLBACK, "tensorboard", object)
    assert make(tmp_path, scored=False, report_to="tensorboard").report_to == ["tensorboard"]


@pytest.mark.parametrize("error", [RuntimeError, ImportError, ValueError])
def test_a_service_whose_library_is_missing_is_told_before_training(error, tmp_path, monkeypatch):
    def start():
        raise error("WandbCallback requires wandb to be installed. Run `pip install wandb`.")

    monkeypatch.setitem(INTEGRATION_TO_CALLBACK, "wandb", start)
    with pytest.raises(ConnormError, match="CN711.*pip install wandb"):
        make(tmp_path, scored=False, report_to=["wandb"])
