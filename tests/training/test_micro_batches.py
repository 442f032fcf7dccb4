"""Batches that are encoded in parts: same vectors, same gradients."""

import pytest
import torch

from spacy_connorm.training.batchers import GroupBatcher, PairBatcher
from spacy_connorm.training.micro_batches import BatchEncoder, EpochBatches


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
    largest = max(tensor.abs().max() for tensor in plain.values() if tensor is not None)
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
    for item, (own, _) in enumerate(rows):
        batch = batches[item]
        assert len(batch["micro_batches"]) > 1
        with torch.no_grad():
            vectors = encoder(batch["micro_batches"], batch["places"])
            alone = [module(**module.collate(module.rows([pool.texts[row]]))) for row in own]
        assert torch.allclose(vectors, torch.cat(alone), atol=1e-5)
        assert batch["relations"].texts.tolist() == list(range(len(own)))
        assert batch["relations"].concepts.tolist() == [pool.concepts[row][0] for row in own]
