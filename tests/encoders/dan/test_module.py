import numpy as np
import pytest
import torch

from spacy_connorm.encoders.dan import DanEncoder
from spacy_connorm.encoders.protocol import trainable

TEXTS = ["heart attack", "", "acute cancer of the skin", "headache"]


@pytest.fixture(params=[0, 5], ids=["mean", "hidden"])
def model(request, tiny_folder):
    model = DanEncoder(name=str(tiny_folder), buckets=64, width=8, hidden=request.param)
    model.initialize()
    return model


def test_module_computes_what_the_encoder_computes(model):
    module = trainable(model)
    inputs = module.collate(module.rows(TEXTS))
    assert all(isinstance(each, torch.Tensor) for each in inputs.values())
    vectors = module(**inputs)
    assert vectors.dtype == torch.float32 and vectors.requires_grad
    assert np.allclose(vectors.detach().numpy(), model.predict(TEXTS), atol=1e-6)


def test_rows_may_be_collated_in_any_order(model):
    module = trainable(model)
    rows = module.rows(TEXTS)
    assert [len(row) for row in rows] == [len(module.rows([text])[0]) for text in TEXTS]
    vectors = module(**module.collate([rows[3], rows[0]])).detach().numpy()
    assert np.allclose(vectors, model.predict([TEXTS[3], TEXTS[0]]), atol=1e-6)
    assert module.rows([]) == []
    assert module(**module.collate([])).shape == (0, 8)


def test_gradients_are_those_of_the_mean(tiny_folder):
    model = DanEncoder(name=str(tiny_folder), buckets=64, width=8)
    model.initialize()
    module = trainable(model)
    row = module.rows(["headache"])[0]
    module(**module.collate([row])).sum().backward()
    expected = np.bincount(row, minlength=len(module.embeddings.weight)) / len(row)
    assert np.allclose(module.embeddings.weight.grad.numpy(), expected[:, None], atol=1e-6)


def test_dropout_leaves_features_out_only_while_training(tiny_folder):
    model = DanEncoder(name=str(tiny_folder), buckets=64, width=8, dropout=0.5)
    model.initialize()
    module = trainable(model)
    inputs = module.collate(module.rows(["acute cancer of the skin"] * 200))
    torch.manual_seed(0)
    with torch.no_grad():
        dropped = module.train()(**inputs)
        kept = module.eval()(**inputs)
    assert np.allclose(kept.numpy(), model.predict(["acute cancer of the skin"]), atol=1e-6)
    assert len(torch.unique(dropped, dim=0)) == 200
    # It stays a mean of what is left.
    assert torch.allclose(dropped.mean(0), kept[0], atol=0.1 * kept[0].abs().max())


def test_dropout_may_leave_nothing(tiny_folder):
    model = DanEncoder(name=str(tiny_folder), buckets=0, width=8, dropout=0.9)
    model.initialize()
    module = trainable(model).train()
    assert torch.isfinite(module(**module.collate(module.rows(["heart"] * 50)))).all()


def test_weights_are_not_those_of_the_encoder(model):
    before = model.predict(TEXTS)
    module = trainable(model)
    with torch.no_grad():
        for weights in module.parameters():
            weights.add_(1)
    assert np.array_equal(model.predict(TEXTS), before)
