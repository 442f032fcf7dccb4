"""The shim behind `GroundedDanEncoder`. Imports safetensors: import it in functions."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import srsly
from thinc.api import Model, Ops
from thinc.types import Floats2d

from ..errors import ConnormError, Errors
from .grounded_weights import GroundedDan, load_grounded_dan, start_grounded_dan
from .joint_shim import JointShim
from .protocol import fingerprint
from .verified import load_verified
from .weights import pack_weights, unpack_weights

if TYPE_CHECKING:
    from .grounded_module import GroundedDanModule

_HIDDEN = 4800


class GroundedDanShim(JointShim):
    """Holds the encoder of the input vectors, its only part, and what is trained on top of it."""

    def __init__(
        self,
        part: Model,
        *,
        name: str | None,
        hidden: int | None,
        cca: bool | None,
        dropout: float,
    ) -> None:
        """part (Model[List[str], Floats2d]): The encoder of the input vectors.
        name (Optional[str]): As `GroundedDanEncoder` takes it.
        hidden (Optional[int]): Units of the hidden layer.
        cca (Optional[bool]): Whether input vectors are projected.
        dropout (float): The share of hidden units that training drops.
        """
        super().__init__([part], extra="dan")
        self._name = name
        self._asked = {"hidden": hidden, "cca": cca}
        self._dropout = dropout
        self._dan: GroundedDan | None = None

    @property
    def width(self) -> int:
        """RETURNS (int): The width of the vectors; 0 before everything is loaded."""
        return 0 if self._dan is None else super().width

    def load(self, texts: list[str] | None) -> None:
        """Load the input encoder and the trained part, unless they are loaded.

        texts (Optional[List[str]]): For an input encoder that is fitted.
        RAISES (ConnormError): As `load_grounded_dan`, and those of the input encoder.
        """
        if self._dan is not None and not self.fits:
            return
        super().load(texts)
        (part,) = self.parts
        found = {"input_fingerprint": fingerprint(part)}
        if self._name is not None:
            self._dan = load_grounded_dan(Path(self._name), {**self._asked, **found})
            return
        hidden, cca = self._asked["hidden"] or _HIDDEN, self._asked["cca"] is not False
        width = part.get_dim("nO")
        self._dan = start_grounded_dan(width=width, hidden=hidden, cca=cca, **found)

    def encode(self, inputs: list[bytes], ops: Ops) -> Floats2d:
        """RETURNS (Floats2d): Shape (inputs, width), float32. A text without an input vector has
        the zero vector.
        """
        (vectors,) = self.encode_parts(inputs)
        vectors = cast(GroundedDan, self._dan)(cast(np.ndarray, vectors))
        if not np.isfinite(vectors).all():
            raise ConnormError(Errors.CN308.format(name=self._name))
        return ops.asarray2f(cast(Floats2d, vectors))

    def fingerprint(self) -> str:
        """RETURNS (str): The checksum of the trained part, which names its input vectors."""
        return cast(GroundedDan, self._dan).digest()

    def trainable(self) -> "GroundedDanModule":
        """RETURNS (GroundedDanModule): A torch module with a copy of the trained part."""
        from .grounded_module import GroundedDanModule

        (part,) = self.parts
        return GroundedDanModule(cast(GroundedDan, self._dan), part, dropout=self._dropout)

    def to_bytes(self) -> bytes:
        """RETURNS (bytes): The input encoder, the trained part and a checksum; empty before they
        are loaded.
        """
        if self._dan is None:
            return b""
        saved = {
            "weights": pack_weights(self._dan.weights),
            "width": self._dan.width,
            "input_fingerprint": self._dan.input_fingerprint,
            "digest": self._dan.digest(),
        }
        return srsly.msgpack_dumps({"input": super().to_bytes(), "dan": srsly.msgpack_dumps(saved)})

    def from_bytes(self, data: bytes) -> "GroundedDanShim":
        """Restore what `to_bytes` saved.

        data (bytes): From `to_bytes`.
        RETURNS (GroundedDanShim): This shim.
        RAISES (ConnormError): CN305 if the data is damaged, and the errors of the input encoder.
        """
        if not data:
            self._dan = None
            return self
        try:
            saved = srsly.msgpack_loads(data)
            own, part = saved["dan"], saved["input"]
        except Exception as error:
            raise ConnormError(Errors.CN305.format(reason=error)) from error
        dan, _ = load_verified(own, _restore)
        super().from_bytes(part)
        if fingerprint(self.parts[0]) != dan.input_fingerprint:
            reason = "its input vectors are not those that it was trained with"
            raise ConnormError(Errors.CN305.format(reason=reason))
        self._dan = dan
        return self


def _restore(saved: dict[str, Any]) -> tuple[GroundedDan, str]:
    weights = unpack_weights(saved["weights"])
    dan = GroundedDan(weights, saved["width"], saved["input_fingerprint"])
    dan.check()
    return dan, dan.digest()
