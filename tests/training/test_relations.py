"""Relations against their definition, pair by pair."""

import random

import pytest
import torch

from spacy_connorm.training.relations import relate


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
    relations = relate(concepts, "cpu")
    positives, negatives = by_definition(concepts)
    assert relations.positives.tolist() == positives
    assert relations.negatives.tolist() == negatives
    assert relations.positives.dtype == relations.negatives.dtype == torch.bool


def test_a_text_of_two_concepts_is_no_negative_of_either():
    positives, negatives = relate([(0,), (0, 5), (5,), (7,)], torch.device("cpu"))
    assert positives[1].tolist() == [True, False, True, False]
    assert negatives[1].tolist() == [False, False, False, True]
    assert not positives[0, 2] and negatives[0, 2]


@pytest.mark.parametrize("concepts", [[], [(3,)], [(), ()]])
def test_batches_without_positives(concepts):
    positives, negatives = relate(concepts, "cpu")
    assert positives.shape == negatives.shape == (len(concepts), len(concepts))
    assert not positives.any()
    assert not negatives.diagonal().any()
