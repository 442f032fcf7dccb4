import numpy as np
import pytest

from spacy_connorm.evaluation.significance import bootstrap, one_sample_bootstrap, paired_bootstrap


def shares(right, n):
    return np.asarray([1.0] * right + [0.0] * (n - right))


def test_interval_of_a_share_is_the_binomial_one():
    low, high = bootstrap(shares(80, 100))
    # mean 0.8, standard error 0.04: 0.8 -+ 1.96 * 0.04
    assert low == pytest.approx(0.72, abs=0.011)
    assert high == pytest.approx(0.88, abs=0.011)


def test_resampling_counts_equals_resampling_mentions():
    values = np.asarray([1, 1, 1 / 2, 1 / 3, 0, 0, 0, 1])
    draws = np.random.default_rng(5).integers(0, len(values), size=(10_000, len(values)))
    expected = np.quantile(values[draws].mean(axis=1), [0.025, 0.975])
    assert bootstrap(values) == pytest.approx(expected.tolist(), abs=0.03)


def test_equal_seeds_give_equal_intervals():
    values = np.random.default_rng(1).random(50)
    assert bootstrap(values, seed=3) == bootstrap(values, seed=3)
    assert bootstrap(values, seed=3) != bootstrap(values, seed=4)


def test_one_value_has_no_width():
    assert bootstrap(shares(3, 3)) == (1.0, 1.0)


def test_pairs_are_resampled_together():
    one, other = shares(80, 100), shares(70, 100)
    compared = paired_bootstrap(one, other)
    assert compared.difference == pytest.approx(0.1)
    # ten mentions differ, all one way: sd 0.3, standard error 0.03
    assert compared.interval.low == pytest.approx(0.1 - 1.96 * 0.03, abs=0.02)
    assert compared.interval.high == pytest.approx(0.1 + 1.96 * 0.03, abs=0.02)
    assert compared.p < 0.001


def test_the_other_way_round_the_sign_changes_and_p_does_not():
    one, other = shares(80, 100), shares(79, 100)
    there, back = paired_bootstrap(one, other), paired_bootstrap(other, one)
    assert back.difference == -there.difference
    assert back.p == there.p > 0.05


def test_equal_runs_do_not_differ():
    same = shares(7, 10)
    assert paired_bootstrap(same, same) == (0.0, (0.0, 0.0), 1.0)


def test_one_sample_is_compared_with_a_number():
    values = shares(800, 1000)
    compared = one_sample_bootstrap(values, 0.815)
    assert compared.difference == pytest.approx(-0.015)
    low, high = bootstrap(values)
    assert compared.interval == pytest.approx((low - 0.815, high - 0.815))
    # 1.19 standard errors: two-sided, 0.24
    assert compared.p == pytest.approx(0.24, abs=0.03)
    assert one_sample_bootstrap(values, 0.95).p < 0.001
    assert one_sample_bootstrap(values, 0.8).p > 0.9
