import numpy as np
import pytest

from spacy_connorm.encoders.transformer import TransformerEncoder
from spacy_connorm.errors import ConnormError
from spacy_connorm.training import save_encoder

TEXTS = ["heart attack", "headache"]


def vectors(model):
    model.initialize()
    return model.predict(TEXTS)


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
