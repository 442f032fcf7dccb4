"""A transformer in ONNX Runtime as an encoder, fast on a CPU and without PyTorch; and its
folder.
"""

import json
from array import array
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from thinc.api import Model
from thinc.types import Floats2d

from ...errors import ConnormError, Errors, require_installed
from ..protocol import make_encoder
from ..shims import PretrainedShim
from ..storage import ONNX, TOKENIZER, digest_parts, reading_folder, write_config
from ..tokens import batches_by_length, pad, tokenize_without_threads

_GRAPH = "model.onnx"
# Parts of an ONNX model that have parts themselves, by the kind of message and the number of the
# field in onnx.proto3.
_PARTS = {
    ("model", 7): "graph",
    ("graph", 1): "node",
    ("graph", 5): "tensor",
    ("node", 5): "attribute",
    ("attribute", 5): "tensor",
    ("attribute", 10): "tensor",
}
# Parts that it may not have, in the same way.
_INNER_GRAPH = "it has a node that contains a graph, such as Loop, Scan or If"
_OTHER_FILE = "it has weights in another file"
_REFUSED = {
    ("model", 25): "it has functions, which could expand without end",
    ("graph", 15): "it has sparse tensors",
    ("attribute", 6): _INNER_GRAPH,
    ("attribute", 11): _INNER_GRAPH,
    ("tensor", 13): _OTHER_FILE,
    ("tensor", 14): _OTHER_FILE,
}


@dataclass(frozen=True, slots=True)
class OnnxSettings:
    """The settings of an exported encoder.

    pooling (str): How token vectors are pooled: "mean", "cls" or "max".
    max_length (int): Texts are truncated to this many tokens, including special tokens.
    precision (str): The precision of weights and activations of linear layers: "fp32" or "int8".
    width (int): The width of the vectors.
    padding (int): The id of the padding token.
    """

    pooling: str
    max_length: int
    precision: str
    width: int
    padding: int

    @classmethod
    def read(cls, config: dict[str, Any]) -> "OnnxSettings":
        """Read the settings from a config.

        config (Dict[str, Any]): The settings by name; other keys are ignored.
        RETURNS (OnnxSettings): The settings.
        """
        return cls(**{field.name: config[field.name] for field in fields(cls)})


@dataclass(frozen=True, slots=True)
class OnnxModel:
    """An exported encoder.

    settings (OnnxSettings): The settings.
    tokenizer (str): JSON of the library tokenizers, with truncation and without padding.
    graph (bytes): A serialized ONNX model. Inputs: `input_ids`, int64, and `mask`, bool, both of
        shape (texts, tokens); output: `vectors`, float32, of shape (texts, width).
    """

    settings: OnnxSettings
    tokenizer: str
    graph: bytes

    @property
    def width(self) -> int:
        """The width of the vectors.

        RETURNS (int): The number of components.
        """
        return self.settings.width

    def digest(self) -> str:
        """Compute a checksum of everything.

        RETURNS (str): 32 hexadecimal digits.
        """
        settings = json.dumps(asdict(self.settings), sort_keys=True)
        return digest_parts(settings, self.tokenizer, self.graph)

    def check(self) -> None:
        """Check the settings and the graph.

        RAISES (ValueError): If the settings are impossible, or `require_plain_graph` refuses the
            graph.
        """
        numbers = (self.settings.max_length, self.settings.width, self.settings.padding)
        if not all(type(number) is int for number in numbers) or min(numbers) < 0:
            raise ValueError("its settings are not numbers")
        if not isinstance(self.tokenizer, str) or not isinstance(self.graph, bytes):
            raise ValueError("it lacks a tokenizer or a graph")
        require_plain_graph(self.graph)

    def save(self, folder: Path) -> None:
        """Write the encoder to a folder.

        folder (Path): The folder for `config.json`, `tokenizer.json` and `model.onnx`.
        """
        write_config(folder, ONNX, {"digest": self.digest(), **asdict(self.settings)})
        (folder / TOKENIZER).write_text(self.tokenizer, encoding="utf8")
        (folder / _GRAPH).write_bytes(self.graph)


def load_onnx(path: Path) -> OnnxModel:
    """Load an exported encoder.

    path (Path): A folder written by `OnnxModel.save`.
    RETURNS (OnnxModel): The encoder.
    RAISES (ConnormError): CN306 if the folder contains something else or is damaged.
    """
    with reading_folder(path, ONNX) as config:
        tokenizer = (path / TOKENIZER).read_text(encoding="utf8")
        model = OnnxModel(OnnxSettings.read(config), tokenizer, (path / _GRAPH).read_bytes())
        model.check()
        if config["digest"] != model.digest():
            raise ValueError("its checksum differs")
    return model


def require_plain_graph(model: bytes) -> None:
    """Refuse a graph that could run forever, that reads other files, or that is far larger than its
    bytes. ONNX Runtime reports nothing about a graph until it is ready to run it, and the library
    onnx is not needed otherwise. So this reads the protocol buffers directly: a message is a list
    of fields, each with a number and a value.

    model (bytes): A serialized ONNX model.
    RAISES (ValueError): If it has nodes that contain graphs (Loop, Scan, If), tensors in other
        files, sparse tensors or functions; and if it is not a model.
    """
    from google.protobuf.message import DecodeError

    try:
        _require_plain("model", model)
    except DecodeError as error:
        raise ValueError("it is not an ONNX model, or it is truncated") from error


def _require_plain(kind: str, content: bytes) -> None:
    from google.protobuf.empty_pb2 import Empty
    from google.protobuf.unknown_fields import UnknownFieldSet

    message = Empty()
    message.ParseFromString(content)
    for field in UnknownFieldSet(message):
        place = (kind, field.field_number)
        # The location 0 is the model itself.
        if place in _REFUSED and field.data != 0:
            raise ValueError(_REFUSED[place])
        if place in _PARTS:
            if not isinstance(field.data, bytes):
                raise ValueError("it is not an ONNX model")
            _require_plain(_PARTS[place], field.data)


# The tokens encoded at once, including padding.
_BATCH_TOKENS = 512


def OnnxEncoder(*, name: str = "") -> Model[list[str], Floats2d]:
    """Build an encoder from a folder written by `connorm export`: a transformer as
    an ONNX graph, quantized to eight bits or in full precision. It needs neither torch nor
    transformers, and is completely saved with the model.

    A text's vector does not depend on the other texts in its batch (up to float32 rounding): in a
    quantized graph, each token has its own scale. It uses OMP_NUM_THREADS threads, by default one
    per core, and one in a worker of `nlp.pipe(n_process=2)`.

    name (str): The folder, which also has the pooling and the maximum length of texts.
    RETURNS (Model[List[str], Floats2d]): The encoder.
    RAISES (ConnormError): CN126 if an optional library is not installed.
    """
    require_installed("OnnxEncoder", "onnx", "onnxruntime", "tokenizers")
    return make_encoder("onnx_encoder", OnnxShim(name))


class OnnxShim(PretrainedShim):
    """Holds an exported transformer and its tokenizer."""

    extra = "onnx"

    def __init__(self, name: str) -> None:
        """Store the folder.

        name (str): The `name` of `OnnxEncoder`.
        """
        super().__init__(name)
        self._tokenizer: Any = None
        self._session: Any = None

    def read(self) -> OnnxModel:
        """Load the exported encoder; see `load_onnx`.

        RETURNS (OnnxModel): The encoder.
        """
        return load_onnx(Path(self.name))

    def hold(self, model: OnnxModel | None, digest: str) -> None:
        """Keep an exported encoder, its tokenizer and a session."""
        super().hold(model, digest)
        self._tokenizer = self._session = None
        if model is not None:
            from tokenizers import Tokenizer

            from .session import GraphSession

            tokenize_without_threads()
            self._tokenizer = Tokenizer.from_str(model.tokenizer)
            self._session = GraphSession(model.graph)

    def inputs(self, texts: list[str]) -> list[bytes]:
        """Tokenize texts, with the same result as `TransformerEncoder`.

        RETURNS (List[bytes]): The token ids of each text, truncated.
        """
        encodings = self._tokenizer.encode_batch_fast(texts)
        return [array("i", encoding.ids).tobytes() for encoding in encodings]

    def batches(self, inputs: list[bytes]) -> Iterator[np.ndarray]:
        """Group texts of similar length into batches. A text without tokens is in no batch.

        YIELDS (Ints1d): The texts of each batch.
        """
        lengths = np.asarray([len(key) for key in inputs], dtype="int64") // array("i").itemsize
        read = np.flatnonzero(lengths)
        for part in batches_by_length(lengths[read], _BATCH_TOKENS):
            yield read[part]

    def encode_batch(self, inputs: list[bytes]) -> np.ndarray:
        """Compute vectors from token ids.

        RETURNS (np.ndarray): Shape (inputs, width), float32.
        RAISES (ConnormError): CN333 if ONNX Runtime can't run the graph, CN305 if it computes
            anything but vectors.
        """
        rows = [array("i", key).tolist() for key in inputs]
        vectors = self._session.run(*pad(rows, self._model.settings.padding))
        if vectors.shape != (len(rows), self.width):
            reason = f"it computes {vectors.shape} values, not {(len(rows), self.width)}"
            raise ConnormError(Errors.CN305.format(reason=reason))
        return vectors

    def contents(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Collect the settings, the tokenizer and the graph.

        RETURNS (Tuple): Values for msgpack, and arrays.
        """
        model = self._model
        settings = asdict(model.settings)
        return {"settings": settings, "tokenizer": model.tokenizer, "graph": model.graph}, {}

    def restored(
        self, saved: Mapping[str, Any], arrays: dict[str, np.ndarray]
    ) -> tuple[OnnxModel, str]:
        """Restore an exported encoder with its saved settings.

        RETURNS (Tuple): The encoder and its checksum.
        """
        model = OnnxModel(OnnxSettings.read(saved["settings"]), saved["tokenizer"], saved["graph"])
        model.check()
        return model, model.digest()
