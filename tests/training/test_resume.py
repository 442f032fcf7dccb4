"""An interrupted run continues as if it had not been interrupted."""

from dataclasses import replace

import pytest
import torch
from pickle_trap import Trap

from spacy_connorm.errors import ConnormError
from spacy_connorm.training.batchers import PairBatcher
from spacy_connorm.training.neighbour_batcher import NeighbourBatcher
from spacy_connorm.training.trainer import run_training

from .runs import (
    InterruptAfterSaving,
    InterruptAt,
    Interruption,
    assert_equal,
    assert_resumed,
    settings,
    weights,
)


@pytest.mark.parametrize(
    "batcher", [PairBatcher(size=6), NeighbourBatcher(size=6, neighbours=2)], ids=["pair", "near"]
)
def test_resume_continues_exactly(run, tmp_path, batcher):
    training = settings(
        batcher=batcher, save_strategy="steps", save_steps=3, lr_scheduler_type="cosine"
    )
    whole = run(training, tmp_path / "whole")
    assert whole.history[-1]["step"] == 8
    # Epochs have four steps. From step 3 on, once with the second epoch drawn already; from 6 on.
    assert_resumed(run, lambda: training, tmp_path, whole, steps=(3, 4, 7))


def test_resume_continues_exactly_where_gradients_accumulate(run, pool, tmp_path):
    training = settings(gradient_accumulation_steps=3, save_strategy="steps", save_steps=1)
    batches = len(PairBatcher(size=6).batches(pool, seed=0, epoch=0))
    assert batches % 3  # the last step of an epoch has fewer of its own
    whole = run(training, tmp_path / "whole")
    assert_resumed(run, lambda: training, tmp_path, whole, steps=(1, 2, 3))


def test_patience_goes_on_where_it_was(run, tmp_path):
    scores = [10.0, 30.0, 20.0, 25.0, 40.0, 50.0, 60.0]
    training = settings(batcher=PairBatcher(size=12), patience=2, num_train_epochs=6)

    def run_scored(folder, begin, **options):
        left = iter(scores[begin:])
        return run(training, folder, score=lambda module: {"lenient@1": next(left)}, **options)

    whole = run_scored(tmp_path / "whole", 0)
    assert whole.best["epoch"] == 2 and whole.history[-1]["epoch"] == 4
    for epochs in (2, 3, 4):
        broken = tmp_path / f"broken-{epochs}"
        with pytest.raises(Interruption):
            run_scored(broken, 0, callbacks=[InterruptAfterSaving(epochs)])
        resumed = run_scored(broken, epochs, resume=True)
        assert resumed.best == whole.best
        assert_equal(weights(resumed.module), weights(whole.module))


def test_a_finished_run_without_scores_gives_its_last_weights(run, tmp_path):
    training = settings()
    whole = run(training, tmp_path)
    again = run(training, tmp_path, resume=True)
    assert again.seconds == 0
    assert_equal(weights(again.module), weights(whole.module))


def test_a_resume_needs_the_pool_it_was_begun_with(make_module, pool, tmp_path):
    training = settings(num_train_epochs=1)
    run_training(make_module(), pool, training, folder=tmp_path, use_cpu=True)
    changed = replace(pool, texts=[*pool.texts[:-1], "acute acute cancer"])
    with pytest.raises(ConnormError, match="CN828"):
        run_training(make_module(), changed, training, folder=tmp_path, use_cpu=True, resume=True)
    # A run of its own draws batches of its own.
    run_training(make_module(), changed, training, folder=tmp_path, use_cpu=True)


def test_a_resume_needs_a_whole_checkpoint(run, tmp_path):
    (tmp_path / "checkpoint-5").mkdir()
    (tmp_path / "checkpoint-5" / "trainer_state.json").write_text("{")
    with pytest.raises(ConnormError, match="CN822"):
        run(settings(), tmp_path, resume=True)


BY_STEPS = settings(save_strategy="steps", save_steps=3)


@pytest.fixture
def checkpoint(run, tmp_path):
    """The checkpoint of a run that was interrupted."""
    with pytest.raises(Interruption):
        run(BY_STEPS, tmp_path, callbacks=[InterruptAt(4)])
    (path,) = tmp_path.glob("checkpoint-*")
    return path


@pytest.mark.parametrize("name", ["optimizer.pt", "scheduler.pt", "rng_state.pth"])
def test_a_checkpoint_runs_no_code(run, checkpoint, name):
    trace = checkpoint.parent / "code has run"
    assert (checkpoint / name).is_file()
    torch.save(Trap(trace), checkpoint / name)
    with pytest.raises(ConnormError, match="CN829"):
        run(BY_STEPS, checkpoint.parent, resume=True)
    assert not trace.exists()


@pytest.mark.parametrize(
    "name", ["model.safetensors", "optimizer.pt", "scheduler.pt", "rng_state.pth"]
)
def test_a_damaged_checkpoint_is_named(run, checkpoint, name):
    content = (checkpoint / name).read_bytes()
    for damage in (b"", content[: len(content) // 2]):
        (checkpoint / name).write_bytes(damage)
        with pytest.raises(ConnormError, match=rf"CN829.*{checkpoint.name}"):
            run(BY_STEPS, checkpoint.parent, resume=True)
