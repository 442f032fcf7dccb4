"""Write a transformer of BERT's architecture as an ONNX graph, from the files of its folder and
without torch. Imports onnx, so import this module only inside functions.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from onnx import TensorProto
from tokenizers import Tokenizer

from ...errors import Errors
from ...files.folders import read_object
from ..pretrained import require_transformer
from ..storage import CONFIG, TOKENIZER, TOKENIZER_CONFIG, WEIGHTS
from .graph import FUSED, WRITERS, GraphWriter
from .model import POSITIONS_AFTER_PADDING, OnnxModel, OnnxSettings

# What is written here; transformers that differ in it compute something else.
_EXPECTED = {
    "hidden_act": "gelu",
    "position_embedding_type": "absolute",
    "is_decoder": False,
    "add_cross_attention": False,
}
_WORDS = "embeddings.word_embeddings.weight"


class Bert(NamedTuple):
    """The weights of a transformer.

    weights (Mapping[str, np.ndarray]): Arrays by their names in its file.
    prefix (str): What these names begin with, such as "bert.".
    config (Mapping[str, Any]): Its `config.json`.
    first_position (int): The position of the first token.
    """

    weights: Mapping[str, np.ndarray]
    prefix: str
    config: Mapping[str, Any]
    first_position: int

    def array(self, name: str) -> np.ndarray:
        """Find an array.

        name (str): Its name, without the prefix.
        RETURNS (np.ndarray): The array, float32.
        RAISES (ValueError): If there is none.
        """
        found = self.weights.get(self.prefix + name)
        if found is None:
            raise ValueError(f"it has no weights '{name}'")
        return found.astype("float32", copy=False)


def read_bert(folder: Path, *, max_length: int, **settings: Any) -> OnnxModel:
    """Write a transformer and its pooling as an ONNX graph.

    folder (Path): The folder of a transformer: `config.json`, `tokenizer.json` and
        `model.safetensors`.
    max_length (int): The tokens kept of a text, or the maximum of the transformer if that is lower.
    **settings (Any): The other fields of `OnnxSettings` that the transformer does not tell.
    RETURNS (OnnxModel): The graph, the tokenizer and the settings.
    RAISES (ConnormError): CN306 if a file is missing or damaged, CN317 for another encoder, CN324
        if the transformer has another architecture.
    """
    require_transformer(folder)
    config = read_object(folder / CONFIG)
    first = _first_position(folder, config)
    # The library tokenizers has no class for its own errors.
    with Errors.CN306.instead_of(Exception, path=folder):
        bert = _read_weights(folder / WEIGHTS, config, first)
        tokens = read_object(folder / TOKENIZER_CONFIG)
        places = config["max_position_embeddings"] - first
        lengths = (max_length, tokens.get("model_max_length", -1), places)
        length = int(min(number for number in lengths if number > 0))
        tokenizer = Tokenizer.from_file(str(folder / TOKENIZER))
        tokenizer.no_padding()
        tokenizer.enable_truncation(length, direction=tokens.get("truncation_side", "right"))
        told = {
            "max_length": length,
            "width": bert.array(_WORDS).shape[1],
            "padding": config.get("pad_token_id") or 0,
        }
        every = OnnxSettings(**settings, **told)
        return OnnxModel(every, tokenizer.to_str(), write_bert(bert, every))


def _first_position(folder: Path, config: Mapping[str, Any]) -> int:
    """Refuse another architecture.

    RETURNS (int): The position of the first token.
    """
    found = config.get("model_type")
    if found not in POSITIONS_AFTER_PADDING:
        known = ", ".join(POSITIONS_AFTER_PADDING)
        reason = f"OnnxEncoder.v1 can write {known}, not '{found}'; use TransformerEncoder.v1"
        raise Errors.CN324(name=folder, reason=reason)
    for name, expected in _EXPECTED.items():
        if config.get(name, expected) != expected:
            reason = f"its {name} is {config[name]}, not {expected}; use TransformerEncoder.v1"
            raise Errors.CN324(name=folder, reason=reason)
    return (config.get("pad_token_id") or 0) + 1 if POSITIONS_AFTER_PADDING[found] else 0


def _read_weights(path: Path, config: Mapping[str, Any], first_position: int) -> Bert:
    from safetensors.numpy import load_file

    weights = load_file(path)
    prefixes = [name.removesuffix(_WORDS) for name in weights if name.endswith(_WORDS)]
    if len(prefixes) != 1:
        raise ValueError(f"it has {len(prefixes)} tensors '{_WORDS}'")
    return Bert(weights, prefixes[0], config, first_position)


def write_bert(bert: Bert, settings: OnnxSettings) -> bytes:
    """Write the graph that computes the vectors of texts. Tokens are rows of one matrix, except in
    the attention within a text.

    bert (Bert): The weights.
    settings (OnnxSettings): The precision, the pooling and the length.
    RETURNS (bytes): See `OnnxModel.graph`.
    """
    graph = WRITERS[settings.precision]()
    to_rows = graph.tensor([-1, settings.width], "int64")
    size = graph.add("Shape", "input_ids")
    to_texts = graph.add("Concat", size, graph.tensor([settings.width], "int64"), axis=0)
    mask = graph.add("Cast", "mask", to=TensorProto.INT32)
    tokens = graph.add("Reshape", _embeddings(graph, bert, settings.max_length), to_rows)
    for number in range(bert.config["num_hidden_layers"]):
        layer = f"encoder.layer.{number}"
        parts = [f"{layer}.attention.self.{part}" for part in ("query", "key", "value")]
        products = (graph.product(tokens, bert.array(f"{part}.weight").T) for part in parts)
        attended = graph.add(
            "MultiHeadAttention",
            *(graph.add("Reshape", product, to_texts) for product in products),
            graph.tensor(np.concatenate([bert.array(f"{part}.bias") for part in parts])),
            mask,
            domain=FUSED,
            num_heads=bert.config["num_attention_heads"],
        )
        attended = graph.add("Reshape", attended, to_rows)
        tokens = _residual(graph, bert, f"{layer}.attention.output", attended, tokens)
        inner = graph.add("Gelu", _linear(graph, bert, f"{layer}.intermediate.dense", tokens))
        tokens = _residual(graph, bert, f"{layer}.output", inner, tokens)
    _pool(graph, graph.add("Reshape", tokens, to_texts), settings.pooling)
    return graph.serialize(settings.width)


def _embeddings(graph: GraphWriter, bert: Bert, length: int) -> str:
    first = bert.first_position
    # All tokens are of the first type.
    places = bert.array("embeddings.position_embeddings.weight")[first : first + length]
    places = places + bert.array("embeddings.token_type_embeddings.weight")[0]
    start = graph.tensor([0], "int64")
    longest = graph.add("Shape", "input_ids", start=1)
    found = graph.add("Slice", graph.tensor(places), start, longest, start)
    words = graph.embed("input_ids", bert.array(_WORDS))
    return _normalized(graph, bert, "embeddings", graph.add("Add", words, found))


def _linear(graph: GraphWriter, bert: Bert, name: str, rows: str) -> str:
    product = graph.product(rows, bert.array(f"{name}.weight").T)
    return graph.add("Add", product, graph.tensor(bert.array(f"{name}.bias")))


def _residual(graph: GraphWriter, bert: Bert, name: str, rows: str, tokens: str) -> str:
    added = graph.add("Add", _linear(graph, bert, f"{name}.dense", rows), tokens)
    return _normalized(graph, bert, name, added)


def _normalized(graph: GraphWriter, bert: Bert, name: str, rows: str) -> str:
    weights = [bert.array(f"{name}.LayerNorm.{part}") for part in ("weight", "bias")]
    tensors = map(graph.tensor, weights)
    epsilon = bert.config["layer_norm_eps"]
    return graph.add("LayerNormalization", rows, *tensors, axis=-1, epsilon=epsilon)


def _pool(graph: GraphWriter, tokens: str, pooling: str) -> None:
    """Combine the vectors of tokens as `TransformerModule` does.

    tokens (str): Shape (texts, tokens, width).
    pooling (str): "mean", "cls" or "max".
    """
    place = graph.tensor([1], "int64")
    if pooling == "cls":
        graph.add("Gather", tokens, graph.tensor(0, "int64"), axis=1, output="vectors")
        return
    mask = graph.add("Unsqueeze", "mask", graph.tensor([-1], "int64"))
    if pooling == "max":
        shown = graph.add("Where", mask, tokens, graph.tensor(-np.inf))
        graph.add("ReduceMax", shown, place, keepdims=0, output="vectors")
        return
    counted = graph.add("Cast", mask, to=TensorProto.FLOAT)
    total = graph.add("ReduceSum", graph.add("Mul", tokens, counted), place, keepdims=0)
    count = graph.add("ReduceSum", counted, place, keepdims=0)
    graph.add("Div", total, count, output="vectors")
