"""Canonical correlation analysis."""

import numpy as np
import pytest
from sklearn.cross_decomposition import CCA

from spacy_connorm.encoders.grounded.network import fit_cca


def draw(count, width, seed=0):
    random = np.random.default_rng(seed)
    names = random.standard_normal((count, width)) + 3
    noise = random.standard_normal((count, width))
    concepts = names @ random.standard_normal((width, width)) + 2 * noise
    return names.astype("float32"), concepts.astype("float32")


def project(names, concepts):
    offset, matrix = fit_cca(names, concepts)
    return (names - offset) @ matrix


def test_components_are_those_of_scikit_learn():
    names, concepts = draw(400, 6)
    found = project(names, concepts)
    other = CCA(6, max_iter=5000, tol=1e-10).fit(names, concepts).transform(names)
    correlations = np.abs(np.corrcoef(found.T, other.T)[:6, 6:])
    np.testing.assert_allclose(correlations, np.eye(6), atol=0.01)


def test_components_have_a_mean_of_0_and_are_uncorrelated():
    names, concepts = draw(300, 5)
    found = project(names, concepts)
    assert found.dtype == "float32" and found.shape == (300, 5)
    np.testing.assert_allclose(found.mean(axis=0), 0, atol=1e-4)
    np.testing.assert_allclose(np.cov(found.T, bias=True), np.eye(5), atol=1e-3)


def test_the_first_component_correlates_most():
    names, concepts = draw(500, 4)
    found = project(names, concepts)
    centred = concepts - concepts.mean(axis=0)

    def correlation(component):
        fitted = centred @ np.linalg.lstsq(centred, component, rcond=None)[0]
        return np.corrcoef(fitted, component)[0, 1]

    correlations = [correlation(column) for column in found.T]
    assert correlations == sorted(correlations, reverse=True)
    for direction in np.random.default_rng(1).standard_normal((20, 4)):
        assert correlation((names - names.mean(axis=0)) @ direction) <= correlations[0] + 1e-6


@pytest.mark.parametrize("count", [1, 3])
def test_fewer_names_than_dimensions(count):
    names, concepts = draw(count, 8)
    found = project(names, concepts)
    assert found.shape == (count, 8) and np.isfinite(found).all()
    # Of n points only n - 1 differences are left.
    assert np.linalg.matrix_rank(found, tol=1e-3) == count - 1
