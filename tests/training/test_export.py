import json
import shutil
from contextlib import redirect_stdout
from io import StringIO

import numpy as np
import pytest

from spacy_connorm.encoders.onnx import OnnxEncoder
from spacy_connorm.encoders.onnx.encoder import load_onnx
from spacy_connorm.encoders.transformer import TransformerEncoder
from spacy_connorm.errors import ConnormError
from spacy_connorm.training import export, export_encoder, save_encoder

pytest.importorskip("onnxscript")

TEXTS = ["heart attack", "headache"]
CONFIG = """
[encoder]
@architectures = "spacy-connorm.{architecture}.v1"
name = "where-training-began"
"""


def vectors(model):
    model.initialize()
    return model.predict(TEXTS)


def settings(folder):
    return json.loads((folder / "config.json").read_text())


def cosine(found, expected):
    lengths = np.linalg.norm(found, axis=1) * np.linalg.norm(expected, axis=1)
    return ((found * expected).sum(axis=1) / lengths).min()


@pytest.fixture
def trained(tiny_folder, tmp_path):
    """A function that makes the folder of an encoder as training writes it."""

    def make(architecture, more):
        folder = shutil.copytree(tiny_folder, tmp_path / architecture)
        text = CONFIG.format(architecture=architecture) + more
        (folder / "training.cfg").write_text(text)
        return folder

    return make


@pytest.fixture(scope="module")
def in_eight_bits(tiny_folder, tmp_path_factory):
    """What an export without settings gives, in the place of an older one, and what it prints."""
    out = tmp_path_factory.mktemp("exported") / "out"
    out.mkdir()
    (out / "config.json").write_text(json.dumps({"model_type": "connorm-onnx"}))
    with redirect_stdout(StringIO()) as printed:
        exported = export_encoder(tiny_folder, out)
    assert exported.path == out
    return exported, printed.getvalue()


def test_eight_bits_are_the_default_and_only_an_export_is_replaced(
    in_eight_bits, tmp_path, tiny_folder
):
    (out, found), printed = in_eight_bits
    assert 0.98 < found <= 1
    assert printed == ""
    assert (settings(out)["precision"], settings(out)["pooling"]) == ("int8", "mean")
    expected = vectors(TransformerEncoder(name=str(tiny_folder)))
    assert cosine(vectors(OnnxEncoder(name=str(out))), expected) > 0.98
    (tmp_path / "letter.txt").write_text("dear")
    with pytest.raises(ConnormError, match="CN705"):
        export_encoder(tiny_folder, tmp_path)
    assert (tmp_path / "letter.txt").exists()


def test_settings_of_training_count_and_options_before_them(tmp_path, trained):
    folder = trained("TransformerEncoder", 'pooling = "cls"\nmax_length = 9\n')
    out = tmp_path / "out"
    export_encoder(str(folder), out, precision="fp32", max_length=7)
    found = settings(out)
    assert (found["precision"], found["pooling"], found["max_length"]) == ("fp32", "cls", 7)
    expected = vectors(TransformerEncoder(name=str(folder), pooling="cls"))
    assert np.allclose(vectors(OnnxEncoder(name=str(out))), expected, atol=1e-5)


def test_bad_input(tmp_path, tiny_folder, trained, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    out = tmp_path / "out"
    for name, options, code in (
        (tiny_folder, {"precision": "int4"}, "CN118"),
        (tiny_folder, {"pooling": "sum"}, "CN711"),
        (tiny_folder, {"max_length": 1}, "CN006"),
        ("no/such-model", {}, "CN303"),
        (trained("DanEncoder", "buckets = 8\n"), {}, "CN832"),
    ):
        with pytest.raises(ConnormError, match=code):
            export_encoder(name, out, **options)
    monkeypatch.setattr("spacy_connorm.errors.find_spec", lambda name: None)
    with pytest.raises(ConnormError, match="CN126"):
        export_encoder(tiny_folder, out)
    assert not out.exists()


def test_vectors_that_are_far_off_are_not_kept(tmp_path, tiny_folder, in_eight_bits, monkeypatch):
    made = load_onnx(in_eight_bits[0].path)
    monkeypatch.setattr(
        "spacy_connorm.encoders.onnx.export.export_transformer", lambda module, *, precision: made
    )
    monkeypatch.setattr(export, "_LEAST_COSINE", 1.1)
    with pytest.raises(ConnormError, match="CN834"):
        export_encoder(tiny_folder, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def vectors_of(name):
    return vectors(TransformerEncoder(name=str(name)))


def test_the_copy_gives_the_same_vectors_of(tmp_path, tiny_folder, capsys):
    saved = save_encoder(tiny_folder, tmp_path / "copy")
    assert saved == (tmp_path / "copy", 16)
    assert capsys.readouterr().out == ""
    np.testing.assert_array_equal(vectors_of(saved.path), vectors_of(tiny_folder))


def test_only_a_transformer_is_replaced(tmp_path, tiny_folder):
    for _ in range(2):
        save_encoder(str(tiny_folder), str(tmp_path / "copy"))
    (tmp_path / "letter.txt").write_text("dear")
    for content in ("{}", "not JSON"):
        (tmp_path / "config.json").write_text(content)
        with pytest.raises(ConnormError, match="CN705"):
            save_encoder(tiny_folder, tmp_path)
    assert (tmp_path / "letter.txt").exists()


def test_bad_input_leaves_the_old_folder(
    tmp_path, tiny_folder, tiny_tokenizer, save_tiny, monkeypatch
):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    out = tmp_path / "copy"
    save_encoder(tiny_folder, out)
    before = vectors_of(out)
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(ConnormError, match="CN306"):
        save_encoder(empty, out)
    broken = save_tiny(tmp_path / "broken", tiny_tokenizer)
    break_weights(broken / "model.safetensors")
    with pytest.raises(ConnormError, match="CN308"):
        save_encoder(broken, out)
    np.testing.assert_array_equal(vectors_of(out), before)


def break_weights(path):
    from safetensors.torch import load_file, save_file

    weights = load_file(path)
    for tensor in weights.values():
        tensor.fill_(float("nan"))
    save_file(weights, path, metadata={"format": "pt"})
