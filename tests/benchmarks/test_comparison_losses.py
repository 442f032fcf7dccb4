"""The losses that SapBERT is compared with, against their equations in plain loops."""

import pytest

pytest.importorskip("torch")
import torch
from spacy.util import registry
from training.objectives import equations
from training.objectives.test_objectives import CONCEPTS, value_and_gradient, vectors_of
from training.runs import memberships


def max_margin_triplet(vectors, concepts, *, margin):
    losses = [
        equations.normalized_euclidean(vectors, a, p)
        - equations.normalized_euclidean(vectors, a, n)
        + margin
        for a, (positives, negatives) in equations.parts(concepts).items()
        for p in positives
        for n in negatives
    ]
    return equations.mean([loss for loss in losses if loss > 0])


def cosine_loss(vectors, concepts, *, mining_margin):
    of_positives, of_negatives = [], []
    for a, (positives, negatives) in equations.hard(vectors, concepts, mining_margin).items():
        of_positives += [1 - equations.cos(vectors, a, p) for p in positives]
        of_negatives += [equations.cos(vectors, a, n) for n in negatives]
    return equations.mean(of_positives) + equations.mean(
        [loss for loss in of_negatives if loss > 0]
    )


def nca(vectors, concepts, *, scale, mining_margin):
    losses = []
    for a, (positives, negatives) in equations.hard(vectors, concepts, mining_margin).items():
        near = {
            j: torch.exp(-scale * equations.normalized_euclidean(vectors, a, j) ** 2)
            for j in positives + negatives
        }
        losses.append(-torch.log(sum(near[p] for p in positives) / sum(near.values())))
    return equations.mean(losses)


def lifted_structure(vectors, concepts, *, margin, mining_margin):
    kept = equations.hard(vectors, concepts, mining_margin)
    losses = []
    for a, (positives, _) in kept.items():
        for p in positives:
            total = sum(
                torch.exp(margin - equations.normalized_euclidean(vectors, end, n))
                for end in (a, p)
                for n in kept.get(end, ([], []))[1]
            )
            structure = torch.log(total) + equations.normalized_euclidean(vectors, a, p)
            losses.append(structure.clamp(min=0) ** 2 / 2)
    return equations.mean(losses)


def circle(vectors, concepts, *, m, gamma, mining_margin):
    losses = []
    for a, (positives, negatives) in equations.hard(vectors, concepts, mining_margin).items():
        toward, apart = torch.zeros(()), torch.zeros(())
        for p in positives:
            weight = (1 + m - equations.cos(vectors, a, p).detach()).clamp(min=0)
            toward = toward + torch.exp(-gamma * weight * (equations.cos(vectors, a, p) - (1 - m)))
        for n in negatives:
            weight = (equations.cos(vectors, a, n).detach() + m).clamp(min=0)
            apart = apart + torch.exp(gamma * weight * (equations.cos(vectors, a, n) - m))
        losses.append(torch.log(1 + apart * toward))
    return equations.mean(losses)


EQUATIONS = {
    "Cosine": (cosine_loss, {"mining_margin": 0.2}),
    "MaxMarginTriplet": (max_margin_triplet, {"margin": 0.7}),
    "Nca": (nca, {"scale": 1.0, "mining_margin": 0.2}),
    "LiftedStructure": (lifted_structure, {"margin": 1.0, "mining_margin": 0.1}),
    "Circle": (circle, {"m": 0.4, "gamma": 80.0, "mining_margin": 0.2}),
}


@pytest.fixture
def build(modules):
    import _common.comparison_losses  # noqa: F401

    def make(name):
        block = {"@losses": f"sapbert.{name}.v1", **EQUATIONS[name][1]}
        return registry.resolve({"objective": block})["objective"]

    return make


@pytest.mark.parametrize("name", EQUATIONS)
@pytest.mark.parametrize("seed", range(3))
def test_value_and_gradient_are_those_of_the_equation(build, name, seed):
    equation, settings = EQUATIONS[name]
    vectors = vectors_of(seed)
    expected, slope = value_and_gradient(
        lambda leaf, concepts: equation(leaf, concepts, **settings), vectors.double(), CONCEPTS
    )
    value, gradient = value_and_gradient(build(name), vectors, memberships(CONCEPTS))
    torch.testing.assert_close(value.double(), expected, rtol=1e-4, atol=1e-5)
    scale = float(slope.abs().max())
    assert scale > 1e-3
    torch.testing.assert_close(gradient.double(), slope, rtol=1e-3, atol=1e-4 * scale)


@pytest.mark.parametrize("name", EQUATIONS)
def test_without_a_hard_pair_the_loss_is_zero(build, name):
    vectors = torch.tensor([[1.0, 0], [1, 0.01], [-1, 0], [-1, 0.01]])
    value, gradient = value_and_gradient(
        build(name), vectors, memberships([(0,), (0,), (1,), (1,)])
    )
    assert value == 0.0
    assert torch.equal(gradient, torch.zeros_like(vectors))
