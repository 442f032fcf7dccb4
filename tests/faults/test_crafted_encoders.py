"""Saved encoders that someone made so that C code would read memory of others, with checksums that
are right.
"""

import contextlib
import json

import numpy as np
import pytest
import srsly

from spacy_connorm.encoders.dan import DanEncoder
from spacy_connorm.encoders.ngram import NgramEncoder
from spacy_connorm.encoders.onnx import OnnxEncoder
from spacy_connorm.errors import ConnormError

from .tiny_encoders import save_bert, save_dan


def craft(model, change):
    """Change what an encoder saved, and put the checksum right."""
    saved = srsly.msgpack_loads(model.shims[0].to_bytes())
    change(saved)
    with contextlib.suppress(Exception):
        saved["digest"] = model.shims[0].restored(saved, saved["arrays"])[1]
    return srsly.msgpack_dumps(saved)


def put(*keys_and_value):
    *keys, last, value = keys_and_value

    def change(saved):
        for key in keys:
            saved = saved[key]
        saved[last] = value

    return change


@pytest.fixture
def dan(tmp_path):
    save_dan(tmp_path / "dan")
    model = DanEncoder(name=str(tmp_path / "dan"))
    model.initialize()
    return model


def short_weights(saved):
    saved["arrays"]["embeddings.weight"] = saved["arrays"]["embeddings.weight"][:10]


def as_array(dtype, shape, data):
    return {b"nd": True, b"type": dtype, b"kind": b"", b"shape": shape, b"data": data}


def wrong_shape(saved):
    data = saved["arrays"]["embeddings.weight"].tobytes()
    saved["arrays"]["embeddings.weight"] = as_array("<f4", [7, 11], data)


def objects(saved):
    saved["arrays"]["embeddings.weight"] = as_array("|O", [1], b"\0" * 8)


@pytest.mark.parametrize(
    "change",
    [
        put("settings", "buckets", 2**31 - 1),
        put("settings", "buckets", -1),
        put("settings", "buckets", "many"),
        put("settings", "ngram_range", [1, 10**9]),
        put("settings", "ngram_range", [0, 3]),
        short_weights,
        put("arrays", {}),
        put("arrays", "embeddings.weight", np.zeros((3, 16))),
        put("arrays", "embeddings.weight", "no array"),
        wrong_shape,
        objects,
    ],
)
def test_dan(dan, change):
    with pytest.raises(ConnormError, match="CN305"):
        DanEncoder().shims[0].from_bytes(craft(dan, change))


def test_word_pieces_beyond_the_vectors(dan):
    def change(saved):
        tokenizer = json.loads(saved["tokenizer"])
        tokenizer["model"]["vocab"]["fever"] = 2**31
        saved["tokenizer"] = json.dumps(tokenizer)

    model = DanEncoder()
    model.shims[0].from_bytes(craft(dan, change))
    model.predict(["rash"])
    with pytest.raises(ConnormError, match="CN305.*word pieces"):
        model.predict(["fever"])


@pytest.mark.parametrize(
    "change",
    [
        put("idf", b"\0" * 8),
        put("idf", np.full(3, np.nan, dtype="<f4").tobytes()),
        put("ngrams", "a\na\nb"),
        put("ngrams", "a"),
    ],
)
def test_ngrams(change):
    model = NgramEncoder(analyzer="char", ngram_range=(1, 1))
    model.initialize(X=["a b"])
    assert len(srsly.msgpack_loads(model.shims[0].to_bytes())["idf"]) == 12
    with pytest.raises(ConnormError, match="CN305"):
        NgramEncoder().shims[0].from_bytes(craft(model, change))


@pytest.fixture
def onnx(tmp_path):
    save_bert(tmp_path / "onnx")
    model = OnnxEncoder(name=str(tmp_path / "onnx"))
    model.initialize()
    return model


def test_a_graph_of_our_own(onnx):
    assert np.isfinite(onnx.predict(["fever", "rash on the skin"])).all()


def loop():
    from onnx import TensorProto, helper

    value = helper.make_tensor_value_info("go_on", TensorProto.BOOL, [])
    number = helper.make_tensor_value_info("i", TensorProto.INT64, [])
    same = helper.make_node("Identity", ["go_on"], ["still"])
    still = helper.make_tensor_value_info("still", TensorProto.BOOL, [])
    body = helper.make_graph([same], "body", [number, value], [still])
    node = helper.make_node("Loop", ["", ""], [], body=body)
    return helper.make_model(helper.make_graph([node], "loop", [], [])).SerializeToString()


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda saved: put("graph", loop())(saved), "Loop"),
        (put("settings", "width", "wide"), "settings"),
        (put("settings", "padding", -1), "settings"),
        (put("graph", b"\x3a\x7f"), "truncated"),
    ],
)
def test_onnx(onnx, change, expected):
    with pytest.raises(ConnormError, match=f"CN305.*{expected}"):
        OnnxEncoder().shims[0].from_bytes(craft(onnx, change))


def test_a_graph_that_computes_something_else(onnx):
    model = OnnxEncoder()
    model.shims[0].from_bytes(craft(onnx, put("settings", "width", 17)))
    with pytest.raises(ConnormError, match=r"CN305.*\(1, 16\) values, not \(1, 17\)"):
        model.predict(["fever"])


def test_the_checksum_is_still_compared(onnx):
    data = srsly.msgpack_loads(onnx.shims[0].to_bytes())
    data["settings"]["padding"] = 1
    with pytest.raises(ConnormError, match="CN305.*checksum"):
        OnnxEncoder().shims[0].from_bytes(srsly.msgpack_dumps(data))
