"""Canonical correlation analysis of names and the concepts that they belong to."""

from typing import NamedTuple

import numpy as np

# Directions with a smaller share of the largest variance are noise of float32 numbers.
_LEAST_VARIANCE = 1e-6


class LinearMap(NamedTuple):
    """x to (x - offset) @ matrix.

    offset (np.ndarray): Shape (width,), float32.
    matrix (np.ndarray): Shape (width, width), float32.
    """

    offset: np.ndarray
    matrix: np.ndarray

    def __call__(self, vectors: np.ndarray) -> np.ndarray:
        """RETURNS (np.ndarray): Shape (n, width), float32."""
        return (vectors - self.offset) @ self.matrix


def fit_cca(names: np.ndarray, concepts: np.ndarray) -> LinearMap:
    """Find the linear map of names whose components correlate most with a linear map of their
    concepts, one after the other, each uncorrelated with those before (Hotelling 1936; Fivez et al.
    2021, section 3.2).

    All components come at once from the singular values of the whitened covariance. `CCA` of
    scikit-learn finds the same ones, but one after the other, by iterations that need not converge.

    names (np.ndarray): Shape (n, width), the vectors of names.
    concepts (np.ndarray): Shape (n, width), the vector of each name's concept.
    RETURNS (LinearMap): The map of names. Its components have a variance of 1; those that n names
        are too few for are 0.
    """
    offset = names.mean(axis=0, dtype="float64")
    own = names - offset
    other = concepts - concepts.mean(axis=0, dtype="float64")
    own_whitener, other_whitener = _whitener(own), _whitener(other)
    between = own_whitener.T @ (own.T @ other / len(own)) @ other_whitener
    rotation = np.linalg.svd(between)[0]
    return LinearMap(offset.astype("float32"), (own_whitener @ rotation).astype("float32"))


def _whitener(centred: np.ndarray) -> np.ndarray:
    """The symmetric root of the inverse covariance, without directions of no variance."""
    variances, directions = np.linalg.eigh(centred.T @ centred / len(centred))
    some = variances > _LEAST_VARIANCE * variances.max()
    scales = np.where(some, 1 / np.sqrt(np.where(some, variances, 1)), 0)
    return (directions * scales) @ directions.T
