import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from spacy_connorm.encoders import encoder_inputs, fingerprint, required_extra
from spacy_connorm.encoders.dan import DanEncoder
from spacy_connorm.encoders.protocol import trainable
from spacy_connorm.errors import ConnormError

TEXTS = ["heart attack", "headache", "", "acute cancer of the skin", "Heart Attack", "the heart"]
SMALL = {"buckets": 64, "principal_components": 8}


def load(folder, **settings):
    model = DanEncoder(name=str(folder), **settings)
    model.initialize()
    return model


@pytest.fixture(scope="module")
def dan(tiny_folder):
    """A network with narrower vectors. Tests do not change it."""
    return load(tiny_folder, **SMALL)


@pytest.fixture
def folder(dan, tmp_path):
    """What training would write."""
    trainable(dan).save(tmp_path / "dan")
    return tmp_path / "dan"


def read_embeddings(folder):
    from safetensors.numpy import load_file

    return load_file(folder / "model.safetensors")["bert.embeddings.word_embeddings.weight"]


def test_without_ngrams_a_vector_is_the_mean_of_input_embeddings(tiny_folder, tiny_tokenizer):
    model = load(tiny_folder, buckets=0)
    embeddings = read_embeddings(tiny_folder)
    ids = tiny_tokenizer.convert_tokens_to_ids(["head", "##ache", "of", "the", "heart"])
    expected = embeddings[ids].mean(axis=0)
    vectors = model.predict(["Headache of the heart", ""])
    assert vectors.dtype == np.float32 and vectors.shape == (2, 16)
    assert np.allclose(vectors[0], expected, atol=1e-7)
    assert not vectors[1].any()


def test_word_pieces_and_ngrams_weigh_the_same(tiny_folder, tiny_tokenizer):
    model = load(tiny_folder, ngram_range=[3, 4], buckets=64)
    weights = model.shims[0]._model.weights["embeddings.weight"]
    pieces = len(read_embeddings(tiny_folder))
    assert len(weights) == pieces + 64
    # " of ": the n-grams " of", "of " and " of ".
    ids = np.frombuffer(encoder_inputs(model, ["of"])[0], dtype="int32")
    assert len(ids) == 4 and ids[0] == tiny_tokenizer.convert_tokens_to_ids("of")
    assert (ids[1:] >= pieces).all()
    assert np.allclose(model.predict(["of"])[0], weights[ids].mean(axis=0), atol=1e-7)


def test_vectors_do_not_depend_on_batches(dan, tiny_folder):
    other = load(tiny_folder, **SMALL, batch_size=2)
    assert np.allclose(other.predict(TEXTS), dan.predict(TEXTS), atol=1e-7)
    assert fingerprint(other) == fingerprint(dan)


def test_inputs_are_equal_where_vectors_are(dan):
    inputs = encoder_inputs(dan, [*TEXTS, "attack heart"])
    vectors = dan.predict([*TEXTS, "attack heart"])
    assert inputs[0] == inputs[4] == inputs[6]
    assert np.array_equal(vectors[0], vectors[4]) and np.array_equal(vectors[0], vectors[6])
    assert len(set(inputs)) == len(TEXTS) - 1


def test_unknown_scripts_are_not_alike(dan):
    one, other = dan.predict(["心臓", "頭痛"])
    assert one.any() and other.any() and not np.allclose(one, other)


def test_fingerprints_differ_with_whatever_changes_vectors(dan, tiny_folder):
    models = [
        dan,
        load(tiny_folder, **SMALL, ngram_range=[2, 4]),
        load(tiny_folder, buckets=64),
        load(tiny_folder, buckets=63, principal_components=8),
    ]
    assert len({fingerprint(model) for model in models}) == len(models)


def test_a_trained_folder_gives_the_vectors_of_the_module(dan, tmp_path):
    import torch

    module = trainable(dan)
    before = dan.predict(TEXTS)
    optimizer = torch.optim.Adam(module.parameters(), lr=0.1)
    module(**module.collate(module.rows(TEXTS))).square().sum().backward()
    optimizer.step()
    module.save(tmp_path)
    module.eval()
    with torch.no_grad():
        expected = module(**module.collate(module.rows(TEXTS))).numpy()
    trained = load(tmp_path)
    assert np.allclose(trained.predict(TEXTS), expected, atol=1e-6)
    assert not np.allclose(before, expected, atol=1e-2)
    assert np.array_equal(dan.predict(TEXTS), before)
    again = load(tmp_path)
    assert fingerprint(again) == fingerprint(trained) != fingerprint(dan)
    assert np.array_equal(again.predict(TEXTS), trained.predict(TEXTS))


def test_a_saved_folder_is_bitwise_what_was_saved(dan, folder):
    assert fingerprint(load(folder)) == fingerprint(dan)
    assert fingerprint(load(folder, **SMALL, ngram_range=(3, 4))) == fingerprint(dan)


def test_it_starts_from_principal_components(tiny_folder):
    whole = read_embeddings(tiny_folder)
    pieces = load(tiny_folder, buckets=64, principal_components=3)
    start = trainable(pieces).embeddings.weight.detach().numpy()
    assert start.shape == (len(whole) + 64, 3)
    kept = start[: len(whole)].astype("float64")
    # Uncorrelated, the first with the largest variance, and as a whole as spread as the embeddings.
    spread = np.cov(kept.T)
    assert np.allclose(spread, np.diag(np.diag(spread)), atol=1e-6 * spread.max())
    assert spread[0, 0] > spread[1, 1] > spread[2, 2] > 0
    assert np.isclose(kept.std(), whole.std(), rtol=1e-4)
    # Those that hold most of the embeddings: no other three directions leave less.
    centred = whole - whole.mean(axis=0)
    lost = centred - kept @ np.linalg.lstsq(kept, centred, rcond=None)[0]
    least = np.square(np.linalg.svd(centred, compute_uv=False)[3:]).sum()
    assert np.isclose(np.square(lost).sum(), least, rtol=1e-3)


def test_principal_components_of_equal_embeddings(tiny_folder, tmp_path):
    from safetensors.numpy import save_file

    equal = np.ones((len(read_embeddings(tiny_folder)), 4), dtype="float32")
    save_file({"bert.embeddings.word_embeddings.weight": equal}, tmp_path / "model.safetensors")
    shutil.copy(tiny_folder / "tokenizer.json", tmp_path)
    with pytest.raises(ConnormError, match=r"CN324.*embeddings are equal"):
        load(tmp_path, principal_components=2)


def test_principal_components_that_a_transformer_lacks(tiny_folder, folder):
    with pytest.raises(ConnormError, match=r"CN324.*it has only 16 principal components, not 500"):
        load(tiny_folder, principal_components=500)
    assert load(folder, principal_components=8).get_dim("nO") == 8
    with pytest.raises(ConnormError, match=r"CN322.*principal_components = 8.*config has 7"):
        load(folder, principal_components=7)


@pytest.mark.parametrize("setting", [{"buckets": 65}, {"ngram_range": [2, 4]}])
def test_a_saved_folder_contradicts_the_config(folder, setting):
    with pytest.raises(ConnormError, match=f"CN322.*{next(iter(setting))}"):
        load(folder, **setting)


def test_a_saved_network_refuses_other_settings(dan):
    data = dan.to_bytes()
    for same in ({}, SMALL, {"ngram_range": (3, 4), "dtype": "float32", "batch_size": 1}):
        assert fingerprint(DanEncoder(**same).from_bytes(data)) == fingerprint(dan)
    # Rounded vectors would be those of another index.
    for other in (
        {"buckets": 65},
        {"ngram_range": [2, 4]},
        {"principal_components": 7},
        {"dtype": "int8"},
    ):
        with pytest.raises(ConnormError, match=f"CN322.*the saved pipeline.*{next(iter(other))}"):
            DanEncoder(**other).from_bytes(data)


def test_a_damaged_folder(folder):
    whole = (folder / "model.safetensors").read_bytes()
    for damage in (whole[:-5], b"", b"\xff" * 100):
        (folder / "model.safetensors").write_bytes(damage)
        with pytest.raises(ConnormError, match=r"CN306"):
            load(folder)
    (folder / "model.safetensors").write_bytes(whole)
    config = json.loads((folder / "config.json").read_text())
    changes = ({"buckets": "6"}, {"buckets": 1000}, {"dtype": "int4"}, {"format_version": 2})
    for change in changes:
        (folder / "config.json").write_text(json.dumps({**config, **change}))
        with pytest.raises(ConnormError, match="CN306"):
            load(folder)
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "tokenizer.json").unlink()
    with pytest.raises(ConnormError, match="CN306"):
        load(folder)


def test_a_transformer_that_numpy_cannot_read(tiny_folder, tmp_path):
    import torch
    from transformers import AutoModel

    shutil.copy(Path(tiny_folder) / "tokenizer.json", tmp_path)
    AutoModel.from_pretrained(tiny_folder).to(torch.bfloat16).save_pretrained(tmp_path)
    with pytest.raises(ConnormError, match="CN324.*no input embeddings.*`connorm encoder"):
        load(tmp_path)


def test_a_transformer_with_fewer_embeddings_than_tokens(tiny_folder, tmp_path):
    from safetensors.numpy import save_file

    shutil.copytree(tiny_folder, tmp_path, dirs_exist_ok=True)
    save_file(
        {"embeddings.word_embeddings.weight": np.zeros((3, 4), "float32")},
        tmp_path / "model.safetensors",
    )
    with pytest.raises(ConnormError, match="CN305.*word pieces have no vectors"):
        load(tmp_path).predict(TEXTS)


def test_no_such_model():
    with pytest.raises(ConnormError, match="CN303"):
        load("no/such/model")


def test_minilm_is_the_default_and_needs_no_torch():
    code = """
import sys
sys.modules.update(dict.fromkeys(("torch", "transformers", "spacy_transformers")))
from spacy_connorm.encoders.dan import DanEncoder
model = DanEncoder(buckets=100)
model.initialize()
vectors = model.predict(["heart attack", "heart failure", "broken leg"])
vectors /= (vectors ** 2).sum(1, keepdims=True) ** 0.5
print(model.get_dim("nO"), vectors[0] @ vectors[1] > vectors[0] @ vectors[2] + 0.1)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "384 True\n"
    assert required_extra(DanEncoder()) == "dan"


def test_vectors_that_are_not_finite(dan, folder):
    from safetensors.numpy import load_file, save_file

    weights = load_file(folder / "model.safetensors")
    weights["embeddings.weight"][:] = np.nan
    save_file(weights, folder / "model.safetensors")
    with pytest.raises(ConnormError, match="CN308"):
        load(folder).predict(TEXTS)


@pytest.mark.parametrize(
    "setting",
    [
        {"ngram_range": (0, 3)},
        {"ngram_range": (3, 1)},
        {"ngram_range": (2,)},
        {"buckets": -1},
        {"principal_components": 0},
        {"dtype": "int4"},
        {"batch_size": 0},
    ],
)
def test_settings_that_make_no_sense(setting):
    with pytest.raises(ConnormError, match=f"CN(006|118).*{next(iter(setting))}"):
        DanEncoder(**setting)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks")
def test_a_forked_process_encodes(tiny_folder):
    code = f"""
import multiprocessing
from spacy_connorm.encoders.dan import DanEncoder
model = DanEncoder(name={str(tiny_folder)!r}, buckets=64)
model.initialize()
before = model.predict(["heart attack"] * 100)
with multiprocessing.get_context("fork").Pool(1) as pool:
    after = pool.apply_async(model.predict, (["heart attack"] * 100,)).get(timeout=60)
print((before == after).all())
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("True\n", "")
