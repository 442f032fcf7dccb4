"""The trainer's arguments: what is refused, what follows from the rest, which device is taken."""

import pytest
import torch
from transformers.integrations.integration_utils import INTEGRATION_TO_CALLBACK

from spacy_connorm.errors import ConnormError
from spacy_connorm.training.arguments import make_arguments
from spacy_connorm.training.batchers import PairBatcher
from spacy_connorm.training.config import Training


def make(folder, *, scored, use_cpu=True, **arguments):
    training = Training(
        batcher=PairBatcher(size=6),
        objective=lambda vectors, relations: vectors.sum(),
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


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        *(
            ("learning_rate", value, "at least 0")
            for value in ("abc", -1, None, float("nan"), True)
        ),
        ("weight_decay", -0.1, "at least 0"),
        *(("num_train_epochs", value, "a number above 0") for value in (None, 0, -2, "two")),
        *(("max_steps", value, "above 0, or -1") for value in (0, -2, 1.5, None)),
        *(("gradient_accumulation_steps", value, "at least 1") for value in (0, 1.5)),
        *(("dataloader_num_workers", value, "a whole number, at least 0") for value in (-1, None)),
        *(("report_to", value, "wandb") for value in ("nonsense", None, ["none", "all"], [[]])),
    ],
)
def test_an_argument_that_the_trainer_would_stumble_over(tmp_path, name, value, expected):
    with pytest.raises(ConnormError, match=f"CN711.*`{name}` must be .*{expected}"):
        make(tmp_path, scored=False, **{name: value})


def test_steps_override_epochs(tmp_path):
    made = make(tmp_path, scored=False, num_train_epochs=0, max_steps=3, learning_rate=0)
    assert made.max_steps == 3
    with pytest.raises(ConnormError, match="CN711.*`num_train_epochs`"):
        make(tmp_path, scored=False, num_train_epochs=None, max_steps=3)
    with pytest.raises(ConnormError, match="CN711.*`num_train_epochs`"):
        make(tmp_path, scored=False, num_train_epochs=0, max_steps=-1)


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
    assert make(tmp_path, scored=False, report_to=["none"]).report_to == []
    monkeypatch.setitem(INTEGRATION_TO_CALLBACK, "tensorboard", object)
    assert make(tmp_path, scored=False, report_to="tensorboard").report_to == ["tensorboard"]


@pytest.mark.parametrize("error", [RuntimeError, ImportError, ValueError])
def test_a_service_whose_library_is_missing_is_told_before_training(error, tmp_path, monkeypatch):
    def start():
        raise error("WandbCallback requires wandb to be installed. Run `pip install wandb`.")

    monkeypatch.setitem(INTEGRATION_TO_CALLBACK, "wandb", start)
    with pytest.raises(ConnormError, match=r"CN711.*`report_to`: .*pip install wandb"):
        make(tmp_path, scored=False, report_to=["wandb"])
