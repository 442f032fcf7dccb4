"""The objective of conceptual grounding against its equation in plain loops, and at its limits."""

import pytest
import torch
from spacy import registry

from spacy_connorm.errors import ConnormError
from spacy_connorm.training.batches import Groundings

from . import equations

TEXTS, WIDTH = 8, 4


def draw(seed, count, width=WIDTH):
    return torch.randn(count, width, generator=torch.Generator().manual_seed(seed)) + 0.3


@pytest.fixture
def groundings():
    """Three triplets; two concepts with three and one of their names."""
    return Groundings(
        anchors=torch.tensor([0, 1, 3]),
        positives=torch.tensor([1, 0, 4]),
        negatives=torch.tensor([5, 6, 7]),
        concepts=torch.tensor([2, 0]),
        members=torch.tensor([0, 2, 1, 4]),
        owners=torch.tensor([0, 0, 0, 1]),
    )


class Grounded:
    """A module that has prototypes, and else nothing of one."""

    rows = collate = forward = save = fit = print

    def __init__(self, prototypes):
        self.prototypes = prototypes


def build(prototypes=None, **settings):
    """The objective, by default with random prototypes of three concepts."""
    block = {"@losses": "spacy-connorm.ConceptualGrounding.v1", **settings}
    objective = registry.resolve({"objective": block})["objective"]
    objective.prepare(Grounded(draw(9, 3) if prototypes is None else prototypes))
    return objective


@pytest.mark.parametrize("margin", [0.1, 0.7])
@pytest.mark.parametrize("seed", range(3))
def test_value_and_gradients_are_the_equation_s(margin, seed, groundings):
    exact = draw(seed, TEXTS).double().requires_grad_()
    value = equations.conceptual_grounding(exact, groundings, draw(9, 3), margin=margin)
    value.backward()
    vectors = draw(seed, TEXTS).requires_grad_()
    found = build(margin=margin)(vectors, groundings)
    found.backward()
    assert found.dtype == torch.float32 and found.ndim == 0
    torch.testing.assert_close(found.double(), value.detach(), rtol=1e-4, atol=1e-5)
    scale = float(exact.grad.abs().max())
    torch.testing.assert_close(vectors.grad.double(), exact.grad, rtol=1e-3, atol=1e-4 * scale)


def test_names_around_their_prototypes_and_far_from_others_cost_nothing(groundings):
    one, other = torch.eye(WIDTH)[:2]
    vectors = torch.stack([one] * 3 + [other] * 2 + [-one] * 2 + [-other])
    nothing = torch.zeros(WIDTH)
    assert build(torch.stack([other, nothing, 3 * one]))(vectors, groundings) == 0
    assert build(torch.stack([one, nothing, other]))(vectors, groundings) == 1


@pytest.mark.parametrize("scale", [0.0, 1e-20, 1e15])
def test_numbers_stay_finite(scale, groundings):
    vectors = (draw(4, TEXTS) * scale).requires_grad_()
    loss = build()(vectors, groundings)
    loss.backward()
    assert torch.isfinite(loss) and torch.isfinite(vectors.grad).all()


def test_half_precision_vectors_are_scored_in_full(groundings):
    vectors = draw(5, TEXTS)
    with torch.autocast("cpu", torch.bfloat16):
        inside = build()(vectors, groundings)
    assert inside == build()(vectors, groundings)


@pytest.mark.parametrize("margin", [0.0, -1.0, float("nan")])
def test_bad_settings(margin):
    with pytest.raises(ConnormError, match="CN006.*margin"):
        build(margin=margin)
