"""The trained part of a grounded deep averaging network: canonical correlation analysis, two
layers, and their folder on disk.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..dan.network import apply_layers, layer_shapes, start_layers
from ..storage import (
    GROUNDED_DAN,
    WEIGHTS,
    digest_weights,
    reading_folder,
    require_settings,
    write_config,
)
from ..vectors import unit_rows

OFFSET, MATRIX = "cca.offset", "cca.matrix"
_SEED = 0
# Directions with a smaller share of the largest variance are noise of float32 numbers.
_LEAST_VARIANCE = 1e-6


@dataclass(frozen=True, slots=True)
class GroundedDan:
    """What `GroundedDanEncoder` does with input vectors.

    weights (Dict[str, np.ndarray]): float32: with CCA `cca.offset`, shape (width,), and
        `cca.matrix`, shape (width, width); with a network `hidden.weight`, shape (hidden, width),
        `hidden.bias`, `output.weight`, shape (width, hidden), and `output.bias`.
    width (int): Of the input vectors.
    input_fingerprint (str): Of the encoder of the input vectors.
    """

    weights: dict[str, np.ndarray]
    width: int
    input_fingerprint: str

    @property
    def cca(self) -> bool:
        """RETURNS (bool): Whether input vectors are projected first."""
        return OFFSET in self.weights

    @property
    def hidden(self) -> int:
        """RETURNS (int): Units of the hidden layer; 0 if there is no network."""
        bias = self.weights.get("hidden.bias")
        return 0 if bias is None else len(bias)

    def __call__(self, inputs: np.ndarray) -> np.ndarray:
        """inputs (np.ndarray): Shape (n, width), float32: input vectors.
        RETURNS (np.ndarray): Shape (n, width), float32. Zero vectors stay.
        """
        known = inputs.any(axis=1, keepdims=True)
        vectors = unit_rows(inputs)
        weights = self.weights
        if self.cca:
            vectors = (vectors - weights[OFFSET]) @ weights[MATRIX]
        if self.hidden:
            vectors = apply_layers(weights, vectors)
        return np.where(known, vectors, 0).astype("float32", copy=False)

    def digest(self) -> str:
        """RETURNS (str): A checksum of everything, 32 hexadecimal digits."""
        return digest_weights(f"{self.width} {self.input_fingerprint}\n", self.weights)

    def check(self) -> None:
        """RAISES (ValueError): If the weights do not fit together."""
        found = {name: array.shape for name, array in self.weights.items()}
        expected = layer_shapes(self.width, self.hidden)
        if self.cca:
            expected |= {OFFSET: (self.width,), MATRIX: (self.width, self.width)}
        if found != expected or any(array.dtype != "<f4" for array in self.weights.values()):
            raise ValueError(f"its weights are {found}, not {expected} in float32")

    def save(self, folder: Path) -> None:
        """folder (Path): The folder for `config.json` and `model.safetensors`."""
        from safetensors.numpy import save_file

        settings = {
            "width": self.width,
            "hidden": self.hidden,
            "cca": self.cca,
            "input_fingerprint": self.input_fingerprint,
        }
        write_config(folder, GROUNDED_DAN, settings)
        save_file(self.weights, folder / WEIGHTS)


def start_grounded_dan(
    *, width: int, hidden: int, cca: bool, input_fingerprint: str
) -> GroundedDan:
    """Draw the weights that training starts from. CCA, which training fits, changes nothing yet.

    width (int): Of the input vectors.
    hidden (int): Units of the hidden layer.
    cca (bool): Whether input vectors are projected first.
    input_fingerprint (str): Of the encoder of the input vectors.
    RETURNS (GroundedDan): The network.
    """
    weights = start_layers(np.random.default_rng(_SEED), width, hidden)
    if cca:
        weights[OFFSET], weights[MATRIX] = np.zeros(width, "<f4"), np.eye(width, dtype="<f4")
    return GroundedDan(weights, width, input_fingerprint)


def load_grounded_dan(folder: Path, asked: dict[str, Any]) -> GroundedDan:
    """Load a saved network.

    folder (Path): What `GroundedDan.save` wrote.
    asked (Dict[str, Any]): `hidden`, `cca` and `input_fingerprint`; None for those not given.
    RETURNS (GroundedDan): The network.
    RAISES (ConnormError): CN306 if the folder is damaged, CN322 if it was saved with other settings
        or trained with other input vectors.
    """
    from safetensors.numpy import load_file

    with reading_folder(folder, GROUNDED_DAN) as config:
        weights = load_file(folder / WEIGHTS)
        dan = GroundedDan(weights, config["width"], config["input_fingerprint"])
        dan.check()
    require_settings(folder, {setting: getattr(dan, setting) for setting in asked}, asked)
    return dan


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
