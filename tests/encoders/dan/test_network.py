import numpy as np
import pytest
from safetensors.numpy import load_file

from spacy_connorm.encoders import fingerprint
from spacy_connorm.encoders.dan import DanEncoder
from spacy_connorm.encoders.dan.network import EMBEDDINGS, STEPS, Dan, DanSettings
from spacy_connorm.encoders.protocol import trainable
from spacy_connorm.errors import ConnormError

RNG = np.random.default_rng(1)
WEIGHTS = {EMBEDDINGS: RNG.normal(size=(30, 8)).astype("float32")}
WEIGHTS[EMBEDDINGS][4] = 0
DAN = Dan(DanSettings(buckets=20), "{}", WEIGHTS)
TEXTS = ["heart attack", "headache", "", "acute cancer of the skin"]


def load(folder, **settings):
    model = DanEncoder(name=str(folder), **settings)
    model.initialize()
    return model


@pytest.mark.parametrize(("dtype", "off"), [("float32", 0), ("int8", 1 / 254)])
def test_rounded_weights_are_close(dtype, off):
    stored = DAN.rounded(dtype).weights
    assert stored[EMBEDDINGS].dtype == dtype and (STEPS in stored) == (dtype == "int8")
    largest = np.abs(WEIGHTS[EMBEDDINGS]).max(axis=1, keepdims=True)
    found = DAN.rounded(dtype).restored().weights[EMBEDDINGS]
    assert found.dtype == np.float32
    assert (np.abs(found - WEIGHTS[EMBEDDINGS]) <= off * largest + 1e-6).all()
    assert not found[4].any()


@pytest.mark.parametrize("dtype", ["float32", "int8"])
def test_means_are_those_of_the_stored_vectors(dtype):
    stored = DAN.rounded(dtype)
    ids, bounds = np.asarray([1, 5, 5, 7, 4], dtype="int32"), np.asarray([0, 3, 3, 4, 5])
    found = stored.vectors(ids, bounds)
    vectors = stored.restored().weights[EMBEDDINGS][ids]
    expected = [vectors[:3].mean(axis=0), np.zeros(8), vectors[3], np.zeros(8)]
    np.testing.assert_allclose(found, expected, atol=1e-6)
    alone = stored.vectors(ids[:3], bounds[:2])
    np.testing.assert_array_equal(alone[0], found[0])


def test_a_trained_folder_is_stored_rounded(tiny_folder, tmp_path):
    dtype = "int8"
    model = load(tiny_folder, buckets=64, principal_components=8, dtype=dtype)
    module = trainable(model)
    exact = load(tiny_folder, buckets=64, principal_components=8)
    # Training starts from what was there before it was rounded.
    own = module.state_dict()["embeddings.weight"].numpy()
    np.testing.assert_array_equal(own, exact.shims[0]._model.weights[EMBEDDINGS])
    module.save(tmp_path / "dan")
    kept = load_file(tmp_path / "dan" / "model.safetensors")
    assert kept[EMBEDDINGS].dtype == dtype
    for settings in ({}, {"dtype": dtype}):
        again = load(tmp_path / "dan", **settings)
        assert fingerprint(again) == fingerprint(model) != fingerprint(exact)
        np.testing.assert_array_equal(again.predict(TEXTS), model.predict(TEXTS))
    assert np.abs(model.predict(TEXTS) - exact.predict(TEXTS)).max() < 0.05
    # One that was saved so can be trained on.
    assert trainable(again).state_dict()["embeddings.weight"].numpy().dtype == np.float32


def test_a_folder_in_float32_is_loaded_as_int8(tiny_folder, tmp_path):
    exact = load(tiny_folder, buckets=64, principal_components=8)
    trainable(exact).save(tmp_path)
    small = load(tmp_path, dtype="int8")
    assert small.shims[0]._model.weights[EMBEDDINGS].dtype == "int8"
    restored_bytes = DanEncoder().from_bytes(small.to_bytes())
    assert fingerprint(restored_bytes) == fingerprint(small)
    assert len(small.to_bytes()) < len(exact.to_bytes())


def test_what_was_rounded_is_not_loaded_as_something_else(tiny_folder, tmp_path):
    trainable(load(tiny_folder, buckets=64, principal_components=8, dtype="int8")).save(tmp_path)
    with pytest.raises(ConnormError, match="CN322.*dtype"):
        load(tmp_path, dtype="float32")
