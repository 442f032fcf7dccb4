"""`GroundedDanEncoder`: a deep averaging network over the vectors of another, frozen encoder."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from thinc.api import Model
from thinc.types import Floats2d

from ...errors import refuse, require_installed, require_range
from ..hybrid import HybridShim
from ..protocol import fingerprint, fitted, is_sparse, make_encoder, shim_of
from ..saving import restored_parts, saved_parts
from ..shims import PretrainedShim
from ..storage import require_settings
from .network import GroundedDan, load_grounded_dan, start_grounded_dan

if TYPE_CHECKING:
    from .module import GroundedDanModule

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

    with the same width as u. `connorm train` fits CCA to the names and their
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
    require_range(least=1, hidden=hidden)
    require_range(least=0, below=1, dropout=dropout)
    require_installed("GroundedDanEncoder", "dan", "safetensors")
    asked = {"hidden": hidden, "cca": cca}
    shim = GroundedDanShim(input, name=name or "", asked=asked, dropout=dropout)
    return make_encoder("grounded_dan_encoder", shim)


class GroundedDanShim(PretrainedShim):
    """Holds the input encoder, and the part trained on top of it."""

    def __init__(self, part: Model, *, name: str, asked: dict[str, Any], dropout: float) -> None:
        """Store the input encoder and the settings.

        part (Model[List[str], Floats2d]): The encoder of the input vectors.
        name (str): The trained encoder's folder; empty for initial weights.
        asked (Dict[str, Any]): `hidden` and `cca` of `GroundedDanEncoder`.
        dropout (float): The share of hidden units dropped in training.
        """
        super().__init__(name, asked=asked)
        self._part = part
        self.extra = ",".join(dict.fromkeys(filter(None, ("dan", shim_of(part).extra))))
        self._dropout = dropout

    def read(self) -> GroundedDan:
        """Load the input encoder and the trained part.

        RETURNS (GroundedDan): The trained part, or the initial weights.
        RAISES (ConnormError): The errors of `load_grounded_dan` and of the input encoder.
        """
        part = fitted(self._part)
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
        return shim_of(self._part).inputs(texts)

    def encode_batch(self, inputs: list[bytes]) -> np.ndarray:
        """Compute vectors from the inputs of the input encoder.

        RETURNS (np.ndarray): Shape (inputs, width), float32. A text without an input vector gets
            the zero vector.
        """
        return self._model(shim_of(self._part).encode(inputs))

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
        facts = {"width": dan.width, "input_fingerprint": dan.input_fingerprint}
        return {**values, **facts}, {**arrays, **dan.weights}

    def restored(
        self, saved: Mapping[str, Any], arrays: dict[str, np.ndarray]
    ) -> tuple[GroundedDan, str]:
        """Restore the trained part and the input encoder.

        RETURNS (Tuple): The trained part and its checksum.
        RAISES (ConnormError): CN305 if the input encoder is damaged, CN322 if the config has other
            settings.
        """
        part = restored_parts({"input": self._part}, saved, arrays)["input"]
        weights = {name: array for name, array in arrays.items() if not name.startswith("input.")}
        dan = GroundedDan(weights, saved["width"], saved["input_fingerprint"])
        if fingerprint(part) != dan.input_fingerprint:
            raise ValueError("its input vectors are not those that it was trained with")
        found = {"hidden": dan.hidden, "cca": dan.cca}
        require_settings("the saved pipeline", found, self._asked)
        self._part = part
        return dan, dan.digest()
