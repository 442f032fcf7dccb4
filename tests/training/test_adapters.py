"""Low-rank adapters: few weights are trained, a plain transformer is left; and trained weights
averaged with the initial ones."""

from dataclasses import replace

import pytest
import torch

from spacy_connorm.errors import ConnormError
from spacy_connorm.training.adapters import LoraAdapter
from spacy_connorm.training.trainer import run_training

from .runs import assert_equal, settings, weights

QUERY = "transformer.encoder.layer.0.attention.self.query.weight"


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
    module = make_module()
    monkeypatch.setattr("spacy_connorm.errors.find_spec", lambda library: None)
    with pytest.raises(ConnormError, match=r"\[CN126\].*peft.*\[train\]"):
        LoraAdapter().add(module)


def test_only_transformers_are_adapted(pool, tmp_path):
    with pytest.raises(ConnormError, match="CN825"):
        LoraAdapter().add(torch.nn.Linear(2, 2))


@pytest.mark.parametrize(("setting", "value"), [("rank", 0), ("alpha", 0.0)])
def test_settings_that_cannot_be(setting, value):
    with pytest.raises(ConnormError, match=f"CN006.*{setting}"):
        LoraAdapter(**{setting: value})


@pytest.mark.parametrize("adapter", [None, LoraAdapter(rank=1, alpha=2.0)], ids=["all", "adapter"])
def test_weights_are_averaged_with_those_of_the_start(run, make_module, tmp_path, adapter):
    start = weights(make_module())
    ends = {}
    for interpolation in (1.0, 0.25):
        training = replace(settings(adapter=adapter), interpolation=interpolation)
        seen = []

        def score(module, seen=seen):
            seen.append(weights(module))
            return {"lenient@1": 1.0}

        trained = run(training, tmp_path / str(interpolation), score=score)
        ends[interpolation] = weights(trained.module)
        # What is scored is what would be kept; of equal scores the first is.
        assert_equal(ends[interpolation], seen[0])
    assert not torch.equal(ends[1.0][QUERY], start[QUERY])
    for name, end in ends[1.0].items():
        average = 0.25 * end + 0.75 * start[name]
        assert torch.allclose(ends[0.25][name], average, atol=1e-6), name
