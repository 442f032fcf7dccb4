"""The loop: what it learns, that it resumes exactly, that it stops clearly."""

import json
from dataclasses import replace

import numpy as np
import pytest
import torch
from transformers import TrainerCallback

from spacy_connorm.encoders import trainable
from spacy_connorm.encoders.transformer import TransformerEncoder
from spacy_connorm.errors import ConnormError
from spacy_connorm.training.adapters import LoraAdapter
from spacy_connorm.training.batchers import GroupBatcher, PairBatcher
from spacy_connorm.training.checkpoints import last_checkpoint
from spacy_connorm.training.config import Training
from spacy_connorm.training.micro_batches import BatchEncoder, EpochBatches
from spacy_connorm.training.neighbour_batcher import NeighbourBatcher
from spacy_connorm.training.objectives import SupervisedContrastive
from spacy_connorm.training.pool import SynonymPool
from spacy_connorm.training.trainer import run_training

QUERY = "transformer.encoder.layer.0.attention.self.query.weight"
NAMES = (
    ("heart attack", "attack of the heart", "acute heart attack"),
    ("headache", "acute headache", "the headache"),
    ("skin cancer", "cancer of the skin", "cancer of skin"),
    ("acute cancer", "cancer", "the acute cancer"),
)


class Interruption(Exception):
    pass


class InterruptAt(TrainerCallback):
    """Breaks off after a step, as a killed process does."""

    def __init__(self, step):
        self.step = step

    def on_step_end(self, args, state, control, **kwargs):
        if state.global_step == self.step:
            raise Interruption


@pytest.fixture
def pool():
    texts = [name for names in NAMES for name in names]
    return SynonymPool(
        texts=texts,
        concepts=[(number,) for number, names in enumerate(NAMES) for _ in names],
        members=[np.arange(3, dtype="int32") + 3 * number for number in range(len(NAMES))],
        concept_ids=[f"C{number}" for number in range(len(NAMES))],
    )


@pytest.fixture
def make_module(tiny_folder):
    """A function that gives the same untrained module each time."""

    def make():
        encoder = TransformerEncoder(name=str(tiny_folder))
        encoder.initialize()
        return trainable(encoder)

    return make


def settings(*, batcher=None, objective=None, adapter=None, patience=None, **arguments) -> Training:
    defaults = {"num_train_epochs": 4, "learning_rate": 1e-2, "logging_steps": 1, "report_to": []}
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


def test_it_learns(make_module, pool, tmp_path):
    module = make_module()
    trained = run_training(
        module, pool, settings(num_train_epochs=20), folder=tmp_path, use_cpu=True
    )
    losses = [each["loss"] for each in trained.history if "loss" in each]
    assert np.mean(losses[-5:]) < np.mean(losses[:5]) / 2
    module.eval()
    with torch.no_grad():
        vectors = module(**module.collate(module.rows(pool.texts))).numpy()
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    np.fill_diagonal(cosines := unit @ unit.T, -1)
    nearest = cosines.argmax(axis=1)
    assert [pool.concepts[row] for row in nearest] == pool.concepts


@pytest.mark.parametrize(
    "batcher", [PairBatcher(size=6), NeighbourBatcher(size=6, neighbours=2)], ids=["pair", "near"]
)
@pytest.mark.parametrize("step", [3, 4, 7])
def test_resume_continues_exactly(make_module, pool, tmp_path, batcher, step):
    training = settings(
        batcher=batcher, save_strategy="steps", save_steps=3, lr_scheduler_type="cosine"
    )
    whole = run_training(make_module(), pool, training, folder=tmp_path / "whole", use_cpu=True)
    with pytest.raises(Interruption):
        run_training(
            make_module(),
            pool,
            training,
            folder=tmp_path / "broken",
            use_cpu=True,
            callbacks=[InterruptAt(step + 1)],
        )
    resumed = run_training(
        make_module(), pool, training, folder=tmp_path / "broken", use_cpu=True, resume=True
    )
    assert_equal(weights(resumed.module), weights(whole.module))


@pytest.mark.parametrize("step", [1, 2, 3])
def test_resume_continues_exactly_where_gradients_accumulate(make_module, pool, tmp_path, step):
    training = settings(gradient_accumulation_steps=3, save_strategy="steps", save_steps=1)
    batches = len(PairBatcher(size=6).batches(pool, seed=0, epoch=0))
    assert batches % 3  # the last step of an epoch has fewer of its own
    whole = run_training(make_module(), pool, training, folder=tmp_path / "whole", use_cpu=True)
    with pytest.raises(Interruption):
        run_training(
            make_module(),
            pool,
            training,
            folder=tmp_path / "broken",
            use_cpu=True,
            callbacks=[InterruptAt(step + 1)],
        )
    resumed = run_training(
        make_module(), pool, training, folder=tmp_path / "broken", use_cpu=True, resume=True
    )
    assert_equal(weights(resumed.module), weights(whole.module))


class InterruptAfterSaving(TrainerCallback):
    """Breaks off as soon as so many checkpoints stand."""

    def __init__(self, checkpoints):
        self.left = checkpoints

    def on_save(self, args, state, control, **kwargs):
        self.left -= 1
        if not self.left:
            raise Interruption


@pytest.mark.parametrize("epochs", [2, 3, 4])
def test_patience_goes_on_where_it_was(make_module, pool, tmp_path, epochs):
    scores = [10.0, 30.0, 20.0, 25.0, 40.0, 50.0, 60.0]

    def run(folder, begin, **options):
        left = iter(scores[begin:])
        return run_training(
            make_module(),
            pool,
            settings(patience=2, num_train_epochs=6),
            folder=folder,
            use_cpu=True,
            score=lambda module: {"lenient@1": next(left)},
            **options,
        )

    whole = run(tmp_path / "whole", 0)
    assert whole.best["epoch"] == 2 and whole.history[-1]["epoch"] == 4
    with pytest.raises(Interruption):
        run(tmp_path / "broken", 0, callbacks=[InterruptAfterSaving(epochs)])
    resumed = run(tmp_path / "broken", epochs, resume=True)
    assert resumed.best == whole.best
    assert_equal(weights(resumed.module), weights(whole.module))


def test_a_finished_run_without_scores_gives_its_last_weights(make_module, pool, tmp_path):
    training = settings(num_train_epochs=2)
    whole = run_training(make_module(), pool, training, folder=tmp_path, use_cpu=True)
    again = run_training(make_module(), pool, training, folder=tmp_path, use_cpu=True, resume=True)
    assert_equal(weights(again.module), weights(whole.module))


def test_a_resume_needs_the_pool_it_was_begun_with(make_module, pool, tmp_path):
    training = settings(num_train_epochs=1)
    run_training(make_module(), pool, training, folder=tmp_path, use_cpu=True)
    changed = replace(pool, texts=[*pool.texts[:-1], "acute acute cancer"])
    with pytest.raises(ConnormError, match="CN828"):
        run_training(make_module(), changed, training, folder=tmp_path, use_cpu=True, resume=True)
    # A run of its own draws batches of its own.
    run_training(make_module(), changed, training, folder=tmp_path, use_cpu=True)


def test_a_resume_needs_a_whole_checkpoint(make_module, pool, tmp_path):
    (tmp_path / "checkpoint-5").mkdir()
    (tmp_path / "checkpoint-5" / "trainer_state.json").write_text("{")
    with pytest.raises(ConnormError, match="CN822"):
        run_training(make_module(), pool, settings(), folder=tmp_path, use_cpu=True, resume=True)


def test_the_last_whole_checkpoint_is_found(tmp_path):
    for name, state in {"checkpoint-9": "{}", "checkpoint-10": "{}", "checkpoint-11": ""}.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "trainer_state.json").write_text(state)
    (tmp_path / "checkpoint-x").mkdir()
    assert last_checkpoint(tmp_path) == tmp_path / "checkpoint-10"


@pytest.mark.parametrize("micro_batch_tokens", [1, 12, 1000])
def test_cached_gradients_are_those_of_the_whole_batch(
    make_module, pool, tmp_path, micro_batch_tokens
):
    def gradients(*, tokens, cache_gradients):
        module = make_module().eval()  # no dropout
        batches = EpochBatches(
            pool,
            GroupBatcher(size=12, per_concept=3),
            module,
            micro_batch_tokens=tokens,
            seed=0,
            folder=tmp_path,
        )
        batches.begin_epoch(0, None)
        batch = batches[0]
        encoder = BatchEncoder(module, cache_gradients=cache_gradients)
        vectors = encoder(batch["micro_batches"], batch["places"])
        (vectors * torch.arange(len(vectors)).unsqueeze(1)).pow(2).sum().backward()
        return {name: each.grad for name, each in module.named_parameters()}

    plain = gradients(tokens=10_000, cache_gradients=False)
    cached = gradients(tokens=micro_batch_tokens, cache_gradients=True)
    largest = max(each.abs().max() for each in plain.values() if each is not None)
    for name, each in plain.items():
        if each is not None:
            assert torch.allclose(cached[name], each, atol=float(largest) * 1e-5), name


def test_vectors_come_in_the_order_of_the_batch(make_module, pool, tmp_path):
    module = make_module().eval()
    batcher = PairBatcher(size=8)
    batches = EpochBatches(pool, batcher, module, micro_batch_tokens=9, seed=3, folder=tmp_path)
    batches.begin_epoch(2, None)
    rows = batcher.batches(pool, seed=3, epoch=2)
    assert len(batches) == len(rows)
    encoder = BatchEncoder(module, cache_gradients=False)
    for item, own in enumerate(rows):
        batch = batches[item]
        assert len(batch["micro_batches"]) > 1
        with torch.no_grad():
            vectors = encoder(batch["micro_batches"], batch["places"])
            alone = [module(**module.collate(module.rows([pool.texts[row]]))) for row in own]
        assert torch.allclose(vectors, torch.cat(alone), atol=1e-5)
        same = [[pool.concepts[a] == pool.concepts[b] and a != b for b in own] for a in own]
        assert batch["positives"].tolist() == same


def test_the_best_epoch_is_kept(make_module, pool, tmp_path):
    seen, scores = [], iter([10.0, 30.0, 20.0, 25.0])

    def score(module):
        seen.append(weights(module))
        return {"lenient@1": next(scores)}

    trained = run_training(
        make_module(), pool, settings(), folder=tmp_path, use_cpu=True, score=score
    )
    assert len(seen) == 4
    assert_equal(weights(trained.module), seen[1])
    assert trained.best["eval_lenient@1"] == 30.0


def test_the_last_weights_are_scored_too(make_module, pool, tmp_path):
    by_steps = {
        f"{what}_{name}": value
        for what in ("eval", "save")
        for name, value in (("strategy", "steps"), ("steps", 3))
    }
    scores = iter([10.0, 30.0])
    trained = run_training(
        make_module(),
        pool,
        settings(num_train_epochs=1, **by_steps),
        folder=tmp_path,
        use_cpu=True,
        score=lambda module: {"lenient@1": next(scores)},
    )
    assert trained.best["epoch"] == 1 and trained.best["eval_lenient@1"] == 30.0


def test_patience_ends_the_training(make_module, pool, tmp_path):
    scores = iter([10.0, 30.0, 20.0, 25.0, 0.0])
    trained = run_training(
        make_module(),
        pool,
        settings(patience=2, num_train_epochs=9),
        folder=tmp_path,
        use_cpu=True,
        score=lambda module: {"lenient@1": next(scores)},
    )
    assert [each["epoch"] for each in trained.history if "eval_lenient@1" in each] == [1, 2, 3, 4]


def test_scoring_changes_nothing(make_module, pool, tmp_path):
    scored = []

    def score(module):
        scored.append(weights(module))
        torch.rand(3)
        module.train()
        return {"lenient@1": 1.0}

    plain = run_training(make_module(), pool, settings(), folder=tmp_path / "a", use_cpu=True)
    run_training(make_module(), pool, settings(), folder=tmp_path / "b", use_cpu=True, score=score)
    assert_equal(scored[-1], weights(plain.module))


def test_a_missing_score_is_named(make_module, pool, tmp_path):
    with pytest.raises(ConnormError, match="CN827.*lenient@1.*mrr"):
        run_training(
            make_module(),
            pool,
            settings(),
            folder=tmp_path,
            use_cpu=True,
            score=lambda module: {"mrr": 1.0},
        )


def test_a_loss_that_is_not_finite_stops(make_module, pool, tmp_path):
    calls = []

    def objective(vectors, relations):
        calls.append(1)
        return vectors.sum() * (float("nan") if len(calls) == 6 else 0.0)

    training = settings(objective=objective)
    with pytest.raises(ConnormError, match="CN820.*step 6"):
        run_training(make_module(), pool, training, folder=tmp_path, use_cpu=True)
    state = json.loads((last_checkpoint(tmp_path) / "trainer_state.json").read_text())
    assert state["global_step"] < 6


def test_weights_that_are_not_finite_are_not_saved(make_module, pool, tmp_path):
    class Overflow(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x

        @staticmethod
        def backward(ctx, gradient):
            return gradient * float("inf")

    training = settings(
        objective=lambda vectors, relations: Overflow.apply(vectors).sum(), max_grad_norm=0.0
    )
    with pytest.raises(ConnormError, match="CN820"):
        run_training(make_module(), pool, training, folder=tmp_path, use_cpu=True)
    assert last_checkpoint(tmp_path) is None


def test_gradients_accumulate_over_batches(make_module, pool, tmp_path):
    trained = run_training(
        make_module(),
        pool,
        settings(gradient_accumulation_steps=2, bf16=True),
        folder=tmp_path,
        use_cpu=True,
    )
    batches = len(PairBatcher(size=6).batches(pool, seed=0, epoch=0))
    assert max(each["step"] for each in trained.history) == 4 * -(-batches // 2)


def test_an_adapter_trains_few_weights_and_leaves_a_plain_transformer(make_module, pool, tmp_path):
    module = make_module()
    before = weights(module)
    training = settings(adapter=LoraAdapter(rank=1, alpha=2.0))
    trained = run_training(module, pool, training, folder=tmp_path, use_cpu=True)
    after = weights(trained.module)
    assert 0 < trained.trained_share < 0.5
    assert after.keys() == before.keys()
    changed = {name for name in after if not torch.equal(after[name], before[name])}
    assert changed and all("LayerNorm" not in name and "embeddings" not in name for name in changed)
    inputs = module.collate(module.rows(pool.texts))
    with torch.no_grad():
        assert torch.allclose(module.eval()(**inputs), trained.module.eval()(**inputs), atol=1e-5)


def test_an_adapter_without_its_library_names_it(make_module, monkeypatch):
    monkeypatch.setattr("spacy_connorm.training.adapters.find_spec", lambda library: None)
    with pytest.raises(ConnormError, match=r"\[CN824\].*peft.*\[train\]"):
        LoraAdapter().add(make_module())


def test_only_transformers_are_adapted(pool, tmp_path):
    with pytest.raises(ConnormError, match="CN825"):
        LoraAdapter().add(torch.nn.Linear(2, 2))


def test_layers_to_adapt_must_be_there(make_module):
    with pytest.raises(ConnormError, match="CN826.*nothing"):
        LoraAdapter(targets=["nothing"]).add(make_module())


@pytest.mark.parametrize("adapter", [None, LoraAdapter(rank=1, alpha=2.0)], ids=["all", "adapter"])
def test_weights_are_averaged_with_those_of_the_start(make_module, pool, tmp_path, adapter):
    start = weights(make_module())
    ends = {}
    for interpolation in (1.0, 0.25):
        training = replace(settings(adapter=adapter), interpolation=interpolation)
        seen = []
        trained = run_training(
            make_module(),
            pool,
            training,
            folder=tmp_path / str(interpolation),
            use_cpu=True,
            score=lambda module, seen=seen: (seen.append(weights(module)), {"lenient@1": 1.0})[1],
        )
        ends[interpolation] = weights(trained.module)
        # What is scored is what would be kept; of equal scores the first is.
        assert_equal(ends[interpolation], seen[0])
    assert not torch.equal(ends[1.0][QUERY], start[QUERY])
    for name, end in ends[1.0].items():
        average = 0.25 * end + 0.75 * start[name]
        assert torch.allclose(ends[0.25][name], average, atol=1e-6), name
