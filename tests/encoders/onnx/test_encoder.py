"""Transformers in ONNX Runtime, and graphs that are refused before it reads them."""

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
from spacy_connorm.encoders.onnx.model import PRECISIONS, require_plain_graph
from spacy_connorm.encoders.transformer import TransformerEncoder
from spacy_connorm.errors import ConnormError

VALUE = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1])


def make_model(nodes, *, tensors=(), functions=()):
    graph = helper.make_graph(nodes, "g", [VALUE], [VALUE], list(tensors))
    return helper.make_model(graph, functions=list(functions))


@pytest.mark.parametrize("precision", PRECISIONS)
def test_graphs_of_our_own(tiny_folder, precision):
    require_plain_graph(held(load(tiny_folder, precision=precision)).graph)


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
def model(tiny_folder):
    """An encoder in eight bits. Tests do not change it."""
    return load(tiny_folder)


def held(model):
    return model.shims[0]._model


def holding(found):
    """An encoder that holds a graph."""
    model = OnnxEncoder(name="none", precision=found.settings.precision)
    model.shims[0].hold(found, found.digest())
    return model


def cosines(found, expected):
    lengths = np.linalg.norm(found, axis=1) * np.linalg.norm(expected, axis=1)
    return (found * expected).sum(axis=1) / lengths


@pytest.mark.parametrize(
    ("pooling", "max_length"), [(None, None), ("mean", 64), ("cls", 4), ("max", 8)]
)
def test_vectors_are_those_of_the_transformer(tiny_folder, pooling, max_length, batches_of):
    settings = {"pooling": pooling, "max_length": max_length}
    batches_of(16)
    model = load(tiny_folder, precision="fp32", **settings)
    transformer = load_transformer(tiny_folder, **settings)
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


@pytest.mark.parametrize("precision", PRECISIONS)
def test_vectors_do_not_depend_on_batches(tiny_folder, precision, batches_of):
    texts = [*TEXTS, "skin " * 20, "acute"]
    model = load(tiny_folder, precision=precision)
    alone = np.concatenate([model.predict([text]) for text in texts])
    batches_of(10_000)
    together = model.predict(texts)
    batches_of(16)
    small = model.predict(texts)
    assert np.allclose(together, alone, atol=1e-5) and np.allclose(small, alone, atol=1e-5)


def test_inputs_are_those_of_the_transformer(model, tiny, odd_text):
    texts = [*TEXTS, "heart " * 100, odd_text]
    assert encoder_inputs(model, texts) == encoder_inputs(tiny, texts)


@pytest.mark.parametrize("precision", PRECISIONS)
def test_vectors_do_not_tell_neutral_languages_apart(tiny_folder, precision):
    plain = load(tiny_folder, precision=precision)
    neutral = load(tiny_folder, precision=precision, neutral_languages=["en", "fr"])
    vectors = neutral.predict(TEXTS)
    for language in ("en", "fr"):
        words = plain.predict(onnx_encoder._function_words(language))
        mean = (words / np.linalg.norm(words, axis=1, keepdims=True)).mean(axis=0)
        assert np.abs(plain.predict(TEXTS) @ mean).min() > 0.01
        assert np.allclose(vectors @ mean, 0, atol=1e-5)
    restored = OnnxEncoder(precision=precision).from_bytes(neutral.to_bytes())
    assert np.array_equal(restored.predict(TEXTS), vectors)


def test_languages_of_a_known_transformer_are_neutral(tiny_folder, tmp_path):
    folder = shutil.copytree(tiny_folder, tmp_path / "multilingual-e5-small")
    settings = held(load(folder)).settings
    assert settings.prefix == "query: " and {"en", "fr", "es"} < set(settings.neutral_languages)
    assert held(load(folder, neutral_languages=[])).settings.neutral_languages == []


def test_a_text_without_tokens_has_the_zero_vector(model):
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel

    words = Tokenizer(WordLevel({"[UNK]": 0, "heart": 1}, unk_token="[UNK]")).to_str()
    vectors = holding(replace(held(model), tokenizer=words)).predict(["", "heart"])
    assert not vectors[0].any() and vectors[1].any()


@pytest.mark.parametrize("copied", [lambda each: each.copy(), lambda each: unpickled(each)])
def test_a_copy_opens_a_session_of_its_own(model, copied):
    vectors = model.predict(TEXTS)
    assert np.array_equal(copied(model).predict(TEXTS), vectors)


def unpickled(model):
    """What a spawned process gets."""
    return pickle.loads(pickle.dumps(model))


def test_fingerprints_differ_with_whatever_changes_vectors(model, tiny_folder):
    found = held(model)
    cased = found.tokenizer.replace('"lowercase":true', '"lowercase":false')
    others = [
        load(tiny_folder, precision="fp32"),
        load(tiny_folder, pooling="cls"),
        load(tiny_folder, max_length=8),
        load(tiny_folder, neutral_languages=["en"]),
        load_transformer(tiny_folder),
        holding(replace(found, tokenizer=cased)),
        holding(replace(found, graph=found.graph[:-1] + b"x")),
    ]
    prints = {fingerprint(other) for other in (model, *others)}
    assert len(prints) == 1 + len(others)
    assert fingerprint(load(tiny_folder)) == fingerprint(model)


@pytest.mark.parametrize(
    "setting",
    [{"precision": "fp32"}, {"pooling": "cls"}, {"max_length": 8}, {"neutral_languages": ["en"]}],
)
def test_a_saved_encoder_with_another_setting_is_refused(model, setting):
    (name,) = setting
    with pytest.raises(ConnormError, match=f"CN322.*{name}"):
        OnnxEncoder(**setting).from_bytes(model.to_bytes())


def test_neither_torch_nor_transformers_is_needed_and_nobody_is_told(tiny_folder):
    code = f"""
import os, sys
sys.modules.update(dict.fromkeys(("torch", "transformers", "spacy_transformers")))
from spacy_connorm.encoders.onnx import OnnxEncoder
model = OnnxEncoder(name={str(tiny_folder)!r})
model.initialize()
sys.modules.update(dict.fromkeys(("onnx", "safetensors")))
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
from spacy_connorm.files.threads import thread_count

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


def test_other_processes_encode_and_end(tiny_folder, tmp_path, without_torch):
    script = tmp_path / "script.py"
    script.write_text(OTHER_PROCESSES)
    done = subprocess.run(
        [sys.executable, script, tiny_folder],
        env={**without_torch, "OMP_NUM_THREADS": "2"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    forks = ["exit 0", "delete 0", "fork True 2 1"] if hasattr(os, "fork") else []
    assert (done.stdout.splitlines(), done.stderr) == ([*forks, "spawn True 2 1"], "")


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json", "model.safetensors"])
def test_a_damaged_folder(tiny_folder, tmp_path, name):
    folder = shutil.copytree(tiny_folder, tmp_path / "damaged")
    content = (folder / name).read_bytes()
    (folder / name).write_bytes(content[: len(content) // 2])
    with pytest.raises(ConnormError, match="CN306|CN324"):
        load(folder)
    (folder / name).unlink()
    with pytest.raises(ConnormError, match="CN306"):
        load(folder)


def test_settings_that_are_impossible():
    with pytest.raises(ConnormError, match="CN006.*max_length"):
        OnnxEncoder(max_length=2)
    with pytest.raises(ConnormError, match="CN118.*int8, fp32"):
        OnnxEncoder(precision="int4")
    for language in ("xx", "English"):
        with pytest.raises(ConnormError, match=f"CN006.*neutral_languages.*{language}"):
            OnnxEncoder(neutral_languages=["fr", language])


def test_a_graph_that_onnxruntime_cannot_read():
    from spacy_connorm.encoders.onnx.session import GraphSession

    with pytest.raises(ConnormError, match="CN333"):
        GraphSession(b"nonsense").run(np.zeros((1, 1), "int64"), np.ones((1, 1), bool))


def test_vectors_that_are_not_finite(tiny_folder, tmp_path):
    from safetensors.numpy import load_file, save_file

    folder = shutil.copytree(tiny_folder, tmp_path / "broken")
    weights = load_file(folder / "model.safetensors")
    for array in weights.values():
        array.fill(np.nan)
    save_file(weights, folder / "model.safetensors")
    for precision in PRECISIONS:
        with pytest.raises(ConnormError, match="CN308"):
            load(folder, precision=precision).predict(TEXTS)
