"""An exported encoder, and its folder on disk."""

import hashlib
import json
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from ..storage import ONNX, TOKENIZER, reading_folder, require_settings, write_config

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
    ("model", 25): "it has functions, which could unfold without end",
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
    max_length (int): Texts are cut after this many tokens, including special tokens.
    precision (str): Of weights and activations of linear layers: "fp32" or "int8".
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
        """config (Dict[str, Any]): The settings by name; other keys are ignored.
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
        """RETURNS (int): The width of the vectors."""
        return self.settings.width

    def digest(self) -> str:
        """RETURNS (str): A checksum of everything, 32 hexadecimal digits."""
        content = hashlib.blake2b(digest_size=16)
        for part in (json.dumps(asdict(self.settings), sort_keys=True), self.tokenizer):
            content.update(f"{len(part)}\n{part}".encode())
        content.update(self.graph)
        return content.hexdigest()

    def check(self) -> None:
        """RAISES (ValueError): If the settings are impossible, or the graph is not one that
        `require_plain_graph` lets through.
        """
        numbers = (self.settings.max_length, self.settings.width, self.settings.padding)
        if not all(type(number) is int for number in numbers) or min(numbers) < 0:
            raise ValueError("its settings are no numbers")
        if not isinstance(self.tokenizer, str) or not isinstance(self.graph, bytes):
            raise ValueError("it lacks a tokenizer or a graph")
        require_plain_graph(self.graph)

    def save(self, folder: Path) -> None:
        """folder (Path): The folder for `config.json`, `tokenizer.json` and `model.onnx`."""
        write_config(folder, ONNX, {"digest": self.digest(), **asdict(self.settings)})
        (folder / TOKENIZER).write_text(self.tokenizer, encoding="utf8")
        (folder / _GRAPH).write_bytes(self.graph)


def load_onnx(path: Path, asked: dict[str, Any]) -> OnnxModel:
    """Load an exported encoder.

    path (Path): A folder written by `OnnxModel.save`.
    asked (Dict[str, Any]): Fields of `OnnxSettings`; None for those not given.
    RETURNS (OnnxModel): The encoder.
    RAISES (ConnormError): CN306 if the folder holds something else or is damaged, CN322 if it was
        exported with different settings.
    """
    with reading_folder(path, ONNX) as config:
        tokenizer = (path / TOKENIZER).read_text(encoding="utf8")
        model = OnnxModel(OnnxSettings.read(config), tokenizer, (path / _GRAPH).read_bytes())
        model.check()
        if config["digest"] != model.digest():
            raise ValueError("its checksum differs")
    require_settings(path, config, asked)
    return model


def require_plain_graph(model: bytes) -> None:
    """Refuse a graph that could run for ever, that reads other files, or that is far larger than
    its bytes. ONNX Runtime says nothing about a graph until it is ready to run it, and the library
    onnx is not needed otherwise. So this reads the protocol buffers themselves: a message is a list
    of fields, each with a number and a value.

    model (bytes): A serialized ONNX model.
    RAISES (ValueError): If it has nodes that contain graphs (Loop, Scan, If), tensors in other
        files, sparse tensors or functions; and if it is no model.
    """
    from google.protobuf.message import DecodeError

    try:
        _require_plain("model", model)
    except DecodeError as error:
        raise ValueError("it is no ONNX model, or cut short") from error


def _require_plain(kind: str, content: bytes) -> None:
    from google.protobuf.empty_pb2 import Empty
    from google.protobuf.unknown_fields import UnknownFieldSet

    message = Empty()
    message.ParseFromString(content)
    for each in UnknownFieldSet(message):
        place = (kind, each.field_number)
        # The location 0 is the model itself.
        if place in _REFUSED and each.data != 0:
            raise ValueError(_REFUSED[place])
        if place in _PARTS:
            if not isinstance(each.data, bytes):
                raise ValueError("it is no ONNX model")
            _require_plain(_PARTS[place], each.data)
