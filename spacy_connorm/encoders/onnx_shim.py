"""The shim behind `OnnxEncoder`. Imports onnxruntime and tokenizers: import it in functions."""

from array import array
from dataclasses import asdict
from pathlib import Path
from typing import Any, cast

import numpy as np
import srsly
from thinc.api import Ops
from thinc.shims import Shim
from thinc.types import Floats2d
from tokenizers import Tokenizer

from ..errors import ConnormError, Errors
from .forks import tokenize_without_threads
from .onnx_folder import OnnxModel, OnnxSettings, load_onnx
from .onnx_session import GraphSession
from .padding import batches_by_length, pad
from .tokenizer_forms import TokenizerForms
from .verified import load_verified

tokenize_without_threads()


class OnnxShim(Shim):
    """Holds an exported transformer and its tokenizer."""

    sparse = False
    fits = False
    extra = "onnx"

    def __init__(self, name: str, *, asked: dict[str, Any], batch_tokens: int) -> None:
        """name (str): As `OnnxEncoder` takes it.
        asked (Dict[str, Any]): The settings that change vectors; None for those not given.
        batch_tokens (int): Tokens per batch, including padding.
        """
        super().__init__(None)
        self._name = name
        self._asked = asked
        self._batch_tokens = batch_tokens
        self._tokenizer: Any = None
        self._forms: Any = None
        self._session: Any = None
        self._digest = ""

    @property
    def width(self) -> int:
        """RETURNS (int): The width of the vectors; 0 before anything is loaded."""
        return 0 if self._model is None else self._model.settings.width

    def load(self, texts: list[str] | None) -> None:
        """Load the exported encoder, unless it is loaded.

        texts (Optional[List[str]]): Not used.
        RAISES (ConnormError): CN306 and CN322 as `load_onnx`.
        """
        if self._model is None:
            model = load_onnx(Path(self._name), self._asked)
            self._set(model, model.digest())

    def encode(self, inputs: list[bytes], ops: Ops) -> Floats2d:
        """RETURNS (Floats2d): Shape (inputs, width), float32. A text without tokens has the zero
        vector.
        RAISES (ConnormError): CN333 if ONNX Runtime can't run the graph, CN305 if it computes
            anything but vectors, CN308 if they are not finite.
        """
        rows = [array("i", each).tolist() for each in inputs]
        vectors = np.zeros((len(rows), self.width), dtype=np.float32)
        read = np.flatnonzero(list(map(len, rows)))
        for part in batches_by_length([len(rows[i]) for i in read], self._batch_tokens):
            batch = read[part]
            ids, mask = pad([rows[i] for i in batch], self._model.settings.padding)
            found = self._session.run(ids, mask, use_gpu=ops.device_type == "gpu")
            if found.shape != (len(batch), self.width):
                reason = f"it computes {found.shape} values, not {(len(batch), self.width)}"
                raise ConnormError(Errors.CN305.format(reason=reason))
            vectors[batch] = found
        if not np.isfinite(vectors).all():
            raise ConnormError(Errors.CN308.format(name=self._name))
        return ops.asarray2f(cast(Floats2d, vectors))

    def inputs(self, texts: list[str]) -> list[bytes]:
        """RETURNS (List[bytes]): The token ids after truncation, equal to those of
        `TransformerEncoder`.
        """
        return [array("i", row).tobytes() for row in self._rows(texts)]

    def forms(self, texts: list[str]) -> list[str]:
        """RETURNS (List[str]): The normalized texts."""
        return self._forms(texts)

    def fingerprint(self) -> str:
        """RETURNS (str): The checksum of graph, tokenizer and settings."""
        return self._digest

    def to_bytes(self) -> bytes:
        """RETURNS (bytes): Settings, tokenizer, graph and a checksum; empty before they are
        loaded.
        """
        if self._model is None:
            return b""
        return srsly.msgpack_dumps(
            {
                "settings": asdict(self._model.settings),
                "tokenizer": self._model.tokenizer,
                "graph": self._model.graph,
                "digest": self._digest,
            }
        )

    def from_bytes(self, bytes_data: bytes) -> "OnnxShim":
        """Restore what `to_bytes` saved. The saved settings replace those of the config.

        bytes_data (bytes): From `to_bytes`.
        RETURNS (OnnxShim): This shim.
        RAISES (ConnormError): CN305 if the data is damaged.
        """
        if not bytes_data:
            self._model, self._digest = None, ""
            self._tokenizer = self._forms = self._session = None
            return self
        self._set(*load_verified(bytes_data, _restore))
        return self

    def _set(self, model: OnnxModel, digest: str) -> None:
        self._model, self._digest = model, digest
        self._tokenizer = Tokenizer.from_str(model.tokenizer)
        self._forms = TokenizerForms(self._tokenizer)
        self._session = GraphSession(model.graph)

    def _rows(self, texts: list[str]) -> list[list[int]]:
        return [encoding.ids for encoding in self._tokenizer.encode_batch_fast(texts)]


def _restore(saved: dict[str, Any]) -> tuple[OnnxModel, str]:
    model = OnnxModel(OnnxSettings.read(saved["settings"]), saved["tokenizer"], saved["graph"])
    model.check()
    return model, model.digest()
