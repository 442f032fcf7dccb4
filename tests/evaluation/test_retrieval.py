"""Synonym retrieval against its definition in plain loops."""

import numpy as np
import pytest

from spacy_connorm.evaluation import retrieval
from spacy_connorm.evaluation.retrieval import score_retrieval


def by_definition(queries, names, relevant, itself=None):
    averages, firsts, reciprocals = [], [], []
    for place, query in enumerate(queries):
        scores = {
            row: (query @ name) / (np.linalg.norm(query) * np.linalg.norm(name))
            for row, name in enumerate(names)
            if itself is None or row != itself[place]
        }
        wanted = set(relevant[place].tolist())
        ranking = sorted(scores, key=lambda row: (-round(scores[row], 5), row in wanted))
        ranks = [rank for rank, row in enumerate(ranking, start=1) if row in wanted]
        averages.append(np.mean([found / rank for found, rank in enumerate(ranks, start=1)]))
        firsts.append(ranks[0] == 1)
        reciprocals.append(1 / ranks[0])
    return np.mean(averages), np.mean(firsts), np.mean(reciprocals)


@pytest.fixture
def drawn():
    random = np.random.default_rng(0)
    names = random.standard_normal((40, 5)).astype("float32")
    names[7] = 2 * names[3]  # a tie
    queries = random.standard_normal((12, 5)).astype("float32")
    relevant = [random.choice(40, size=each % 5 + 1, replace=False) for each in range(12)]
    return queries, names, relevant


def test_scores_are_those_of_the_definition(drawn):
    np.testing.assert_allclose(score_retrieval(*drawn), by_definition(*drawn), rtol=1e-6)


def test_a_name_is_not_found_by_itself(drawn):
    _, names, _ = drawn
    itself = np.arange(40)
    relevant = [np.asarray([each ^ 1]) for each in range(40)]
    found = score_retrieval(names, names, relevant, itself=itself)
    np.testing.assert_allclose(found, by_definition(names, names, relevant, itself), rtol=1e-6)
    assert found.map == found.mrr < 1


def test_blocks_change_nothing(drawn, monkeypatch):
    whole = score_retrieval(*drawn)
    monkeypatch.setattr(retrieval, "_COMPARED_AT_ONCE", 90)
    np.testing.assert_allclose(score_retrieval(*drawn), whole, rtol=1e-6)


def test_ties_earn_nothing():
    names = np.asarray([[1, 0], [2, 0], [0, 1]], dtype="float32")
    found = score_retrieval(names[:1], names, [np.asarray([1])])
    assert found == (0.5, 0.0, 0.5)
    # Vectors of no direction are as far as they can be from all.
    assert score_retrieval(0 * names[:1], names, [np.asarray([1])]).accuracy == 0.0
