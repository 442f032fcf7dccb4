"""The objectives against pytorch-metric-learning itself, with one label a text."""

import pytest
import torch
from pytorch_metric_learning import distances, losses, miners
from pytorch_metric_learning.reducers import MeanReducer

from spacy_connorm.training import objectives
from spacy_connorm.training.objectives.distances import StableCosine
from spacy_connorm.training.objectives.mining import hard_pairs
from spacy_connorm.training.relations import relate


def batch(seed, size=20, width=6):
    generator = torch.Generator().manual_seed(seed)
    labels = torch.randint(0, 8, (size,), generator=generator)
    return torch.randn(size, width, generator=generator), labels


def relations_of(labels):
    return relate([(int(label),) for label in labels], "cpu")


def pairs(mask):
    return set(map(tuple, mask.nonzero().tolist()))


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("margin", [0.0, 0.05, 0.2])
def test_the_online_condition_keeps_the_pairs_that_the_miner_lists(seed, margin):
    vectors, labels = batch(seed)
    anchors, positives, negatives = miners.TripletMarginMiner(
        margin=margin, type_of_triplets="all"
    )(vectors, labels)
    relations = relations_of(labels)
    hard = hard_pairs(StableCosine()(vectors), relations, margin=margin)
    assert pairs(hard.positives) == set(zip(anchors.tolist(), positives.tolist(), strict=True))
    assert pairs(hard.negatives) == set(zip(anchors.tolist(), negatives.tolist(), strict=True))
    assert hard.positives.any() and pairs(hard.negatives) < pairs(relations.negatives)


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


# Where the library leaves losses of 0 out of the mean, all that count are in it here.
LIBRARY = {
    "batch hard": (
        objectives.BatchHardTriplet(margin=0.5, distance="cosine"),
        losses.TripletMarginLoss(
            margin=0.5, distance=distances.CosineSimilarity(), reducer=MeanReducer()
        ),
        miners.BatchHardMiner(distance=distances.CosineSimilarity()),
    ),
    "max margin": (objectives.MaxMarginTriplet(), losses.TripletMarginLoss(margin=0.2), None),
    "lifted structure": (
        objectives.LiftedStructure(margin=1.0),
        losses.LiftedStructureLoss(neg_margin=1),
        None,
    ),
    "InfoNCE": (objectives.InfoNce(temperature=0.2), losses.NTXentLoss(temperature=0.2), None),
    "circle": (objectives.Circle(), losses.CircleLoss(m=0.25, gamma=256), None),
    "supervised contrastive": (
        objectives.SupervisedContrastive(temperature=0.1),
        losses.SupConLoss(temperature=0.1),
        None,
    ),
    "NCA": (objectives.Nca(scale=5), losses.NCALoss(softmax_scale=5), None),
}


@pytest.mark.parametrize("name", LIBRARY)
def test_losses_are_the_library_s(name):
    ours, theirs, miner = LIBRARY[name]
    vectors, _ = batch(0)
    labels = torch.arange(len(vectors)) // 2  # every text has a positive
    indices = None if miner is None else miner(vectors, labels)
    expected = theirs(vectors, labels, indices)
    torch.testing.assert_close(ours(vectors, relations_of(labels)), expected)
