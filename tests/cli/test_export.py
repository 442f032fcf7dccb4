import json
import shutil

import numpy as np
import pytest

from spacy_connorm.encoders.onnx import OnnxEncoder
from spacy_connorm.encoders.transformer import TransformerEncoder

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


def test_eight_bits_are_the_default_and_only_an_export_is_replaced(
    invoke, refused, words, tmp_path, tiny_folder
):
    out = tmp_path / "out"
    out.mkdir()
    (out / "config.json").write_text(json.dumps({"model_type": "connorm-onnx"}))
    result = invoke("export", tiny_folder, out)
    assert result.exit_code == 0, result.output
    assert "Mean cosine" in words(result)
    assert (settings(out)["precision"], settings(out)["pooling"]) == ("int8", "mean")
    expected = vectors(TransformerEncoder(name=str(tiny_folder)))
    assert cosine(vectors(OnnxEncoder(name=str(out))), expected) > 0.98
    (tmp_path / "letter.txt").write_text("dear")
    refused(invoke("export", tiny_folder, tmp_path), "CN705")
    assert (tmp_path / "letter.txt").exists()


def test_settings_of_training_count_and_options_before_them(invoke, tmp_path, trained):
    folder, out = (
        trained("TransformerEncoder", 'pooling = "cls"\nmax_length = 9\n'),
        tmp_path / "out",
    )
    result = invoke("export", folder, out, "--precision", "fp32", "--max-length", "7")
    assert result.exit_code == 0, result.output
    found = settings(out)
    assert (found["precision"], found["pooling"], found["max_length"]) == ("fp32", "cls", 7)
    expected = vectors(TransformerEncoder(name=str(folder), pooling="cls"))
    assert np.allclose(vectors(OnnxEncoder(name=str(out))), expected, atol=1e-5)


def test_bad_input(invoke, refused, tmp_path, tiny_folder, trained, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    out = tmp_path / "out"
    refused(invoke("export", tiny_folder, out, "--precision", "int4"), "CN833")
    refused(invoke("export", tiny_folder, out, "--pooling", "sum"), "CN711")
    refused(invoke("export", tiny_folder, out, "--max-length", "1"), "CN309")
    refused(invoke("export", "no/such-model", out), "CN303")
    refused(invoke("export", trained("DanEncoder", "buckets = 8\n"), out), "CN832")
    monkeypatch.setattr("spacy_connorm.cli.export.find_spec", lambda name: None)
    refused(invoke("export", tiny_folder, out), "CN335")
    assert not out.exists()


def test_vectors_that_are_far_off_are_not_kept(invoke, refused, tmp_path, tiny_folder, monkeypatch):
    monkeypatch.setattr("spacy_connorm.cli.export._LEAST_COSINE", 1.1)
    refused(invoke("export", tiny_folder, tmp_path / "out"), "CN834")
    assert not (tmp_path / "out").exists()
