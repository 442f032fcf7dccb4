"""A transformer as a graph with its tokenizer and settings, and the graphs that are refused."""

import json
from dataclasses import asdict, dataclass

from ..storage import digest_parts

PRECISIONS = ("int8", "fp32")
# The transformers that can be written as graphs, by `model_type`, and whether the positions of
# tokens begin after that of the padding token.
POSITIONS_AFTER_PADDING = {"bert": False, "roberta": True, "xlm-roberta": True, "camembert": True}
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
    """The settings of a transformer as a graph.

    pooling (str): How token vectors are pooled: "mean", "cls" or "max".
    max_length (int): Texts are truncated to this many tokens, including special tokens.
    prefix (str): What stands before each text.
    neutral_languages (List[str]): The languages that vectors do not tell apart.
    precision (str): The precision of weights and activations of linear layers: "fp32" or "int8".
    width (int): The width of the vectors.
    padding (int): The id of the padding token.
    """

    pooling: str
    max_length: int
    prefix: str
    neutral_languages: list[str]
    precision: str
    width: int
    padding: int


@dataclass(frozen=True, slots=True)
class OnnxModel:
    """A transformer as a graph.

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
        require_plain_graph(self.graph)


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
