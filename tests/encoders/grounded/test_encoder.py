"""Grounded deep averaging networks."""

import json
import subprocess
import sys

import numpy as np
import pytest
import spacy
from spacy import registry
from vector_files import WIDTH, write_word2vec

from spacy_connorm import save_pipeline
from spacy_connorm.encoders import (
    encode,
    encoder_inputs,
    fingerprint,
    replica,
    required_extra,
    trainable,
)
from spacy_connorm.encoders.dan import DanEncoder
from spacy_connorm.encoders.grounded import GroundedDanEncoder, WordVectorEncoder
from spacy_connorm.encoders.grounded.network import fit_cca
from spacy_connorm.encoders.ngram import NgramEncoder
from spacy_connorm.errors import ConnormError

TEXTS = ["heart attack", "skin cancer", "cancer of the skin", "the heart", "zzz", "Heart Attack"]
MEMBERS = [np.asarray([0, 3, 5]), np.asarray([1, 2]), np.asarray([], dtype="int64")]


@pytest.fixture
def vectors(word2vec):
    return str(word2vec)


@pytest.fixture
def load(load_grounded, vectors):
    """A function that loads an encoder over word vectors."""

    def load(**settings):
        return load_grounded(**{"input": WordVectorEncoder(name=vectors), "hidden": 5, **settings})

    return load


@pytest.fixture
def folder(load, tmp_path):
    """What training would write."""
    module = trainable(load())
    module.fit(TEXTS, MEMBERS)
    module.save(tmp_path / "dan")
    return tmp_path / "dan"


def unit(rows):
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)


def test_vectors_are_those_of_the_equation(load, folder, vectors):
    model = load(name=str(folder))
    plain = WordVectorEncoder(name=vectors)
    plain.initialize()
    weights = model.shims[0]._model.weights
    assert weights["hidden.weight"].shape == (5, WIDTH)
    for text, found in zip(TEXTS, encode(model, TEXTS), strict=True):
        u = encode(plain, [text])[0]
        if not u.any():
            assert not found.any()
            continue
        u = (u / np.linalg.norm(u) - weights["cca.offset"]) @ weights["cca.matrix"]
        hidden = [max(0, row @ u + b) for row, b in zip(
            weights["hidden.weight"], weights["hidden.bias"], strict=True)]  # fmt: skip
        expected = weights["output.weight"] @ np.asarray(hidden) + weights["output.bias"]
        np.testing.assert_allclose(found, expected, atol=1e-5)


def test_the_module_gives_the_same_vectors(load, folder):
    import torch

    model = load(name=str(folder))
    module = trainable(model).eval()
    with torch.no_grad():
        found = module(**module.collate(module.rows(TEXTS))).numpy()
    np.testing.assert_allclose(found, encode(model, TEXTS), atol=1e-5)
    # Rows stay what they were when more are read.
    rows = module.rows(["skin"])
    assert rows == [[len(TEXTS)]]
    with torch.no_grad():
        again = module(**module.collate([[1], *rows])).numpy()
    np.testing.assert_allclose(again, encode(model, [TEXTS[1], "skin"]), atol=1e-5)


@pytest.mark.parametrize("cca", [True, False])
def test_prototypes_are_the_means_of_projected_names(load, cca, vectors):
    model = load(cca=cca)
    module = trainable(model)
    module.fit(TEXTS, MEMBERS)
    plain = WordVectorEncoder(name=vectors)
    plain.initialize()
    names = unit(encode(plain, TEXTS))
    if cca:
        offset, matrix = module.cca.offset.numpy(), module.cca.matrix.numpy()
        names = (names - offset) @ matrix
    for rows, found in zip(MEMBERS[:2], module.prototypes.numpy(), strict=False):
        np.testing.assert_allclose(found, names[rows].mean(axis=0), atol=1e-5)
    assert not module.prototypes[2].any()


def test_cca_is_fitted_to_names_and_their_concepts(load, vectors):
    module = trainable(load())
    module.fit(TEXTS, MEMBERS)
    plain = WordVectorEncoder(name=vectors)
    plain.initialize()
    names = unit(encode(plain, TEXTS))
    pairs = [(row, rows) for rows in MEMBERS for row in rows]
    own = np.stack([names[row] for row, _ in pairs])
    other = unit(np.stack([names[rows].mean(axis=0) for _, rows in pairs]))
    _, matrix = fit_cca(own, other)
    np.testing.assert_allclose(np.abs(module.cca.matrix.numpy()), np.abs(matrix), atol=1e-3)
    assert not any(name.startswith("cca") for name, _ in module.named_parameters())


def test_dropout_is_for_training_alone(load):
    import torch

    module = trainable(load(hidden=50))
    inputs = module.collate(module.rows(TEXTS))
    assert not torch.equal(module.train()(**inputs), module(**inputs))
    assert torch.equal(module.eval()(**inputs), module(**inputs))


def test_saving_keeps_everything(load, folder, tmp_path):
    model = load(name=str(folder))
    model.to_disk(tmp_path / "model")
    restored = GroundedDanEncoder(input=WordVectorEncoder()).from_disk(tmp_path / "model")
    assert fingerprint(restored) == fingerprint(model)
    assert restored.get_dim("nO") == WIDTH
    assert np.array_equal(encode(restored, TEXTS), encode(model, TEXTS))
    assert encoder_inputs(restored, TEXTS) == encoder_inputs(model, TEXTS)
    assert restored.to_bytes() == model.to_bytes()


def test_an_empty_encoder_says_so(load):
    model = GroundedDanEncoder(input=WordVectorEncoder())
    with pytest.raises(ConnormError, match="CN301"):
        model.predict(["heart"])
    loaded = load()
    emptied = replica(loaded).from_bytes(model.to_bytes())
    with pytest.raises(ConnormError, match="CN301"):
        emptied.predict(["heart"])
    assert encode(loaded, ["heart"]).any()


def test_flipped_bytes_are_found(load):
    data = load().shims[0].to_bytes()
    for i in range(0, len(data), 31):
        damaged = data[:i] + bytes([data[i] ^ 0x10]) + data[i + 1 :]
        with pytest.raises(ConnormError, match="CN305"):
            GroundedDanEncoder(input=WordVectorEncoder()).shims[0].from_bytes(damaged)


def test_fingerprints_differ_with_whatever_changes_vectors(load, folder, tmp_path):
    other = tmp_path / "other.txt"
    write_word2vec(other)
    other.write_text(other.read_text().replace("heart", "hearts"))
    models = [
        load(),
        load(hidden=6),
        load(cca=False),
        load(name=str(folder)),
        load(input=WordVectorEncoder(name=str(other))),
    ]
    assert len(set(map(fingerprint, models))) == len(models)
    assert fingerprint(load(dropout=0.1)) == fingerprint(models[0])


def test_a_folder_refuses_other_settings_and_other_vectors(load, folder, tmp_path):
    with pytest.raises(ConnormError, match="CN322.*hidden"):
        load(name=str(folder), hidden=6)
    with pytest.raises(ConnormError, match="CN322.*cca"):
        load(name=str(folder), cca=False)
    other = tmp_path / "other.txt"
    write_word2vec(other)
    other.write_text(other.read_text().replace("heart", "hearts"))
    with pytest.raises(ConnormError, match="CN322.*input_fingerprint"):
        load(name=str(folder), input=WordVectorEncoder(name=str(other)))


def test_a_saved_network_refuses_other_settings(load):
    model = load()
    data = model.to_bytes()
    for same in ({}, {"hidden": 5, "cca": True, "dropout": 0.1}):
        restored = GroundedDanEncoder(input=WordVectorEncoder(), **same).from_bytes(data)
        assert fingerprint(restored) == fingerprint(model)
    for other in ({"hidden": 6}, {"cca": False}):
        with pytest.raises(ConnormError, match=f"CN322.*the saved pipeline.*{next(iter(other))}"):
            GroundedDanEncoder(input=WordVectorEncoder(), **other).from_bytes(data)


def test_a_damaged_folder(load, folder, tmp_path):
    whole = (folder / "model.safetensors").read_bytes()
    for damage in (whole[:-5], b""):
        (folder / "model.safetensors").write_bytes(damage)
        with pytest.raises(ConnormError, match="CN306"):
            load(name=str(folder))
    (folder / "model.safetensors").write_bytes(whole)
    config = json.loads((folder / "config.json").read_text())
    for change in ({"width": 7}, {"format_version": 2}, {"model_type": "connorm-dan"}):
        (folder / "config.json").write_text(json.dumps({**config, **change}))
        with pytest.raises(ConnormError, match="CN306"):
            load(name=str(folder))
    with pytest.raises(ConnormError, match="CN306"):
        load(name=str(tmp_path / "none"))


def test_it_stands_on_a_transformer_too(tiny):
    model = GroundedDanEncoder(input=tiny, hidden=7)
    model.initialize()
    module = trainable(model)
    module.fit(TEXTS, MEMBERS)
    assert encode(model, TEXTS).shape == (len(TEXTS), 16)
    assert required_extra(model) == "dan,transformers"


@pytest.mark.parametrize(
    "setting", [{"hidden": 0}, {"dropout": 1.0}, {"input": NgramEncoder()}, {"input": "heart"}]
)
def test_settings_that_make_no_sense(setting):
    with pytest.raises(ConnormError, match=f"CN006.*{next(iter(setting))}"):
        GroundedDanEncoder(**{"input": DanEncoder(), **setting})


def test_safetensors_is_named_if_it_is_missing(monkeypatch):
    monkeypatch.setattr("spacy_connorm.errors.find_spec", lambda name: None)
    with pytest.raises(ConnormError, match="CN126"):
        GroundedDanEncoder(input=DanEncoder())


def test_a_pipeline_needs_no_files(folder, vectors, tmp_path, blank_pipeline, ontology):
    words = {"@architectures": "spacy-connorm.WordVectorEncoder.v1", "name": vectors}
    nlp = blank_pipeline(
        encoder={
            "@architectures": "spacy-connorm.GroundedDanEncoder.v1",
            "name": str(folder),
            "input": words,
        }
    )
    nlp.get_pipe("concept_normalizer").initialize(lambda: [], nlp=nlp, ontology=ontology)
    save_pipeline(nlp, tmp_path / "pipeline")
    (folder / "model.safetensors").unlink()
    restored = spacy.load(tmp_path / "pipeline")
    text = "a heart attack"
    assert restored(text).ents[0].kb_id_ == nlp(text).ents[0].kb_id_ == "C2"


def test_a_saved_encoder_needs_no_torch(load, folder, tmp_path):
    load(name=str(folder)).to_disk(tmp_path / "saved")
    code = f"""
import sys
sys.modules.update(dict.fromkeys(("torch", "transformers", "spacy_transformers", "gensim")))
from spacy_connorm.encoders.grounded import GroundedDanEncoder
from spacy_connorm.encoders.grounded import WordVectorEncoder
model = GroundedDanEncoder(input=WordVectorEncoder()).from_disk({str(tmp_path / "saved")!r})
print(model.predict(["heart attack"]).shape)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == f"(1, {WIDTH})\n"


def test_is_registered(folder, vectors):
    block = {
        "@architectures": "spacy-connorm.GroundedDanEncoder.v1",
        "name": str(folder),
        "input": {"@architectures": "spacy-connorm.WordVectorEncoder.v1", "name": vectors},
    }
    model = registry.resolve({"encoder": block})["encoder"]
    model.initialize()
    assert model.predict(["heart"]).shape == (1, WIDTH)
