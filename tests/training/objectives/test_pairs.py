"""Which texts share a concept, by definition; and the objectives against pytorch-metric-learning
itself, with one label a text."""

import random

import pytest
import torch
from pytorch_metric_learning import losses, miners

from spacy_connorm.training import objectives
from spacy_connorm.training.objectives.pairs import cosines_of, hard_pairs, pair_up

from ..runs import memberships


def batch(seed, size=20, width=6):
    generator = torch.Generator().manual_seed(seed)
    labels = torch.randint(0, 8, (size,), generator=generator)
    return torch.randn(size, width, generator=generator), labels


def relations_of(labels):
    return memberships([(int(label),) for label in labels])


def pairs(mask):
    return set(map(tuple, mask.nonzero().tolist()))


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("margin", [0.0, 0.05, 0.2])
def test_the_online_condition_keeps_the_pairs_that_the_miner_lists(seed, margin):
    vectors, labels = batch(seed)
    anchors, positives, negatives = miners.TripletMarginMiner(
        margin=margin, type_of_triplets="all"
    )(vectors, labels)
    found = pair_up(relations_of(labels), len(vectors))
    hard = hard_pairs(cosines_of(vectors), found, margin=margin)
    assert pairs(hard.positives) == set(zip(anchors.tolist(), positives.tolist(), strict=True))
    assert pairs(hard.negatives) == set(zip(anchors.tolist(), negatives.tolist(), strict=True))
    assert hard.positives.any() and pairs(hard.negatives) < pairs(found.negatives)


@pytest.mark.parametrize("seed", range(5))
def test_multi_similarity_is_sapberts(seed):
    vectors, labels = batch(seed)
    mine = miners.TripletMarginMiner(margin=0.2, type_of_triplets="all")
    theirs = losses.MultiSimilarityLoss(alpha=2, beta=50, base=0.5)
    one, other = vectors.clone().requires_grad_(), vectors.clone().requires_grad_()
    expected = theirs(one, labels, mine(one, labels))
    expected.backward()
    found = objectives.MultiSimilarity()(other, relations_of(labels))
    found.backward()
    torch.testing.assert_close(found, expected)
    torch.testing.assert_close(other.grad, one.grad, rtol=1e-4, atol=1e-6)


LIBRARY = {
    "InfoNCE": (objectives.InfoNce(temperature=0.2), losses.NTXentLoss(temperature=0.2)),
    "supervised contrastive": (
        objectives.SupervisedContrastive(temperature=0.1),
        losses.SupConLoss(temperature=0.1),
    ),
}


@pytest.mark.parametrize("name", LIBRARY)
def test_losses_are_the_library_s(name):
    ours, theirs = LIBRARY[name]
    vectors, _ = batch(0)
    labels = torch.arange(len(vectors)) // 2  # every text has a positive
    expected = theirs(vectors, labels)
    torch.testing.assert_close(ours(vectors, relations_of(labels)), expected)


def by_definition(concepts):
    size = len(concepts)
    shared = [[bool(set(concepts[i]) & set(concepts[j])) for j in range(size)] for i in range(size)]
    positives = [[shared[i][j] and i != j for j in range(size)] for i in range(size)]
    negatives = [[not shared[i][j] and i != j for j in range(size)] for i in range(size)]
    return positives, negatives


@pytest.mark.parametrize("seed", range(5))
def test_random_batches(seed):
    draw = random.Random(seed)
    concepts = [
        tuple(sorted(draw.sample(range(8), draw.choice([1, 1, 1, 2, 3])))) for _ in range(20)
    ]
    relations = pair_up(memberships(concepts), len(concepts))
    positives, negatives = by_definition(concepts)
    assert relations.positives.tolist() == positives
    assert relations.negatives.tolist() == negatives
    assert relations.positives.dtype == relations.negatives.dtype == torch.bool


def test_a_text_of_two_concepts_is_not_a_negative_of_either():
    positives, negatives = pair_up(memberships([(0,), (0, 5), (5,), (7,)]), 4)
    assert positives[1].tolist() == [True, False, True, False]
    assert negatives[1].tolist() == [False, False, False, True]
    assert not positives[0, 2] and negatives[0, 2]


@pytest.mark.parametrize("concepts", [[], [(3,)], [(), ()]])
def test_batches_without_positives(concepts):
    positives, negatives = pair_up(memberships(concepts), len(concepts))
    assert positives.shape == negatives.shape == (len(concepts), len(concepts))
    assert not positives.any()
    assert not negatives.diagonal().any()
