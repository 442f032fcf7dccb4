import numpy as np
import pytest

from spacy_connorm.encoders.transformer import TransformerEncoder

torch = pytest.importorskip("torch")


def vectors(name):
    encoder = TransformerEncoder(name=str(name))
    encoder.initialize()
    return encoder.predict(["heart attack", "headache"])


def test_the_copy_gives_the_same_vectors(invoke, words, tmp_path, tiny_folder):
    out = tmp_path / "copy"
    result = invoke("encoder", tiny_folder, out)
    assert result.exit_code == 0, result.output
    assert "16 wide" in words(result)
    np.testing.assert_array_equal(vectors(out), vectors(tiny_folder))


def test_only_a_transformer_is_replaced(invoke, refused, tmp_path, tiny_folder):
    out = tmp_path / "copy"
    for _ in range(2):
        assert invoke("encoder", tiny_folder, out).exit_code == 0
    (tmp_path / "letter.txt").write_text("dear")
    refused(invoke("encoder", tiny_folder, tmp_path), "CN705")
    (tmp_path / "config.json").write_text("not JSON")
    refused(invoke("encoder", tiny_folder, tmp_path), "CN705")
    assert (tmp_path / "letter.txt").exists()


def test_bad_input_leaves_the_old_folder(
    invoke, refused, tmp_path, tiny_folder, tiny_tokenizer, save_tiny, monkeypatch
):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    out = tmp_path / "copy"
    assert invoke("encoder", tiny_folder, out).exit_code == 0
    before = vectors(out)
    empty = tmp_path / "empty"
    empty.mkdir()
    refused(invoke("encoder", empty, out), "CN306")
    broken = save_tiny(tmp_path / "broken", tiny_tokenizer)
    break_weights(broken / "model.safetensors")
    refused(invoke("encoder", broken, out), "CN308")
    np.testing.assert_array_equal(vectors(out), before)


def break_weights(path):
    from safetensors.torch import load_file, save_file

    weights = load_file(path)
    for tensor in weights.values():
        tensor.fill_(float("nan"))
    save_file(weights, path, metadata={"format": "pt"})
