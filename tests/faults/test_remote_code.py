"""No code that comes with a model is run."""

import json
import pickle
import shutil

import numpy as np
import pytest
import srsly
from pickle_trap import Trap

from spacy_connorm.encoders.dan import DanEncoder
from spacy_connorm.encoders.transformer import TransformerEncoder
from spacy_connorm.errors import ConnormError

MODEL_CODE = """
from pathlib import Path
from transformers import BertConfig, BertModel

Path(TRACE).touch()

class OwnConfig(BertConfig):
    model_type = "own-bert"

class OwnModel(BertModel):
    config_class = OwnConfig
"""


@pytest.fixture
def folder(tiny_folder, tmp_path):
    """A copy of the tiny transformer."""
    return shutil.copytree(tiny_folder, tmp_path / "model")


@pytest.fixture
def traced(folder, tmp_path, monkeypatch):
    """A transformer that comes with code, and the file that this code makes."""
    import transformers.dynamic_module_utils

    # Where transformers copies such code.
    modules = str(tmp_path / "modules")
    monkeypatch.setattr(transformers.dynamic_module_utils, "HF_MODULES_CACHE", modules)
    monkeypatch.syspath_prepend(modules)
    trace = tmp_path / "code has run"
    (folder / "own.py").write_text(MODEL_CODE.replace("TRACE", repr(str(trace))), encoding="utf8")
    auto_map = {"AutoConfig": "own.OwnConfig", "AutoModel": "own.OwnModel"}
    change(folder, auto_map=auto_map, model_type="own-bert")
    return folder, trace


def change(folder, **settings):
    path = folder / "config.json"
    config = json.loads(path.read_text(encoding="utf8"))
    path.write_text(json.dumps({**config, **settings}), encoding="utf8")


def load(folder):
    encoder = TransformerEncoder(name=str(folder))
    encoder.initialize()
    return encoder


def test_code_is_refused_without_a_question(traced, monkeypatch):
    folder, trace = traced
    monkeypatch.setattr("builtins.input", lambda question: "y")
    with pytest.raises(ConnormError, match="CN306"):
        load(folder)
    assert not trace.exists()


@pytest.mark.parametrize("name", ["attn_implementation", "_attn_implementation_internal"])
def test_a_configuration_cannot_name_code_on_the_hub(folder, name, monkeypatch):
    monkeypatch.setattr("transformers.modeling_utils.is_kernels_available", lambda: True)
    fetched = []
    monkeypatch.setattr("transformers.modeling_utils.get_kernel", fetched.append, raising=False)
    saved = load(folder).to_bytes()
    change(folder, **{name: "owner/code:attention"})
    with pytest.raises(ConnormError, match=rf"CN312.*{name}"):
        load(folder)
    config = {"config.json": (folder / "config.json").read_bytes()}
    with pytest.raises(ConnormError, match=rf"CN312.*{name}"):
        TransformerEncoder().from_bytes(resealed(saved, config))
    assert not fetched


def resealed(saved, changed):
    """A saved encoder with changed files and the right checksum."""
    import safetensors.torch

    from spacy_connorm.encoders.transformer_module import digest_transformer

    model = srsly.msgpack_loads(saved)
    shim = srsly.msgpack_loads(model["shims"][0][0])
    files = {**shim["files"], **changed}
    state = safetensors.torch.load(shim["weights"])
    settings = {name: shim[name] for name in ("pooling", "max_length", "prefix")}
    digest = digest_transformer(files, state, settings)
    shim = {**shim, "files": files, "digest": digest}
    return srsly.msgpack_dumps({**model, "shims": [[srsly.msgpack_dumps(shim)]]})


@pytest.fixture
def pickled(folder, tmp_path):
    """A transformer whose weights are pickled, and the file that reading them makes."""
    trace = tmp_path / "weights have run"
    (folder / "model.safetensors").unlink()
    (folder / "pytorch_model.bin").write_bytes(pickle.dumps(Trap(trace)))
    return folder, trace


@pytest.mark.parametrize("encoder", [TransformerEncoder, DanEncoder])
def test_pickled_weights_are_not_read(pickled, encoder):
    folder, trace = pickled
    with pytest.raises(ConnormError, match=r"CN314.*save_pretrained"):
        encoder(name=str(folder)).initialize()
    assert not trace.exists()


def test_an_adapter_does_not_lead_to_another_model(folder):
    adapter = {"base_model_name_or_path": "owner/other", "peft_type": "LORA"}
    (folder / "adapter_config.json").write_text(json.dumps(adapter), encoding="utf8")
    with pytest.raises(ConnormError, match=r"CN306.*adapter"):
        load(folder)


def test_a_saved_encoder_with_endless_layers_is_refused(folder):
    saved = load(folder).to_bytes()
    change(folder, num_hidden_layers=10**9)
    config = {"config.json": (folder / "config.json").read_bytes()}
    with pytest.raises(ConnormError, match=r"CN306.*num_hidden_layers = 1000000000"):
        TransformerEncoder().from_bytes(resealed(saved, config))


def test_labels_of_a_saved_encoder_are_not_made(folder):
    encoder = load(folder)
    saved = encoder.to_bytes()
    change(folder, num_labels=10**9)
    config = {"config.json": (folder / "config.json").read_bytes()}
    restored = TransformerEncoder(name=str(folder)).from_bytes(resealed(saved, config))
    assert np.array_equal(restored.predict(["heart"]), encoder.predict(["heart"]))


@pytest.mark.parametrize(
    "settings",
    [{"num_attention_heads": -1}, {"chunk_size_feed_forward": 3}, {"layer_norm_eps": "x"}],
    ids=str,
)
def test_a_transformer_that_cannot_compute(folder, settings):
    saved = load(folder).to_bytes()
    change(folder, **settings)
    config = {"config.json": (folder / "config.json").read_bytes()}
    with pytest.raises(ConnormError, match="CN306"):
        TransformerEncoder().from_bytes(resealed(saved, config)).predict(["heart attack"])


def test_word_pieces_without_vectors(folder):
    saved = load(folder).to_bytes()
    tokenizer = json.loads((folder / "tokenizer.json").read_text(encoding="utf8"))
    tokenizer["model"]["vocab"]["heart"] = 10**6
    changed = {"tokenizer.json": json.dumps(tokenizer).encode()}
    with pytest.raises(ConnormError, match="CN306.*can't encode"):
        TransformerEncoder().from_bytes(resealed(saved, changed)).predict(["heart attack"])


def test_a_pattern_that_takes_for_ever(folder):
    saved = load(folder).to_bytes()
    tokenizer = json.loads((folder / "tokenizer.json").read_text(encoding="utf8"))
    pattern = {"type": "Replace", "pattern": {"Regex": "(a+)+$"}, "content": "x"}
    changed = {"tokenizer.json": json.dumps({**tokenizer, "normalizer": pattern}).encode()}
    encoder = TransformerEncoder().from_bytes(resealed(saved, changed))
    with pytest.raises(ConnormError, match="CN306.*can't encode"):
        encoder.predict(["a" * 40 + "!"])
