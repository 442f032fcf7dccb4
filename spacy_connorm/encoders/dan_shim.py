"""The shim behind `DanEncoder`. Imports tokenizers and safetensors: import it in functions."""

from dataclasses import asdict
from itertools import pairwise
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import srsly
from thinc.api import Ops
from thinc.shims import Shim
from thinc.types import Floats2d

from ..errors import ConnormError, Errors
from .dan_weights import EMBEDDINGS, Dan, DanSettings, load_dan
from .verified import load_verified

if TYPE_CHECKING:
    from .dan_module import DanModule


class DanShim(Shim):
    """Holds a deep averaging network; computes with NumPy and SciPy."""

    sparse = False
    fits = False
    extra = "dan"

    def __init__(
        self, name: str, *, asked: dict[str, Any], dropout: float, batch_size: int
    ) -> None:
        """name (str): As `DanEncoder` takes it.
        asked (Dict[str, Any]): The settings that change vectors; None for those not given.
        dropout (float): The share of features that training drops.
        batch_size (int): Texts encoded at once.
        """
        super().__init__(None)
        self._name = name
        self._asked = asked
        self._dropout = dropout
        self._batch_size = batch_size
        self._reader: Any = None
        self._digest = ""

    @property
    def width(self) -> int:
        """RETURNS (int): The width of the vectors; 0 before weights are loaded."""
        return 0 if self._model is None else self._model.width

    def load(self, texts: list[str] | None) -> None:
        """Load the weights, unless they are loaded.

        texts (Optional[List[str]]): Not used.
        RAISES (ConnormError): As `load_dan`.
        """
        if self._model is None:
            dan = load_dan(self._name, self._asked)
            self._set(dan, dan.digest())

    def encode(self, inputs: list[bytes], ops: Ops) -> Floats2d:
        """RETURNS (Floats2d): Shape (inputs, width), float32. A text without features (word pieces
        or n-grams) has the zero vector.
        """
        vectors = np.zeros((len(inputs), self.width), dtype=np.float32)
        for start in range(0, len(inputs), self._batch_size):
            batch = inputs[start : start + self._batch_size]
            vectors[start : start + len(batch)] = self._encode(batch)
        if not np.isfinite(vectors).all():
            raise ConnormError(Errors.CN323.format(name=self._name))
        return ops.asarray2f(cast(Floats2d, vectors))

    def inputs(self, texts: list[str]) -> list[bytes]:
        """RETURNS (List[bytes]): The features, ascending."""
        ids, bounds = self._reader.read(texts)
        raw = ids.tobytes()
        ends = (bounds * ids.itemsize).tolist()
        return [raw[start:end] for start, end in pairwise(ends)]

    def forms(self, texts: list[str]) -> list[str]:
        """RETURNS (List[str]): The characters that the encoder reads, lower-cased if it does so."""
        return self._reader.forms(texts)

    def fingerprint(self) -> str:
        """RETURNS (str): The checksum of weights, tokenizer and settings."""
        return self._digest

    def trainable(self) -> "DanModule":
        """RETURNS (DanModule): A torch module with a copy of the weights."""
        from .dan_module import DanModule

        return DanModule(self._model, dropout=self._dropout)

    def to_bytes(self) -> bytes:
        """RETURNS (bytes): Settings, tokenizer, weights and a checksum; empty before weights are
        loaded.
        """
        if self._model is None:
            return b""
        weights = {
            name: {"shape": list(array.shape), "data": np.ascontiguousarray(array).data}
            for name, array in self._model.weights.items()
        }
        return srsly.msgpack_dumps(
            {
                "settings": asdict(self._model.settings),
                "tokenizer": self._model.tokenizer,
                "weights": weights,
                "digest": self._digest,
            }
        )

    def from_bytes(self, bytes_data: bytes) -> "DanShim":
        """Restore what `to_bytes` saved. The saved settings replace those of the config.

        bytes_data (bytes): From `to_bytes`.
        RETURNS (DanShim): This shim.
        RAISES (ConnormError): CN305 if the data is damaged.
        """
        if not bytes_data:
            self._model, self._reader, self._digest = None, None, ""
            return self
        self._set(*load_verified(bytes_data, _restore))
        return self

    def _set(self, dan: Dan, digest: str) -> None:
        self._model, self._reader, self._digest = dan, dan.reader(), digest

    def _encode(self, inputs: list[bytes]) -> np.ndarray:
        from scipy.sparse import csr_matrix

        weights = self._model.weights
        ids = np.frombuffer(b"".join(inputs), dtype=np.int32)
        counts = np.asarray([len(each) for each in inputs]) // ids.itemsize
        bounds = np.concatenate([[0], np.cumsum(counts)])
        shares = np.repeat(1 / np.maximum(counts, 1).astype(np.float32), counts)
        shape = (len(inputs), len(weights[EMBEDDINGS]))
        means = csr_matrix((shares, ids, bounds), shape=shape) @ weights[EMBEDDINGS]
        if not self._model.settings.hidden:
            return means
        hidden = np.maximum(means @ weights["hidden.weight"].T + weights["hidden.bias"], 0)
        vectors = hidden @ weights["output.weight"].T + weights["output.bias"]
        vectors[counts == 0] = 0
        return vectors


def _restore(saved: dict[str, Any]) -> tuple[Dan, str]:
    weights = {
        name: np.frombuffer(each["data"], dtype="<f4").reshape(each["shape"])
        for name, each in saved["weights"].items()
    }
    dan = Dan(DanSettings.read(saved["settings"]), saved["tokenizer"], weights)
    # `FeatureReader` checks the ids of the tokenizer; to read it twice would take long.
    dan.check_weights()
    return dan, dan.digest()
