"""Encoders with random weights, made in no time and without torch."""

import json
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer, models, pre_tokenizers

WORDS = ("[PAD]", "[UNK]", "acute", "late", "fever", "pain", "skin", "rash", "head", "number")
WIDTH = 16


def _tokenizer() -> str:
    vocabulary = {word: place for place, word in enumerate(WORDS)}
    letters = [*"abcdefghijklmnopqrstuvwxyz0123456789"]
    for each in [*letters, *(f"##{letter}" for letter in letters)]:
        vocabulary[each] = len(vocabulary)
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    return tokenizer.to_str()


def save_dan(folder: Path) -> None:
    """Write the folder of a deep averaging network."""
    from spacy_connorm.encoders.dan.network import Dan, DanSettings

    settings, tokenizer = DanSettings(buckets=512), _tokenizer()
    rows = len(json.loads(tokenizer)["model"]["vocab"]) + settings.buckets
    embeddings = np.random.default_rng(0).standard_normal((rows, WIDTH), "float32")
    Dan(settings, tokenizer, {"embeddings.weight": embeddings}).save(folder)


def save_onnx(folder: Path) -> None:
    """Write the folder of a graph: the mean of input embeddings."""
    from spacy_connorm.encoders.onnx.encoder import OnnxModel, OnnxSettings

    tokenizer = json.loads(_tokenizer())
    tokenizer["truncation"] = {
        **{"direction": "Right", "max_length": 16, "strategy": "LongestFirst", "stride": 0},
    }
    settings = OnnxSettings("mean", 16, "fp32", WIDTH, 0)
    OnnxModel(settings, json.dumps(tokenizer), make_graph()).save(folder)


def make_graph(*nodes: object) -> bytes:
    """RETURNS (bytes): A serialized ONNX model with some more nodes."""
    from onnx import TensorProto, helper, numpy_helper

    rows = len(json.loads(_tokenizer())["model"]["vocab"])
    table = np.random.default_rng(0).standard_normal((rows, WIDTH), "float32")
    axes = np.asarray([1], dtype="int64")
    last = np.asarray([2], dtype="int64")
    graph = helper.make_graph(
        [
            helper.make_node("Gather", ["table", "input_ids"], ["looked"], axis=0),
            helper.make_node("Cast", ["mask"], ["weights"], to=TensorProto.FLOAT),
            helper.make_node("Unsqueeze", ["weights", "last"], ["shares"]),
            helper.make_node("Mul", ["looked", "shares"], ["kept"]),
            helper.make_node("ReduceMean", ["kept", "axes"], ["vectors"], keepdims=0),
            *nodes,
        ],
        "means",
        [
            helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["texts", "tokens"]),
            helper.make_tensor_value_info("mask", TensorProto.BOOL, ["texts", "tokens"]),
        ],
        [helper.make_tensor_value_info("vectors", TensorProto.FLOAT, ["texts", WIDTH])],
        [
            numpy_helper.from_array(table, "table"),
            numpy_helper.from_array(axes, "axes"),
            numpy_helper.from_array(last, "last"),
        ],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    return model.SerializeToString()
