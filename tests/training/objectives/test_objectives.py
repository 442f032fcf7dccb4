"""Every objective against its equation in plain loops, and on batches where floats go wrong."""

import subprocess
import sys

import pytest
import torch
from spacy import registry

from spacy_connorm.errors import ConnormError

from ..runs import memberships
from . import equations

EQUATIONS = {
    "BatchHardTriplet": equations.batch_hard_triplet,
    "MultiSimilarity": equations.multi_similarity,
    "SupervisedContrastive": equations.supervised_contrastive,
    "InfoNce": equations.info_nce,
}
DEFAULTS: list[tuple[str, dict]] = [(name, {}) for name in EQUATIONS]
SETTINGS = [
    ("MultiSimilarity", {"alpha": 3.0, "beta": 40.0, "base": 0.2, "mining_margin": 0.05}),
    ("MultiSimilarity", {"mining_margin": None}),
    ("SupervisedContrastive", {"temperature": 0.5}),
    ("InfoNce", {"temperature": 0.5, "mining_margin": 0.2}),
]
# The third text is of two concepts, the last two have no positives.
CONCEPTS = [(0,), (0,), (0, 1), (1,), (1,), (2,), (2,), (3,), (4, 5)]


def build(name, **settings):
    block = {"@losses": f"spacy-connorm.{name}.v1", **settings}
    return registry.resolve({"objective": block})["objective"]


def vectors_of(seed, count=len(CONCEPTS), width=4):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(count, width, generator=generator) + 0.5


def value_and_gradient(function, vectors, concepts):
    leaf = vectors.clone().requires_grad_()
    loss = function(leaf, concepts)
    loss.backward()
    return loss.detach(), leaf.grad


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("name", "settings"), DEFAULTS + SETTINGS)
def test_value_and_gradient_are_the_equation_s(name, settings, seed):
    def by_hand(vectors, concepts):
        return EQUATIONS[name](vectors, concepts, **settings)

    vectors = vectors_of(seed)
    value, gradient = value_and_gradient(by_hand, vectors.double(), CONCEPTS)
    found, found_gradient = value_and_gradient(
        build(name, **settings), vectors, memberships(CONCEPTS)
    )
    assert found.dtype == torch.float32 and found.ndim == 0
    assert gradient.abs().max() > 1e-3
    torch.testing.assert_close(found.double(), value, rtol=1e-4, atol=1e-5)
    scale = float(gradient.abs().max())
    torch.testing.assert_close(found_gradient.double(), gradient, rtol=1e-3, atol=1e-4 * scale)


@pytest.mark.parametrize("name", EQUATIONS)
def test_the_gradient_is_the_slope(name):
    objective, relations = build(name), memberships(CONCEPTS)
    vectors = vectors_of(0)
    _, gradient = value_and_gradient(objective, vectors, relations)
    direction = gradient / gradient.norm()
    step = 1e-3
    ahead, behind = (objective(vectors + sign * step * direction, relations) for sign in (1, -1))
    assert (ahead - behind) / (2 * step) == pytest.approx(float(gradient.norm()), rel=0.03)


@pytest.mark.parametrize("name", EQUATIONS)
@pytest.mark.parametrize("concepts", [[(0,), (1,), (2,)], [(0,), (0,), (0,)], [(0,), (0, 1), (0,)]])
def test_without_a_usable_anchor_it_is_zero(name, concepts):
    vectors = vectors_of(1, count=3)
    value, gradient = value_and_gradient(build(name), vectors, memberships(concepts))
    assert value == 0.0
    assert torch.equal(gradient, torch.zeros_like(vectors))


@pytest.mark.parametrize("name", ["MultiSimilarity", "InfoNce"])
def test_without_a_hard_pair_it_is_zero(name):
    concepts = [(0,), (0,), (1,), (1,)]
    vectors = torch.tensor([[1.0, 0], [1, 0.01], [-1, 0], [-1, 0.01]])
    objective = build(name, mining_margin=0.2)
    value, gradient = value_and_gradient(objective, vectors, memberships(concepts))
    assert value == 0.0
    assert torch.equal(gradient, torch.zeros_like(vectors))


@pytest.mark.parametrize(("name", "settings"), DEFAULTS + SETTINGS)
@pytest.mark.parametrize("kind", ["equal", "equal pairs", "some zero", "all zero", "tiny", "large"])
def test_numbers_stay_finite(name, settings, kind):
    vectors = vectors_of(2, width=64)
    if kind == "equal":
        vectors[:] = vectors[0]
    elif kind == "equal pairs":
        vectors[1], vectors[4], vectors[7] = vectors[0], vectors[3], vectors[3]
    elif kind == "some zero":
        vectors[[0, 1, 5, 7]] = 0
    elif kind == "all zero":
        vectors[:] = 0
    else:
        vectors *= {"tiny": 1e-18, "large": 1e8}[kind]
    value, gradient = value_and_gradient(build(name, **settings), vectors, memberships(CONCEPTS))
    assert torch.isfinite(value)
    assert torch.isfinite(gradient).all()
    if kind not in ("tiny", "large"):
        # an infinite slope at a distance or length of 0 may come out finite, but huge
        assert gradient.abs().max() < 1e4


@pytest.mark.parametrize("name", EQUATIONS)
def test_a_zero_vector_is_not_pushed_by_its_own_direction(name):
    vectors = vectors_of(3, width=64)
    vectors[0] = 0
    _, gradient = value_and_gradient(build(name), vectors, memberships(CONCEPTS))
    if name == "BatchHardTriplet":  # reads vectors as they are
        assert gradient[0].norm() <= 2
    else:
        assert gradient[0].norm() == 0


@pytest.mark.parametrize("name", EQUATIONS)
def test_it_computes_in_float32_under_autocast(name):
    objective, relations = build(name), memberships(CONCEPTS)
    vectors = vectors_of(4, width=64)
    value, gradient = value_and_gradient(objective, vectors, relations)
    leaf = vectors.clone().requires_grad_()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        found = objective(leaf, relations)
    found.backward()
    assert torch.equal(found, value)
    assert torch.equal(leaf.grad, gradient)
    half = vectors.bfloat16().requires_grad_()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        found = objective(half, relations)
    found.backward()
    assert found.dtype == torch.float32 and half.grad.dtype == torch.bfloat16


@pytest.mark.parametrize("name", EQUATIONS)
def test_nan_is_not_hidden(name):
    vectors = vectors_of(5)
    vectors[0, 0] = float("nan")
    assert torch.isnan(build(name)(vectors, memberships(CONCEPTS)))


@pytest.mark.parametrize("name", EQUATIONS)
def test_the_order_of_texts_does_not_matter(name):
    objective, vectors = build(name), vectors_of(6, width=16)
    order = torch.tensor([4, 8, 0, 2, 7, 1, 3, 6, 5])
    shuffled = [CONCEPTS[row] for row in order]
    value = objective(vectors, memberships(CONCEPTS))
    found = objective(vectors[order], memberships(shuffled))
    torch.testing.assert_close(found, value)


@pytest.mark.parametrize(
    ("name", "settings", "message"),
    [
        ("SupervisedContrastive", {"temperature": -0.1}, "`temperature` must be above 0"),
        ("InfoNce", {"temperature": 0.0}, "`temperature` must be"),
        ("InfoNce", {"mining_margin": -0.2}, "`mining_margin` must be at least 0"),
        ("MultiSimilarity", {"alpha": 0.0}, "`alpha` must be"),
        ("MultiSimilarity", {"beta": float("nan")}, "`beta` must be"),
        ("MultiSimilarity", {"base": 2.0}, "`base` must be at least -1 and at most 1"),
    ],
)
def test_bad_settings_are_one_line(name, settings, message):
    with pytest.raises(ConnormError, match=r"^\[CN006\]") as error:
        build(name, **settings)
    assert message in str(error.value) and "\n" not in str(error.value)


def test_importing_the_objectives_is_light():
    script = """
import sys
import spacy_connorm.training.objectives
heavy = {"torch", "pytorch_metric_learning", "transformers", "sklearn", "scipy"}
print(sorted(heavy & sys.modules.keys()))
"""
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert result.stdout == "[]\n"
    assert result.returncode == 0, result.stderr
