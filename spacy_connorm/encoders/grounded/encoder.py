"""A deep averaging network over frozen vectors, grounded in concepts: canonical correlation
analysis, two layers, and their folder on disk.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from thinc.api import Model
from thinc.types import Floats2d

from ...errors import refuse, require_installed, require_positive
from ..hybrid import HybridShim
from ..protocol import (
    PretrainedShim,
    encode_inputs,
    encoder_inputs,
    fingerprint,
    is_sparse,
    make_encoder,
    replica,
    required_extra,
    restored_parts,
    saved_parts,
    unit_rows,
)
from ..storage import (
    GROUNDED_DAN,
    WEIGHTS,
    digest_weights,
    reading_folder,
    require_settings,
    write_config,
)

if TYPE_CHECKING:
    from .module import GroundedDanModule

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

    def check(self) -> None:
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
    from safetensors.numpy import load_file

    with reading_folder(folder, GROUNDED_DAN) as config:
        weights = load_file(folder / WEIGHTS)
        dan = GroundedDan(weights, config["width"], config["input_fingerprint"])
        dan.check()
    require_settings(folder, {setting: getattr(dan, setting) for setting in asked}, asked)
    return dan


class LinearMap(NamedTuple):
    """Maps x to (x - offset) @ matrix.

    offset (np.ndarray): Shape (width,), float32.
    matrix (np.ndarray): Shape (width, width), float32.
    """

    offset: np.ndarray
    matrix: np.ndarray

    def __call__(self, vectors: np.ndarray) -> np.ndarray:
        """Apply the map.

        RETURNS (np.ndarray): Shape (n, width), float32.
        """
        return (vectors - self.offset) @ self.matrix


def fit_cca(names: np.ndarray, concepts: np.ndarray) -> LinearMap:
    """Find the linear map of names whose components correlate most with a linear map of their
    concepts, one after the other, each uncorrelated with those before (Hotelling 1936; Fivez et al.
    2021, section 3.2).

    All components are computed at once, from the singular values of the whitened covariance.
    scikit-learn's `CCA` finds the same ones, but one after the other, by iterations that may not
    converge.

    names (np.ndarray): Shape (n, width), the vectors of names.
    concepts (np.ndarray): Shape (n, width), the vector of each name's concept.
    RETURNS (LinearMap): The map of names. Its components have a variance of 1; those for which n
        names are too few are 0.
    """
    offset = names.mean(axis=0, dtype="float64")
    own = names - offset
    other = concepts - concepts.mean(axis=0, dtype="float64")
    own_whitener, other_whitener = _whitener(own), _whitener(other)
    between = own_whitener.T @ (own.T @ other / len(own)) @ other_whitener
    rotation = np.linalg.svd(between)[0]
    return LinearMap(offset.astype("float32"), (own_whitener @ rotation).astype("float32"))


def _whitener(centred: np.ndarray) -> np.ndarray:
    """Compute the symmetric root of the inverse covariance, without directions of no variance."""
    variances, directions = np.linalg.eigh(centred.T @ centred / len(centred))
    some = variances > _LEAST_VARIANCE * variances.max()
    scales = np.where(some, 1 / np.sqrt(np.where(some, variances, 1)), 0)
    return (directions * scales) @ directions.T


_HIDDEN = 4800


def GroundedDanEncoder(
    *,
    input: Any,
    name: str | None = None,
    hidden: int | None = None,
    cca: bool | None = None,
    dropout: float = 0.5,
) -> Model[list[str], Floats2d]:
    """Build the encoder of Fivez et al. 2021, section 3.1. If u is the vector of a text by
    another, frozen encoder, at unit length, the result is

        output(dropout(ReLU(hidden(CCA(u)))))

    with the same width as u. `python -m spacy connorm train` fits CCA to the names and their
    concepts and trains the two layers; before that, the vectors mean little. Encoding does not need
    torch unless the input encoder does.

    input (Model[List[str], Floats2d]): The encoder of the input vectors: `WordVectorEncoder`, as in
        the paper, or any other encoder of dense vectors.
    name (Optional[str]): A trained encoder's folder. It contains only the trained part, not the
        input vectors; a saved pipeline contains both.
    hidden (Optional[int]): Units of the hidden layer; 38,400 in the paper, for 300 dimensions. If
        None, the folder's value, or else 4,800.
    cca (Optional[bool]): Whether input vectors are projected by canonical correlation analysis
        first. If None, the folder's value, or else true.
    dropout (float): The share of hidden units dropped in each training step.
    RETURNS (Model[List[str], Floats2d]): The encoder.
    RAISES (ConnormError): CN300 if the input is not an encoder, CN006 for an invalid setting, CN126
        if an optional library is not installed.
    """
    if not isinstance(input, Model) or is_sparse(input) or isinstance(input.shims[0], HybridShim):
        expected = "an encoder of dense vectors, e.g. spacy-connorm.WordVectorEncoder.v1"
        refuse("input", getattr(input, "name", input), expected)
    if hidden is not None:
        require_positive("hidden", hidden)
    if not 0 <= dropout < 1:
        refuse("dropout", dropout, "a share, from 0 to less than 1")
    require_installed("GroundedDanEncoder", "dan", "safetensors")
    shim = GroundedDanShim(input, name=name, hidden=hidden, cca=cca, dropout=dropout)
    return make_encoder("grounded_dan_encoder", shim)


class GroundedDanShim(PretrainedShim):
    """Holds the input encoder, and the part trained on top of it."""

    def __init__(
        self,
        part: Model,
        *,
        name: str | None,
        hidden: int | None,
        cca: bool | None,
        dropout: float,
    ) -> None:
        """Store the input encoder and the settings.

        part (Model[List[str], Floats2d]): The encoder of the input vectors.
        name (Optional[str]): The `name` of `GroundedDanEncoder`.
        hidden (Optional[int]): Units of the hidden layer.
        cca (Optional[bool]): Whether input vectors are projected.
        dropout (float): The share of hidden units dropped in training.
        """
        super().__init__(name or "")
        self._part = part
        self.extra = ",".join(dict.fromkeys(filter(None, ("dan", required_extra(part)))))
        self._asked = {"hidden": hidden, "cca": cca}
        self._dropout = dropout

    def read(self) -> GroundedDan:
        """Load the input encoder and the trained part.

        RETURNS (GroundedDan): The trained part, or the initial weights.
        RAISES (ConnormError): The errors of `load_grounded_dan` and of the input encoder.
        """
        part = replica(self._part)
        part.initialize()
        found = {"input_fingerprint": fingerprint(part)}
        if self.name:
            dan = load_grounded_dan(Path(self.name), {**self._asked, **found})
        else:
            hidden, cca = self._asked["hidden"] or _HIDDEN, self._asked["cca"] is not False
            width = part.get_dim("nO")
            dan = start_grounded_dan(width=width, hidden=hidden, cca=cca, **found)
        self._part = part
        return dan

    def inputs(self, texts: list[str]) -> list[bytes]:
        """Get the inputs of the input encoder.

        RETURNS (List[bytes]): One per text.
        """
        return encoder_inputs(self._part, texts)

    def encode_batch(self, inputs: list[bytes]) -> np.ndarray:
        """Compute vectors from the inputs of the input encoder.

        RETURNS (np.ndarray): Shape (inputs, width), float32. A text without an input vector gets
            the zero vector.
        """
        return self._model(encode_inputs(self._part, inputs))

    def trainable(self) -> "GroundedDanModule":
        """Create a torch module with a copy of the trained part.

        RETURNS (GroundedDanModule): The module to train.
        """
        from .module import GroundedDanModule

        return GroundedDanModule(self._model, self._part, dropout=self._dropout)

    def contents(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Collect the trained part and the input encoder, which has its own arrays.

        RETURNS (Tuple): Values for msgpack, and arrays.
        """
        dan = self._model
        values, arrays = saved_parts({"input": self._part})
        own = {"width": dan.width, "input_fingerprint": dan.input_fingerprint}
        return {**values, **own}, {**arrays, **dan.weights}

    def restored(
        self, saved: Mapping[str, Any], arrays: dict[str, np.ndarray]
    ) -> tuple[GroundedDan, str]:
        """Restore the trained part and the input encoder.

        RETURNS (Tuple): The trained part and its checksum.
        RAISES (ConnormError): CN305 if the input encoder is damaged.
        """
        part = restored_parts({"input": self._part}, saved, arrays)["input"]
        weights = {name: array for name, array in arrays.items() if not name.startswith("input.")}
        dan = GroundedDan(weights, saved["width"], saved["input_fingerprint"])
        dan.check()
        if fingerprint(part) != dan.input_fingerprint:
            raise ValueError("its input vectors are not those that it was trained with")
        self._part = part
        return dan, dan.digest()
