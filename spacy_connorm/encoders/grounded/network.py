"""A deep averaging network over frozen vectors, grounded in concepts: canonical correlation
analysis, two layers, and their folder on disk. Computed with NumPy.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..raw import unit_rows
from ..storage import GROUNDED_DAN, digest_weights, reading_folder, require_settings, write_folder

OFFSET, MATRIX = "cca.offset", "cca.matrix"
_SEED = 0
# Directions with a smaller share of the largest variance are float32 noise.
_LEAST_VARIANCE = 1e-6


@dataclass(frozen=True, slots=True)
class GroundedDan:
    """The trained part of a `GroundedDanEncoder`, which transforms input vectors.

    weights (Dict[str, np.ndarray]): float32: with CCA `cca.offset`, shape (width,), and
        `cca.matrix`, shape (width, width); with a network `hidden.weight`, shape (hidden, width),
        `hidden.bias`, `output.weight`, shape (width, hidden), and `output.bias`.
    width (int): The width of the input vectors.
    input_fingerprint (str): The fingerprint of the input encoder.
    """

    weights: dict[str, np.ndarray]
    width: int
    input_fingerprint: str

    @property
    def cca(self) -> bool:
        """Whether input vectors are projected first.

        RETURNS (bool): True with CCA.
        """
        return OFFSET in self.weights

    @property
    def hidden(self) -> int:
        """The number of units in the hidden layer.

        RETURNS (int): 0 if there is no network.
        """
        bias = self.weights.get("hidden.bias")
        return 0 if bias is None else len(bias)

    def __call__(self, inputs: np.ndarray) -> np.ndarray:
        """Transform input vectors.

        inputs (np.ndarray): Shape (n, width), float32: input vectors.
        RETURNS (np.ndarray): Shape (n, width), float32. Zero vectors do not change.
        """
        known = inputs.any(axis=1, keepdims=True)
        vectors = unit_rows(inputs)
        weights = self.weights
        if self.cca:
            vectors = (vectors - weights[OFFSET]) @ weights[MATRIX]
        if self.hidden:
            units = np.maximum(vectors @ weights["hidden.weight"].T + weights["hidden.bias"], 0)
            vectors = units @ weights["output.weight"].T + weights["output.bias"]
        return np.where(known, vectors, 0).astype("float32", copy=False)

    def digest(self) -> str:
        """Compute a checksum of everything.

        RETURNS (str): 32 hexadecimal digits.
        """
        return digest_weights(f"{self.width} {self.input_fingerprint}\n", self.weights)

    def __post_init__(self) -> None:
        """Check that the weights fit together.

        RAISES (ValueError): If they do not.
        """
        found = {name: array.shape for name, array in self.weights.items()}
        expected = _layer_shapes(self.width, self.hidden)
        if self.cca:
            expected |= {OFFSET: (self.width,), MATRIX: (self.width, self.width)}
        if found != expected or any(array.dtype != "<f4" for array in self.weights.values()):
            raise ValueError(f"its weights are {found}, not {expected} in float32")

    def save(self, folder: Path) -> None:
        """Write the weights to a folder.

        folder (Path): The folder for `config.json` and `model.safetensors`.
        """
        names = ("width", "hidden", "cca", "input_fingerprint")
        settings = {name: getattr(self, name) for name in names}
        write_folder(folder, GROUNDED_DAN, settings, self.weights)


def start_grounded_dan(
    *, width: int, hidden: int, cca: bool, input_fingerprint: str
) -> GroundedDan:
    """Draw initial weights for training. CCA, which training fits, has no effect yet.

    width (int): The width of the input vectors.
    hidden (int): Units of the hidden layer.
    cca (bool): Whether input vectors are projected first.
    input_fingerprint (str): The fingerprint of the input encoder.
    RETURNS (GroundedDan): The network.
    """
    random = np.random.default_rng(_SEED)
    weights: dict[str, np.ndarray] = {}
    for name, shape in _layer_shapes(width, hidden).items():
        scale = np.float32(np.sqrt(2 / shape[-1]) * name.endswith("weight"))
        weights[name] = random.standard_normal(shape, dtype="float32") * scale
    if cca:
        weights[OFFSET], weights[MATRIX] = np.zeros(width, "<f4"), np.eye(width, dtype="<f4")
    return GroundedDan(weights, width, input_fingerprint)


def _layer_shapes(width: int, hidden: int) -> dict[str, tuple[int, ...]]:
    """List the shapes of the weights of a hidden and an output layer.

    RETURNS (Dict[str, Tuple[int, ...]]): The shapes by name; empty without hidden units.
    """
    shapes: dict[str, tuple[int, ...]] = {
        "hidden.weight": (hidden, width),
        "hidden.bias": (hidden,),
        "output.weight": (width, hidden),
        "output.bias": (width,),
    }
    return shapes if hidden else {}


def load_grounded_dan(folder: Path, asked: dict[str, Any]) -> GroundedDan:
    """Load a saved network.

    folder (Path): A folder written by `GroundedDan.save`.
    asked (Dict[str, Any]): `hidden`, `cca` and `input_fingerprint`; None for those not given.
    RETURNS (GroundedDan): The network.
    RAISES (ConnormError): CN306 if the folder is damaged, CN322 if it was saved with other settings
        or trained with other input vectors.
    """
    with reading_folder(folder, GROUNDED_DAN) as (config, weights):
        dan = GroundedDan(weights, config["width"], config["input_fingerprint"])
    require_settings(folder, {setting: getattr(dan, setting) for setting in asked}, asked)
    return dan


def fit_cca(names: np.ndarray, concepts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Find the linear map of names whose components correlate most with a linear map of their
    concepts, one after the other, each uncorrelated with those before (Hotelling 1936; Fivez et al.
    2021, section 3.2).

    All components are computed at once, from the singular values of the whitened covariance.
    scikit-learn's `CCA` finds the same ones, but one after the other, by iterations that may not
    converge.

    names (np.ndarray): Shape (n, width), the vectors of names.
    concepts (np.ndarray): Shape (n, width), the vector of each name's concept.
    RETURNS (Tuple[np.ndarray, np.ndarray]): An offset, shape (width,), and a matrix, shape (width,
        width), float32, which map x to (x - offset) @ matrix. Components of names have a variance
        of 1 then; those for which n names are too few are 0.
    """
    offset = names.mean(axis=0, dtype="float64")
    centred = names - offset
    other = concepts - concepts.mean(axis=0, dtype="float64")
    own_whitener, other_whitener = _whitener(centred), _whitener(other)
    between = own_whitener.T @ (centred.T @ other / len(centred)) @ other_whitener
    rotation = np.linalg.svd(between)[0]
    return offset.astype("float32"), (own_whitener @ rotation).astype("float32")


def _whitener(centred: np.ndarray) -> np.ndarray:
    """Compute the symmetric root of the inverse covariance, without directions of no variance."""
    variances, directions = np.linalg.eigh(centred.T @ centred / len(centred))
    some = variances > _LEAST_VARIANCE * variances.max()
    scales = np.where(some, 1 / np.sqrt(np.where(some, variances, 1)), 0)
    return (directions * scales) @ directions.T
