"""How units are dropped in training."""

import numpy as np
import pytest
import torch

from spacy_connorm.encoders import trainable
from spacy_connorm.encoders.grounded import WordVectorEncoder

SHAPE = (301, 257)


@pytest.fixture
def make(load_grounded, word2vec):
    """A function that makes a module's ReLU with dropout."""

    def make(share):
        words = WordVectorEncoder(name=str(word2vec))
        return trainable(load_grounded(input=words, hidden=4, dropout=share)).dropout

    return make


def random_sums(dtype):
    sums = torch.randn(SHAPE, generator=torch.Generator().manual_seed(0))
    return sums.to(dtype).requires_grad_()


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("share", [0.5, 0.1])
def test_positive_units_are_kept_or_dropped_and_so_are_their_gradients(make, share, dtype):
    sums = random_sums(dtype)
    dropped = make(share).train()
    units = dropped(sums) * dropped.scale
    units.sum().backward()
    kept = units != 0
    assert not (kept & (sums <= 0)).any()
    assert torch.allclose(units[kept], (sums[kept] / (1 - share)).to(dtype), rtol=1e-2)
    assert torch.allclose(sums.grad, (kept / (1 - share)).to(dtype), rtol=1e-2)
    assert (kept.sum() / (sums > 0).sum()).item() == pytest.approx(1 - share, abs=0.02)


def test_units_beside_each_other_are_dropped_independently(make):
    kept = make(0.5).train()(torch.ones(SHAPE)) != 0
    for distance in range(1, 9):
        both = (kept[:, distance:] & kept[:, :-distance]).float().mean().item()
        assert both == pytest.approx(0.25, abs=0.02)
    assert not torch.equal(kept[:1], kept[1:2])


@pytest.mark.parametrize("share", [1e-9, 1 - 1e-9])
def test_no_share_is_too_small_or_too_large(make, share):
    dropped = make(share).train()
    units = dropped(torch.ones(SHAPE))
    assert np.isfinite(dropped.scale)
    assert (units != 0).float().mean().item() == pytest.approx(1 - share, abs=0.01)


def test_nothing_is_dropped_without_a_share_or_outside_of_training(make):
    sums = random_sums(torch.float32)
    for dropped in (make(0.5).eval(), make(0.0).train()):
        assert torch.equal(dropped(sums), torch.relu(sums))
        assert dropped.scale == 1
