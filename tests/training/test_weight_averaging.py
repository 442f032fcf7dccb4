"""Trained weights averaged with the initial ones."""

from dataclasses import replace

import pytest
import torch

from spacy_connorm.training.adapters import LoraAdapter

from .runs import assert_equal, settings, weights

QUERY = "transformer.encoder.layer.0.attention.self.query.weight"


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
