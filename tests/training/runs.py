"""What the tests of the trainer share: settings of a short run, interruptions, comparisons."""

import pytest
import torch
from transformers import TrainerCallback

from spacy_connorm.training.batchers import PairBatcher
from spacy_connorm.training.batches import Memberships
from spacy_connorm.training.config import Training
from spacy_connorm.training.objectives import SupervisedContrastive
from spacy_connorm.training.objectives.objective import Objective


class Own(Objective):
    """An objective that is a function of the vectors."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def loss(self, vectors, relations):
        return self.function(vectors)


def memberships(concepts) -> Memberships:
    """The concepts of each text, as an objective reads them."""
    return Memberships(*map(torch.from_numpy, Memberships.of(concepts)))


class Interruption(Exception):
    pass


class InterruptAt(TrainerCallback):
    """Stops after a step, like a killed process."""

    def __init__(self, step):
        self.step = step

    def on_step_end(self, args, state, control, **kwargs):
        if state.global_step == self.step:
            raise Interruption


class InterruptAfterSaving(TrainerCallback):
    """Stops as soon as there are so many checkpoints."""

    def __init__(self, checkpoints):
        self.left = checkpoints

    def on_save(self, args, state, control, **kwargs):
        self.left -= 1
        if not self.left:
            raise Interruption


def settings(*, batcher=None, objective=None, adapter=None, patience=None, **arguments) -> Training:
    """Two epochs of four batches by default."""
    defaults = {"num_train_epochs": 2, "learning_rate": 1e-2, "logging_steps": 1, "report_to": []}
    return Training(
        batcher=batcher or PairBatcher(size=6),
        objective=objective or SupervisedContrastive(),
        arguments={**defaults, **arguments},
        micro_batch_tokens=16,
        adapter=adapter,
        patience=patience,
    )


def weights(module) -> dict[str, torch.Tensor]:
    return {name: tensor.clone() for name, tensor in module.state_dict().items()}


def assert_equal(one, other) -> None:
    assert one.keys() == other.keys()
    for name, tensor in one.items():
        assert torch.equal(tensor, other[name]), name


def assert_resumed(run, training, folder, whole, *, steps) -> None:
    """Check that runs that were interrupted at these steps go on to what a whole one gave."""
    for step in steps:
        broken = folder / f"broken-{step}"
        with pytest.raises(Interruption):
            run(training(), broken, callbacks=[InterruptAt(step + 1)])
        resumed = run(training(), broken, resume=True)
        assert_equal(weights(resumed.module), weights(whole.module))
        assert resumed.learned == whole.learned
