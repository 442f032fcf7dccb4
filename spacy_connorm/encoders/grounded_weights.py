"""The trained part of a grounded deep averaging network, and its folder on disk.

Imports the library safetensors: import it in functions.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import load_file, save_file

from ..errors import ConnormError, Errors
from .model_types import GROUNDED_DAN
from .vectors import unit_rows
from .weights import digest_weights

FORMAT_VERSION = 1
OFFSET, MATRIX = "cca.offset", "cca.matrix"
HIDDEN, OUTPUT = "hidden", "output"
_SEED = 0


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
        bias = self.weights.get(f"{HIDDEN}.bias")
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
            units = np.maximum(vectors @ weights["hidden.weight"].T + weights["hidden.bias"], 0)
            vectors = units @ weights["output.weight"].T + weights["output.bias"]
        return np.where(known, vectors, 0).astype("float32", copy=False)

    def digest(self) -> str:
        """RETURNS (str): A checksum of everything, 32 hexadecimal digits."""
        return digest_weights(f"{self.width} {self.input_fingerprint}\n", self.weights)

    def check(self) -> None:
        """RAISES (ValueError): If the weights do not fit together."""
        found = {name: array.shape for name, array in self.weights.items()}
        expected = weight_shapes(self.width, hidden=self.hidden, cca=self.cca)
        if found != expected or any(array.dtype != "<f4" for array in self.weights.values()):
            raise ValueError(f"its weights are {found}, not {expected} in float32")

    def save(self, folder: Path) -> None:
        """folder (Path): The folder for `config.json` and `model.safetensors`."""
        folder.mkdir(parents=True, exist_ok=True)
        config = {
            "model_type": GROUNDED_DAN,
            "format_version": FORMAT_VERSION,
            "width": self.width,
            "hidden": self.hidden,
            "cca": self.cca,
            "input_fingerprint": self.input_fingerprint,
        }
        (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n", encoding="utf8")
        save_file(self.weights, folder / "model.safetensors")


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
    random = np.random.default_rng(_SEED)
    weights = {
        name: random.standard_normal(shape, dtype="float32")
        * np.float32(np.sqrt(2 / shape[-1]) * name.endswith("weight"))
        for name, shape in weight_shapes(width, hidden=hidden, cca=False).items()
    }
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
    try:
        config = json.loads((folder / "config.json").read_text(encoding="utf8"))
        found = (config["model_type"], config["format_version"])
        if found != (GROUNDED_DAN, FORMAT_VERSION):
            raise ValueError("it holds a {} of version {}".format(*found))
        weights = load_file(folder / "model.safetensors")
        dan = GroundedDan(weights, config["width"], config["input_fingerprint"])
        dan.check()
    except Exception as error:
        raise ConnormError(Errors.CN306.format(path=folder, reason=error)) from error
    for setting, value in asked.items():
        found = getattr(dan, setting)
        if value is not None and value != found:
            raise ConnormError(
                Errors.CN322.format(path=folder, setting=setting, found=found, asked=value)
            )
    return dan


def weight_shapes(width: int, *, hidden: int, cca: bool) -> dict[str, tuple[int, ...]]:
    """RETURNS (Dict[str, Tuple[int, ...]]): The shape of each weight by its name."""
    projection = {OFFSET: (width,), MATRIX: (width, width)}
    layers = {
        "hidden.weight": (hidden, width),
        "hidden.bias": (hidden,),
        "output.weight": (width, hidden),
        "output.bias": (width,),
    }
    return {**(projection if cca else {}), **(layers if hidden else {})}
