import numpy as np
import pytest
import torch

from spacy_connorm.encoders.dan import DanEncoder
from spacy_connorm.encoders.protocol import trainable

TEXTS = ["heart attack", "", "acute cancer of the skin", "headache"]


@pytest.fixture
def model(tiny_folder):
    model = DanEncoder(name=str(tiny_folder), buckets=64, principal_components=8)
    model.initialize()
    return model


def test_module_computes_what_the_encoder_computes(model):
    module = trainable(model)
    inputs = module.collate(module.rows(TEXTS))
    assert all(isinstance(tensor, torch.Tensor) for tensor in inputs.values())
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


def test_gradients_are_those_of_the_mean(model):
    module = trainable(model)
    row = module.rows(["headache"])[0]
    module(**module.collate([row])).sum().backward()
    expected = np.bincount(row, minlength=len(module.embeddings.weight)) / len(row)
    assert np.allclose(module.embeddings.weight.grad.numpy(), expected[:, None], atol=1e-6)


def test_weights_are_not_those_of_the_encoder(model):
    before = model.predict(TEXTS)
    module = trainable(model)
    with torch.no_grad():
        for weights in module.parameters():
            weights.add_(1)
    assert np.array_equal(model.predict(TEXTS), before)
