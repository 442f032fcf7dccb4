"""A transformer in ONNX Runtime as an encoder: fast on a CPU, without PyTorch."""

from array import array
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal

import numpy as np
from thinc.api import Model
from thinc.types import Floats2d

from ...errors import ConnormError, Errors, require_installed, require_positive
from ..protocol import make_encoder
from ..shim import PretrainedShim
from ..tokens import TokenizerForms, batches_by_length, pad, tokenize_without_threads
from .model import OnnxModel, OnnxSettings, load_onnx


def OnnxEncoder(
    *,
    name: str = "",
    pooling: Literal["mean", "cls", "max"] | None = None,
    max_length: int | None = None,
    batch_tokens: int = 512,
) -> Model[list[str], Floats2d]:
    """Build an encoder from a folder written by `python -m spacy connorm export`: a transformer as
    an ONNX graph, quantized to eight bits or in full precision. It needs neither torch nor
    transformers, and is saved whole with the model.

    A text's vector does not depend on the other texts of its batch (up to float32 rounding): when
    quantized, each token has its own scale. It uses OMP_NUM_THREADS threads, by default one per
    core, and one in a worker of `nlp.pipe(n_process=2)`.

    A setting of None means the value that the folder was exported with. A folder that was exported
    with a different value is refused.

    name (str): The folder.
    pooling (Optional[Literal["mean", "cls", "max"]]): How token vectors are pooled.
    max_length (Optional[int]): Texts are cut after this many tokens, including special tokens.
    batch_tokens (int): Tokens per batch, including padding. Texts are sorted by length.
    RETURNS (Model[List[str], Floats2d]): The encoder.
    RAISES (ConnormError): CN006 for an empty batch, CN126 if an optional library is not installed.
    """
    require_positive("batch_tokens", batch_tokens)
    require_installed("OnnxEncoder", "onnx", "onnxruntime", "tokenizers")
    asked = {"pooling": pooling, "max_length": max_length}
    return make_encoder("onnx_encoder", OnnxShim(name, asked=asked, batch_tokens=batch_tokens))


class OnnxShim(PretrainedShim):
    """Holds an exported transformer and its tokenizer."""

    extra = "onnx"

    def __init__(self, name: str, *, asked: dict[str, Any], batch_tokens: int) -> None:
        """name (str): As `OnnxEncoder` takes it.
        asked (Dict[str, Any]): The settings that change vectors; None for those not given.
        batch_tokens (int): Tokens per batch, including padding.
        """
        super().__init__(name, batch_size=batch_tokens)
        self._asked = asked
        self._tokenizer: Any = None
        self._forms: Any = None
        self._session: Any = None

    def read(self) -> OnnxModel:
        """RETURNS (OnnxModel): As `load_onnx`, and so are the errors."""
        return load_onnx(Path(self.name), self._asked)

    def hold(self, model: OnnxModel | None, digest: str) -> None:
        """Keep an exported encoder, with its tokenizer and a session."""
        super().hold(model, digest)
        self._tokenizer = self._forms = self._session = None
        if model is not None:
            from tokenizers import Tokenizer

            from .session import GraphSession

            tokenize_without_threads()
            self._tokenizer = Tokenizer.from_str(model.tokenizer)
            self._forms = TokenizerForms(self._tokenizer)
            self._session = GraphSession(model.graph)

    def inputs(self, texts: list[str]) -> list[bytes]:
        """RETURNS (List[bytes]): The token ids after truncation, equal to those of
        `TransformerEncoder`.
        """
        encodings = self._tokenizer.encode_batch_fast(texts)
        return [array("i", encoding.ids).tobytes() for encoding in encodings]

    def forms(self, texts: list[str]) -> list[str]:
        """RETURNS (List[str]): The normalized texts."""
        return self._forms(texts)

    def batches(self, inputs: list[bytes]) -> Iterator[np.ndarray]:
        """YIELDS (Ints1d): The texts of each batch. One without tokens is in none."""
        lengths = np.asarray([len(each) for each in inputs], dtype="int64") // array("i").itemsize
        read = np.flatnonzero(lengths)
        for part in batches_by_length(lengths[read], self.batch_size):
            yield read[part]

    def encode_batch(self, inputs: list[bytes]) -> np.ndarray:
        """RETURNS (np.ndarray): Shape (inputs, width), float32.
        RAISES (ConnormError): CN333 if ONNX Runtime can't run the graph, CN305 if it computes
            anything but vectors.
        """
        rows = [array("i", each).tolist() for each in inputs]
        vectors = self._session.run(*pad(rows, self._model.settings.padding))
        if vectors.shape != (len(rows), self.width):
            reason = f"it computes {vectors.shape} values, not {(len(rows), self.width)}"
            raise ConnormError(Errors.CN305.format(reason=reason))
        return vectors

    def contents(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """RETURNS (Tuple): Settings, tokenizer and graph."""
        model = self._model
        settings = asdict(model.settings)
        return {"settings": settings, "tokenizer": model.tokenizer, "graph": model.graph}, {}

    def restored(
        self, saved: Mapping[str, Any], arrays: dict[str, np.ndarray]
    ) -> tuple[OnnxModel, str]:
        """RETURNS (Tuple): An exported encoder, with the settings that were saved, and its
        checksum.
        """
        model = OnnxModel(OnnxSettings.read(saved["settings"]), saved["tokenizer"], saved["graph"])
        model.check()
        return model, model.digest()
