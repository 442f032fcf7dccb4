"""Transformers of BERT's architecture, written as graphs from the files of their folders."""

import json
import shutil
from functools import partial

import numpy as np
import pytest

pytest.importorskip("onnxruntime")

from spacy_connorm.encoders import encoder_inputs
from spacy_connorm.encoders.onnx import OnnxEncoder
from spacy_connorm.encoders.transformer import TransformerEncoder
from spacy_connorm.errors import ConnormError

TEXTS = ["heart attack", "headache", "", "acute cancer of the skin " * 20, "Heart Attack"]


def load(architecture, name, **settings):
    model = architecture(name=str(name), **settings)
    model.initialize()
    return model


def vectors(name, **settings):
    return load(OnnxEncoder, name, precision="fp32", **settings).predict(TEXTS)


@pytest.fixture
def changed(tiny_folder, tmp_path):
    """A function that copies the tiny transformer with other settings."""

    def change(**settings):
        folder = shutil.copytree(tiny_folder, tmp_path / "changed")
        config = json.loads((folder / "config.json").read_text(encoding="utf8"))
        (folder / "config.json").write_text(json.dumps({**config, **settings}), encoding="utf8")
        return folder

    return change


def test_minilm_is_the_default_and_has_the_transformers_vectors():
    model, transformer = OnnxEncoder(precision="fp32"), TransformerEncoder()
    model.initialize()
    transformer.initialize()
    assert encoder_inputs(model, TEXTS) == encoder_inputs(transformer, TEXTS)
    assert np.allclose(model.predict(TEXTS), transformer.predict(TEXTS), atol=1e-5)


def test_positions_after_that_of_padding(tmp_path, tiny_tokenizer):
    import torch
    from transformers import XLMRobertaConfig, XLMRobertaModel

    config = XLMRobertaConfig(
        vocab_size=len(tiny_tokenizer),
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=24,
        type_vocab_size=1,
        pad_token_id=tiny_tokenizer.pad_token_id,
    )
    with torch.random.fork_rng():
        torch.manual_seed(0)
        XLMRobertaModel(config).save_pretrained(tmp_path)
    tiny_tokenizer.save_pretrained(tmp_path)
    most = 24 - tiny_tokenizer.pad_token_id - 1
    expected = load(TransformerEncoder, tmp_path, max_length=most).predict(TEXTS)
    assert np.allclose(vectors(tmp_path), expected, atol=1e-5)


def test_how_it_was_trained_counts_and_settings_before_it(changed):
    folder = changed()
    card = {"pooling": "cls", "max_length": 9}
    (folder / "spacy_connorm.json").write_text(json.dumps(card), encoding="utf8")
    trained, mean = vectors(folder), vectors(folder, pooling="mean", max_length=64)
    expected = load(TransformerEncoder, folder).predict(TEXTS)
    assert np.allclose(trained, expected, atol=1e-5) and not np.allclose(trained, mean, atol=1e-2)


def test_a_prefix_is_read_with_each_text(changed, tmp_path):
    folder = shutil.move(changed(), tmp_path / "multilingual-e5-small")
    expected = load(TransformerEncoder, folder).predict(TEXTS)
    with_languages = partial(vectors, folder, neutral_languages=[])
    assert np.allclose(with_languages(), expected, atol=1e-5)
    assert not np.allclose(with_languages(prefix=""), expected, atol=1e-2)
    model = load(OnnxEncoder, folder)
    restored = OnnxEncoder(name=str(folder)).from_bytes(model.to_bytes())
    assert np.array_equal(restored.predict(TEXTS), model.predict(TEXTS))
    with pytest.raises(ConnormError, match="CN322.*prefix"):
        OnnxEncoder(name=str(folder), prefix="").from_bytes(model.to_bytes())


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"model_type": "mpnet"}, "not 'mpnet'"),
        ({"hidden_act": "relu"}, "hidden_act is relu"),
        ({"position_embedding_type": "relative_key"}, "position_embedding_type"),
    ],
)
def test_another_architecture_is_refused(changed, settings, reason):
    with pytest.raises(ConnormError, match=rf"CN324.*{reason}.*TransformerEncoder\.v1"):
        vectors(changed(**settings))


def test_other_encoders_are_named(changed):
    with pytest.raises(ConnormError, match=r"CN317.*DanEncoder\.v1"):
        vectors(changed(model_type="connorm-dan"))


def test_weights_that_are_missing(changed):
    with pytest.raises(ConnormError, match=r"CN306.*no weights 'encoder\.layer\.2"):
        vectors(changed(num_hidden_layers=3))


def test_a_folder_without_a_tokenizer_of_the_library(slow_folder):
    with pytest.raises(ConnormError, match="CN306.*connorm encoder"):
        vectors(slow_folder)
