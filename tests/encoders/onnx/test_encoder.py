"""Exported encoders, and graphs that are refused before ONNX Runtime reads them."""

import json
import os
import pickle
import shutil
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from spacy_connorm.encoders import encoder_inputs, fingerprint, required_extra
from spacy_connorm.encoders.onnx import OnnxEncoder
from spacy_connorm.encoders.onnx import encoder as onnx_encoder
from spacy_connorm.encoders.onnx.encoder import load_onnx, require_plain_graph
from spacy_connorm.encoders.transformer import TransformerEncoder
from spacy_connorm.errors import ConnormError

VALUE = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1])


def make_model(nodes, *, tensors=(), functions=()):
    graph = helper.make_graph(nodes, "g", [VALUE], [VALUE], list(tensors))
    return helper.make_model(graph, functions=list(functions))


def test_exported_graphs(exported_tiny):
    for folder in exported_tiny.values():
        require_plain_graph((folder / "model.onnx").read_bytes())


@pytest.mark.parametrize("operator", ["Loop", "If", "Scan"])
def test_nodes_that_contain_graphs(operator):
    inner = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "inner", [VALUE], [VALUE])
    node = helper.make_node(operator, ["x"], ["y"], body=inner)
    with pytest.raises(ValueError, match="contains a graph"):
        require_plain_graph(make_model([node]).SerializeToString())
    several = helper.make_node("Own", ["x"], ["y"], bodies=[inner])
    with pytest.raises(ValueError, match="contains a graph"):
        require_plain_graph(make_model([several]).SerializeToString())


def test_weights_in_another_file():
    tensor = numpy_helper.from_array(np.ones(1, dtype="float32"), "w")
    assert require_plain_graph(make_model([], tensors=[tensor]).SerializeToString()) is None
    tensor.data_location = TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value="/etc/passwd")
    constant = helper.make_node("Constant", [], ["y"], value=tensor)
    several = helper.make_node("Constant", [], ["y"], values=[tensor])
    for refused in (
        make_model([], tensors=[tensor]),
        make_model([constant]),
        make_model([several]),
    ):
        with pytest.raises(ValueError, match="another file"):
            require_plain_graph(refused.SerializeToString())


def test_functions_which_could_unfold_without_end():
    opset = [helper.make_opsetid("own", 1)]
    calls = [helper.make_node("f", ["x"], ["x"], domain="own")]
    own = helper.make_function("own", "f", ["x"], ["x"], calls, opset)
    with pytest.raises(ValueError, match="functions"):
        require_plain_graph(make_model([], functions=[own]).SerializeToString())


@pytest.mark.parametrize("content", [b"x", b"\x3a\x7f", b"\x38\x01", b"\xff" * 20, b"\x3f"])
def test_no_model(content):
    with pytest.raises(ValueError, match="not an ONNX model"):
        require_plain_graph(content)


pytest.importorskip("onnxruntime")
TEXTS = ["heart attack", "headache", "", "acute cancer of the skin", "Heart Attack", "the heart"]
TELEMETRY = "ORT_DISABLE_TELEMETRY"


def load(folder, **settings):
    model = OnnxEncoder(name=str(folder), **settings)
    model.initialize()
    return model


def load_transformer(folder, **settings):
    model = TransformerEncoder(name=str(folder), **settings)
    model.initialize()
    return model


@pytest.fixture
def batches_of(monkeypatch):
    """Set how many tokens are encoded at once."""
    return lambda tokens: monkeypatch.setattr(onnx_encoder, "_BATCH_TOKENS", tokens)


@pytest.fixture(scope="module")
def model(exported_tiny):
    """An encoder in eight bits. Tests do not change it."""
    return load(exported_tiny["int8"])


def cosines(found, expected):
    lengths = np.linalg.norm(found, axis=1) * np.linalg.norm(expected, axis=1)
    return (found * expected).sum(axis=1) / lengths


# How texts are cut, by pooling.
CUT = {"cls": {"max_length": 4}, "max": {"max_length": 8}}


@pytest.fixture(scope="module")
def with_pooling(exported_tiny, tiny_folder, tmp_path_factory, export):
    """A function that gives the folder of an export with some pooling and the settings of the
    transformer. As an export takes seconds, each also cuts texts in another way.
    """

    def make(pooling):
        if pooling == "mean":
            return exported_tiny["fp32"], {}
        settings = {"pooling": pooling, **CUT[pooling]}
        folder = tmp_path_factory.mktemp("pooled") / pooling
        return export(tiny_folder, folder, precision="fp32", **settings), settings

    return make


@pytest.mark.parametrize("pooling", ["mean", *CUT])
def test_vectors_are_those_of_the_transformer(tiny_folder, with_pooling, pooling, batches_of):
    folder, settings = with_pooling(pooling)
    batches_of(16)
    model, transformer = load(folder), load_transformer(tiny_folder, **settings)
    texts = [*TEXTS, "heart attack the skin", "heart attack of", "heart of"]
    vectors = model.predict(texts)
    assert vectors.dtype == np.float32 and vectors.shape == (len(texts), 16)
    assert np.allclose(vectors, transformer.predict(texts), atol=1e-5)
    assert encoder_inputs(model, texts) == encoder_inputs(transformer, texts)


def test_eight_bits_are_near(model, tiny):
    vectors = model.predict(TEXTS)
    assert vectors.dtype == np.float32
    assert not np.allclose(vectors, tiny.predict(TEXTS), atol=1e-4)
    assert cosines(vectors, tiny.predict(TEXTS)).min() > 0.98


@pytest.mark.parametrize("precision", ["fp32", "int8"])
def test_vectors_do_not_depend_on_batches(exported_tiny, precision, batches_of):
    texts = [*TEXTS, "skin " * 20, "acute"]
    model = load(exported_tiny[precision])
    alone = np.concatenate([load(exported_tiny[precision]).predict([text]) for text in texts])
    batches_of(10_000)
    together = model.predict(texts)
    batches_of(16)
    small = model.predict(texts)
    assert np.allclose(together, alone, atol=1e-5) and np.allclose(small, alone, atol=1e-5)


def test_inputs_are_those_of_the_transformer(model, tiny, odd_text):
    texts = [*TEXTS, "heart " * 100, odd_text]
    assert encoder_inputs(model, texts) == encoder_inputs(tiny, texts)


def test_a_text_without_tokens_has_the_zero_vector(exported_tiny, tmp_path):
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel

    words = Tokenizer(WordLevel({"[UNK]": 0, "heart": 1}, unk_token="[UNK]")).to_str()
    replace(load_onnx(exported_tiny["int8"]), tokenizer=words).save(tmp_path)
    vectors = load(tmp_path).predict(["", "heart"])
    assert not vectors[0].any() and vectors[1].any()


@pytest.mark.parametrize("copied", [lambda each: each.copy(), lambda each: unpickled(each)])
def test_a_copy_opens_a_session_of_its_own(model, copied):
    vectors = model.predict(TEXTS)
    assert np.array_equal(copied(model).predict(TEXTS), vectors)


def unpickled(model):
    """What a spawned process gets."""
    return pickle.loads(pickle.dumps(model))


def test_fingerprints_differ_with_whatever_changes_vectors(exported_tiny, tmp_path):
    model = load_onnx(exported_tiny["int8"])
    cased = model.tokenizer.replace('"lowercase":true', '"lowercase":false')
    changed = [
        *(load_onnx(folder) for folder in exported_tiny.values()),
        replace(model, tokenizer=cased),
        replace(model, settings=replace(model.settings, pooling="cls")),
        replace(model, settings=replace(model.settings, max_length=8)),
        replace(model, graph=model.graph[:-1] + b"x"),
    ]
    prints = set()
    for number, each in enumerate(changed):
        each.save(tmp_path / str(number))
        prints.add(fingerprint(load(tmp_path / str(number))))
    assert len(prints) == len(changed)
    assert fingerprint(load(exported_tiny["int8"])) in prints


def test_an_export_in_eight_bits_can_be_repeated(exported_tiny, tiny_folder, tmp_path, export):
    again = load(export(tiny_folder, tmp_path / "again"))
    assert fingerprint(again) == fingerprint(load(exported_tiny["int8"]))


def test_neither_torch_nor_transformers_is_needed_and_nobody_is_told(exported_tiny):
    code = f"""
import os, sys
absent = ("torch", "transformers", "spacy_transformers", "onnx", "onnxscript")
sys.modules.update(dict.fromkeys(absent))
from spacy_connorm.encoders.onnx import OnnxEncoder
from spacy_connorm.encoders.onnx import encoder as onnx_encoder
model = OnnxEncoder(name={str(exported_tiny["int8"])!r})
model.initialize()
model = OnnxEncoder().from_bytes(model.to_bytes())
print(model.predict(["heart attack"]).shape, os.environ["ORT_DISABLE_TELEMETRY"])
"""
    others = {key: value for key, value in os.environ.items() if key != TELEMETRY}
    for told, expected in (({}, "1"), ({TELEMETRY: "0"}, "0")):
        done = subprocess.run(
            [sys.executable, "-c", code],
            env={**others, **told},
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout == f"(1, 16) {expected}\n"
    assert required_extra(OnnxEncoder()) == "onnx"


# One process tries all ways: each start takes seconds.
OTHER_PROCESSES = """
import gc, multiprocessing, os, sys
from spacy_connorm.encoders.onnx import OnnxEncoder
from spacy_connorm.encoders.onnx import encoder as onnx_encoder
from spacy_connorm.encoders.onnx.session import thread_count

TEXTS = ["heart attack"] * 100

def pooled(model, before, method):
    with multiprocessing.get_context(method).Pool(1) as pool:
        after = pool.apply_async(model.predict, (TEXTS,)).get(timeout=60)
        print(method, (before == after).all(), thread_count(), pool.apply(thread_count))

def forked(model, before, end):
    child = os.fork()
    if not child:
        if (model.predict(TEXTS) != before).any():
            os._exit(1)
        if end == "exit":
            sys.exit(0)
        del model
        gc.collect()
        os._exit(0)
    assert (model.predict(TEXTS) == before).all()
    print(end, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)

if __name__ == "__main__":
    model = OnnxEncoder(name=sys.argv[1])
    model.initialize()
    before = model.predict(TEXTS)
    if hasattr(os, "fork"):
        forked(model, before, "exit")
        forked(model, before, "delete")
        pooled(model, before, "fork")
    pooled(model, before, "spawn")
"""


def test_other_processes_encode_and_end(exported_tiny, tmp_path, without_torch):
    script = tmp_path / "script.py"
    script.write_text(OTHER_PROCESSES)
    done = subprocess.run(
        [sys.executable, script, exported_tiny["int8"]],
        env={**without_torch, "OMP_NUM_THREADS": "2"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    forks = ["exit 0", "delete 0", "fork True 2 1"] if hasattr(os, "fork") else []
    assert (done.stdout.splitlines(), done.stderr) == ([*forks, "spawn True 2 1"], "")


def test_threads(monkeypatch):
    from spacy_connorm.encoders.onnx.session import thread_count

    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    assert thread_count() == 3
    monkeypatch.delenv("OMP_NUM_THREADS")
    assert thread_count() == os.cpu_count()


def test_a_transformer_has_to_be_exported_first(tiny_folder, tmp_path):
    for folder in (tiny_folder, tmp_path):
        with pytest.raises(ConnormError, match="CN306.*connorm export"):
            load(folder)


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json", "model.onnx"])
def test_a_damaged_folder(exported_tiny, tmp_path, name):
    folder = shutil.copytree(exported_tiny["int8"], tmp_path / "damaged")
    content = (folder / name).read_bytes()
    (folder / name).write_bytes(content[: len(content) // 2])
    with pytest.raises(ConnormError, match="CN306"):
        load(folder)
    (folder / name).unlink()
    with pytest.raises(ConnormError, match="CN306"):
        load(folder)


def test_a_later_format_is_refused(exported_tiny, tmp_path):
    folder = shutil.copytree(exported_tiny["int8"], tmp_path / "later")
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "format_version": 2}))
    with pytest.raises(ConnormError, match="CN306.*version 2"):
        load(folder)


def test_a_graph_that_onnxruntime_cannot_read():
    from spacy_connorm.encoders.onnx.session import GraphSession

    with pytest.raises(ConnormError, match="CN333"):
        GraphSession(b"nonsense").run(np.zeros((1, 1), "int64"), np.ones((1, 1), bool))


def test_vectors_that_are_not_finite(exported_tiny, tmp_path):
    import onnx

    model = load_onnx(exported_tiny["int8"])
    graph = onnx.load_from_string(model.graph)
    for tensor in graph.graph.initializer:
        if tensor.name.endswith(".scales"):
            nothing = np.full(tensor.dims, np.nan, "float32")
            tensor.CopyFrom(onnx.numpy_helper.from_array(nothing, tensor.name))
    replace(model, graph=graph.SerializeToString()).save(tmp_path)
    with pytest.raises(ConnormError, match="CN308"):
        load(tmp_path).predict(TEXTS)


def test_a_slow_tokenizer_cannot_be_exported(slow_folder, tmp_path, export):
    with pytest.raises(ConnormError, match="CN324.*tokenizer"):
        export(slow_folder, tmp_path / "out")
