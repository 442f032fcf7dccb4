"""The cross entropy of the right candidates of each mention."""

import numpy as np
import pytest

from spacy_connorm.reranking.ranking_loss import ranking_loss

MENTION = np.array([0, 0, 0, 1, 1, 2, 2])
RIGHT = np.array([False, True, True, True, False, False, False])


def written_out(scores):
    losses = []
    for mention in (0, 1):  # the third has no right candidate
        own = mention == MENTION
        chances = np.exp(scores[own]) / np.exp(scores[own]).sum()
        losses.append(-np.log(chances[RIGHT[own]].sum()))
    return np.mean(losses)


def test_the_loss_is_its_definition():
    scores = np.array([0.3, -1.0, 2.0, 0.5, 0.1, 3.0, -3.0])
    assert ranking_loss(scores, MENTION, RIGHT)[0] == pytest.approx(written_out(scores))


def test_the_gradient_is_the_slope():
    scores = np.array([0.3, -1.0, 2.0, 0.5, 0.1, 3.0, -3.0])
    _, gradient = ranking_loss(scores, MENTION, RIGHT)
    steps = 1e-6 * np.eye(len(scores))
    slopes = [(written_out(scores + step) - written_out(scores - step)) / 2e-6 for step in steps]
    np.testing.assert_allclose(gradient, slopes, atol=1e-8)


@pytest.mark.parametrize("right", [[False, False], [True, True]])
def test_mentions_without_a_choice_to_learn_do_not_count(right):
    scores = np.array([1.0, 2.0])
    loss, gradient = ranking_loss(scores, np.array([0, 0]), np.array(right))
    assert loss == 0 and not gradient.any()


@pytest.mark.parametrize(("scores", "loss"), [([1e4, -1e4], 0), ([-1e4, 1e4], 2e4)])
def test_large_scores_do_not_overflow(scores, loss):
    scores = np.array(scores, dtype="float32")
    found, gradient = ranking_loss(scores, np.array([0, 0]), np.array([True, False]))
    assert found == loss and np.isfinite(gradient).all()
    assert gradient.tolist() == ([0, 0] if loss == 0 else [-1, 1])
