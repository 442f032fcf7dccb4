import os
import pickle
import shutil
import subprocess
import sys
from itertools import chain

import numpy as np
import pytest

from spacy_connorm.encoders import encoder_inputs, fingerprint, trainable
from spacy_connorm.encoders.transformer import TransformerEncoder
from spacy_connorm.encoders.transformer_module import TransformerModule
from spacy_connorm.errors import ConnormError

TEXTS = ["heart attack", "headache", "", "acute cancer of the skin", "Heart Attack", "the heart"]


def load(folder, **settings):
    model = TransformerEncoder(name=str(folder), **settings)
    model.initialize()
    return model


@pytest.mark.parametrize("pooling", ["mean", "cls", "max"])
def test_vectors_are_those_of_the_transformer(tiny_folder, pooling):
    import torch
    from transformers import AutoModel, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(tiny_folder)
    transformer = AutoModel.from_pretrained(tiny_folder).eval()
    pool = {"mean": lambda t: t.mean(0), "cls": lambda t: t[0], "max": lambda t: t.max(0).values}
    expected = []
    with torch.no_grad():
        for text in TEXTS:
            tokens = transformer(**tokenizer(text, return_tensors="pt")).last_hidden_state[0]
            expected.append(pool[pooling](tokens).numpy())
    vectors = load(tiny_folder, pooling=pooling, batch_size=2).predict(TEXTS)
    assert vectors.dtype == np.float32 and vectors.shape == (len(TEXTS), 16)
    assert np.allclose(vectors, np.stack(expected), atol=1e-5)


def test_inputs_are_equal_where_vectors_are(tiny):
    inputs = encoder_inputs(tiny, TEXTS)
    vectors = tiny.predict(TEXTS)
    assert inputs[0] == inputs[4] and np.allclose(vectors[0], vectors[4], atol=1e-6)
    assert len(set(inputs)) == len(TEXTS) - 1


def test_texts_are_cut(tiny_folder):
    model = load(tiny_folder, max_length=4)
    one, other, third = encoder_inputs(model, ["heart attack the", "heart attack of", "heart of"])
    assert one == other != third


def test_texts_get_the_prefix_that_a_transformer_was_trained_with(tiny_folder, tmp_path):
    plain = load(tiny_folder)
    prefixed = load(tiny_folder, prefix="acute ")
    assert np.allclose(prefixed.predict(["cancer"]), plain.predict(["acute cancer"]), atol=1e-6)
    assert fingerprint(prefixed) != fingerprint(plain)
    folder = tmp_path / "trained"
    folder.mkdir()
    trainable(prefixed).save(folder)
    assert np.allclose(load(folder).predict(["cancer"]), prefixed.predict(["cancer"]), atol=1e-6)
    restored = TransformerEncoder(name="elsewhere").from_bytes(prefixed.to_bytes())
    assert encoder_inputs(restored, ["cancer"]) == encoder_inputs(plain, ["acute cancer"])
    # A copy from the hub is known by its name.
    copy = tmp_path / "multilingual-e5-small"
    shutil.copytree(tiny_folder, copy)
    assert encoder_inputs(load(copy), ["heart"]) == encoder_inputs(plain, ["query: heart"])


def test_a_transformer_without_a_limit_is_cut_all_the_same(tiny_folder):
    module = load(tiny_folder, max_length=8).shims[0]._model
    module.transformer.config.max_position_embeddings = -1
    parts = (module.tokenizer, module.transformer)
    for asked in (8, 10):
        assert TransformerModule(*parts, pooling="mean", max_length=asked).max_length == asked


@pytest.fixture(scope="module")
def slow(slow_folder):
    """An encoder with a tokenizer that has no fast version, and the one restored from its bytes.
    Tests do not change them.
    """
    model = load(slow_folder)
    return model, TransformerEncoder().from_bytes(model.to_bytes())


def test_a_tokenizer_without_a_fast_version(slow):
    model, restored = slow
    assert not restored.shims[0]._model.tokenizer.is_fast
    assert fingerprint(restored) == fingerprint(model)


def test_it_encodes_any_string(slow, odd_text):
    texts = [*TEXTS, odd_text]
    model, restored = slow
    assert np.array_equal(restored.predict(texts), model.predict(texts))


def test_a_trained_folder_says_how_it_was_trained(tiny_folder, tmp_path):
    trained = load(tiny_folder, pooling="cls", max_length=5)
    trainable(trained).save(tmp_path)
    again = load(tmp_path)
    assert encoder_inputs(again, TEXTS) == encoder_inputs(trained, TEXTS)
    assert np.array_equal(again.predict(TEXTS), trained.predict(TEXTS))
    # What a config sets counts.
    other = load(tmp_path, pooling="mean", max_length=64)
    assert np.array_equal(other.predict(TEXTS), load(tiny_folder).predict(TEXTS))


def test_a_saved_encoder_keeps_its_settings(tiny_folder):
    model = load(tiny_folder, pooling="cls", max_length=5)
    data = model.to_bytes()
    for settings in ({}, {"pooling": "cls"}, {"max_length": 5, "batch_size": 1}):
        assert fingerprint(TransformerEncoder(**settings).from_bytes(data)) == fingerprint(model)
    for setting in ({"pooling": "mean"}, {"max_length": 6}):
        with pytest.raises(ConnormError, match=f"CN322.*{next(iter(setting))}"):
            TransformerEncoder(**setting).from_bytes(data)


def test_a_text_without_tokens_has_the_zero_vector(tmp_path, save_tiny):
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Whitespace
    from transformers import PreTrainedTokenizerFast

    words = Tokenizer(WordLevel({"[UNK]": 0, "heart": 1}, unk_token="[UNK]"))
    words.pre_tokenizer = Whitespace()
    save_tiny(tmp_path, PreTrainedTokenizerFast(tokenizer_object=words, unk_token="[UNK]"))
    vectors = load(tmp_path).predict(["", "heart"])
    assert not vectors[0].any() and vectors[1].any()


def test_saving_keeps_everything_without_pickle(tiny_folder, tmp_path, monkeypatch):
    import torch

    folder = shutil.copytree(tiny_folder, tmp_path / "original")
    model = load(folder)
    shutil.rmtree(folder)
    for module, name in ((torch, "save"), (torch, "load"), (pickle, "loads"), (pickle, "dumps")):
        monkeypatch.setattr(module, name, None)
    model.to_disk(tmp_path / "model")
    restored = TransformerEncoder().from_disk(tmp_path / "model")
    assert fingerprint(restored) == fingerprint(model)
    assert restored.get_dim("nO") == 16
    assert np.array_equal(restored.predict(TEXTS), model.predict(TEXTS))
    assert restored.to_bytes() == model.to_bytes()


def test_a_copy_is_an_encoder(tiny):
    assert np.array_equal(tiny.copy().predict(TEXTS), tiny.predict(TEXTS))


def test_fingerprints_differ_with_whatever_changes_vectors(
    tiny, tiny_folder, tmp_path, tiny_tokenizer, save_tiny
):
    other = save_tiny(tmp_path / "other", tiny_tokenizer, seed=1)
    models = [
        tiny,
        load(other),
        load(tiny_folder, pooling="cls"),
        load(tiny_folder, max_length=8),
        load(tiny_folder, mixed_precision=True),
    ]
    assert len({fingerprint(model) for model in models}) == len(models)
    assert fingerprint(load(tiny_folder, batch_size=1)) == fingerprint(tiny)
    assert fingerprint(load(shutil.copytree(tiny_folder, tmp_path / "copy"))) == fingerprint(tiny)


def test_another_process_without_network(tiny, tiny_folder):
    code = f"""
from spacy_connorm.encoders import fingerprint
from spacy_connorm.encoders.transformer import TransformerEncoder
model = TransformerEncoder(name={str(tiny_folder)!r})
model.initialize()
print(fingerprint(model))
try:
    TransformerEncoder(name="no-such-owner/no-such-model").initialize()
except ValueError as error:
    print(error)
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "HF_HUB_OFFLINE": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    found, error = done.stdout.splitlines()
    assert found == fingerprint(tiny)
    assert "CN303" in error and "HF_HUB_OFFLINE" in error


def test_vectors_that_are_not_finite(tiny):
    broken = tiny.copy()
    next(broken.shims[0]._model.parameters()).data.fill_(float("nan"))
    with pytest.raises(ConnormError, match="CN308"):
        broken.predict(TEXTS)


def test_mixed_precision_is_close(tiny, tiny_folder, monkeypatch):
    for is_supported in (False, True):
        monkeypatch.setattr("torch.cpu._is_avx512_bf16_supported", lambda new=is_supported: new)
        vectors = load(tiny_folder, mixed_precision=True).predict(TEXTS)
        assert vectors.dtype == np.float32
        assert np.allclose(vectors, tiny.predict(TEXTS), atol=0.1)
        assert np.array_equal(vectors, tiny.predict(TEXTS)) != is_supported


def test_nothing_is_padded_in_mixed_precision(tiny_folder, monkeypatch):
    monkeypatch.setattr("torch.cpu._is_avx512_bf16_supported", lambda: True)
    shim = load(tiny_folder, mixed_precision=True, batch_size=2).shims[0]
    inputs = shim.inputs([*TEXTS, *TEXTS, "x"])
    batches = list(shim.batches(inputs))
    assert sorted(chain.from_iterable(batches)) == [i for i, each in enumerate(inputs) if each]
    assert all(len({len(inputs[i]) for i in batch}) == 1 for batch in batches)
    assert max(map(len, batches)) == 2


@pytest.mark.parametrize("setting", [{"max_length": 2}, {"batch_size": 0}])
def test_settings_that_make_no_sense(setting):
    with pytest.raises(ConnormError, match="CN006"):
        TransformerEncoder(**setting)
