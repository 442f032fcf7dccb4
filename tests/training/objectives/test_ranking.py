"""The objectives of BCNH and BioSyn against their equations in plain loops, and at their limits."""

import math

import pytest
import torch
from spacy import registry

from spacy_connorm.errors import ConnormError
from spacy_connorm.training.batches import Rankings

from . import equations

EQUATIONS = {"Bcnh": equations.bcnh, "BioSyn": equations.biosyn}
SETTINGS = [
    {},
    {"temperature": 0.5, "norm_weight": 0.3},
    {"similarity": "inner_product", "temperature": 1.0, "norm_weight": 1.0},
    {"similarity": "inner_product", "temperature": 2.0, "norm_weight": 0.0},
]
TEXTS = 9
every_objective = pytest.mark.parametrize("name", EQUATIONS)


@pytest.fixture
def lists():
    """Three mentions: the first is one of its own candidates, the second has one hypernym, the last
    neither a synonym among its candidates nor a hypernym."""
    return Rankings(
        mentions=torch.tensor([0, 1, 2]),
        candidates=torch.tensor([[0, 3, 4, 5], [6, 3, 4, 7], [5, 8, 7, 3]]),
        relevance=torch.tensor([[2, 2, 1, 0], [0, 2, 1, 0], [0, 0, 0, 0]]),
        lexical=torch.tensor([[1.0, 0.3, 0.6, 0.1], [0.9, 0.0, 0.4, 0.2], [0.5, 0.5, 0.1, 0.0]]),
        hypernyms=torch.tensor([[4, 8], [4, -1], [-1, -1]]),
    )


def build(name, **settings):
    block = {"@losses": f"spacy-connorm.{name}.v1", **settings}
    return registry.resolve({"objective": block})["objective"]


def vectors_of(seed, count=TEXTS, width=4):
    return torch.randn(count, width, generator=torch.Generator().manual_seed(seed)) + 0.3


@every_objective
@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("seed", range(3))
def test_value_and_gradients_are_the_equation_s(name, settings, seed, lists):
    exact = vectors_of(seed).double().requires_grad_()
    weight = torch.tensor(0.7, dtype=torch.double, requires_grad=True)
    value = EQUATIONS[name](exact, lists, weight, **settings)
    value.backward()
    vectors = vectors_of(seed).requires_grad_()
    objective = build(name, lexical_weight=0.7, **settings)
    found = objective(vectors, lists)
    found.backward()
    assert found.dtype == torch.float32 and found.ndim == 0
    torch.testing.assert_close(found.double(), value.detach(), rtol=1e-4, atol=1e-5)
    scale = float(exact.grad.abs().max())
    torch.testing.assert_close(vectors.grad.double(), exact.grad, rtol=1e-3, atol=1e-4 * scale)
    # What is learned is the logarithm, whose slope is the weight times the weight's.
    slope = objective.log_lexical_weight.grad.double()
    torch.testing.assert_close(slope, 0.7 * weight.grad, rtol=1e-3, atol=1e-4)


@every_objective
def test_the_gradient_is_the_slope(name, lists):
    objective = build(name, norm_weight=1.0)
    leaf = vectors_of(0).requires_grad_()
    objective(leaf, lists).backward()
    direction = leaf.grad / leaf.grad.norm()
    step = 1e-3
    with torch.no_grad():
        ahead, behind = (objective(leaf + sign * step * direction, lists) for sign in (1, -1))
    assert (ahead - behind) / (2 * step) == pytest.approx(float(leaf.grad.norm()), rel=0.03)


def test_the_norm_loss_is_off_without_a_weight(lists):
    vectors = vectors_of(1)
    with_norms, without = (build("BioSyn", norm_weight=each)(vectors, lists) for each in (1, 0))
    torch.testing.assert_close(with_norms - without, equations.norms(vectors, lists))


@every_objective
def test_without_hypernyms_there_is_no_norm_loss(name, lists):
    nothing = lists._replace(hypernyms=torch.full((3, 0), -1))
    padded = lists._replace(hypernyms=torch.full((3, 2), -1))
    off = build(name, norm_weight=0.0)(vectors_of(2), lists)
    for each in (nothing, padded):
        assert build(name, norm_weight=1.0)(vectors_of(2), each) == off


def test_lists_without_a_synonym_are_passed_over(lists):
    vectors = vectors_of(3)
    first = Rankings(*(list[:2] for list in lists))
    objective = build("BioSyn")
    torch.testing.assert_close(objective(vectors, lists), objective(vectors, first))
    last = Rankings(*(list[2:] for list in lists))
    leaf = vectors.requires_grad_()
    loss = objective(leaf, last)
    loss.backward()
    assert loss == 0.0
    assert torch.equal(leaf.grad, torch.zeros_like(leaf))


def test_scores_that_differ_as_relevance_does_are_best(lists):
    def loss(scores):
        return build("Bcnh").list_loss(scores, lists.relevance)

    best = lists.relevance.float()
    assert loss(best) < min(loss(2 * best), loss(0 * best))
    torch.testing.assert_close(loss(best + 5), loss(best))


@every_objective
@pytest.mark.parametrize("kind", ["equal", "zero", "tiny", "large"])
def test_numbers_stay_finite(name, kind, lists):
    vectors = {
        "equal": torch.ones(TEXTS, 4),
        "zero": torch.zeros(TEXTS, 4),
        "tiny": vectors_of(4) * 1e-20,
        "large": vectors_of(4) * 1e15,
    }[kind].requires_grad_()
    loss = build(name, norm_weight=1.0)(vectors, lists)
    loss.backward()
    assert torch.isfinite(loss) and torch.isfinite(vectors.grad).all()


@every_objective
def test_half_precision_vectors_are_scored_in_full(name, lists):
    vectors = vectors_of(5)
    with torch.autocast("cpu", torch.bfloat16):
        inside = build(name)(vectors, lists)
    assert inside == build(name)(vectors, lists)


@every_objective
def test_the_weight_of_n_grams_is_learned_and_stays_above_zero(name, lists):
    objective = build(name, lexical_weight=0.2)
    assert objective.learned() == {"lexical_weight": pytest.approx(0.2)}
    optimizer = torch.optim.SGD(objective.parameters(), lr=100.0)
    vectors = vectors_of(6)
    for _ in range(3):
        optimizer.zero_grad()
        objective(vectors, lists).backward()
        optimizer.step()
    learned = objective.learned()["lexical_weight"]
    assert learned != pytest.approx(0.2) and learned >= 0
    assert math.isfinite(objective.log_lexical_weight.item())


@every_objective
def test_a_weight_from_zero_is_learned_itself(name, lists):
    objective = build(name, lexical_weight=0.0)
    assert objective.learned() == {"lexical_weight": 0.0}
    assert [*dict(objective.named_parameters())] == ["lexical_weight"]
    vectors, exact = vectors_of(6), vectors_of(6).double()
    weight = torch.tensor(0.0, dtype=torch.double, requires_grad=True)
    EQUATIONS[name](exact, lists, weight).backward()
    objective(vectors, lists).backward()
    slope = objective.lexical_weight.grad
    torch.testing.assert_close(slope.double(), weight.grad, rtol=1e-3, atol=1e-4)
    for value in (0.7, -0.7):
        objective.lexical_weight.data.fill_(value)
        # A search adds what is similar, never takes it away.
        assert objective.learned()["lexical_weight"] == pytest.approx(max(value, 0.0))


@every_objective
@pytest.mark.parametrize(
    "settings",
    [
        {"similarity": "euclidean"},
        {"temperature": 0.0},
        {"norm_weight": -1.0},
        {"lexical_weight": -0.1},
        {"learning_rate": float("nan")},
    ],
)
def test_bad_settings(name, settings):
    with pytest.raises(ConnormError, match=f"CN(006|118).*{next(iter(settings))}"):
        build(name, **settings)
