import pickle

import numpy as np
import pytest
from vector_files import write_word2vec

from spacy_connorm.encoders import fingerprint
from spacy_connorm.encoders.dan import DanEncoder
from spacy_connorm.encoders.grounded import GroundedDanEncoder, WordVectorEncoder
from spacy_connorm.encoders.hybrid import HybridEncoder
from spacy_connorm.encoders.ngram import NgramEncoder
from spacy_connorm.encoders.saving import open_encoder, store_encoder
from spacy_connorm.errors import ConnormError

TEXTS = ["heart attack", "headache", "", "acute cancer of the skin"]


@pytest.fixture(scope="module")
def dan(tiny_folder):
    model = DanEncoder(name=str(tiny_folder), buckets=64, principal_components=8, dtype="int8")
    model.initialize()
    return model


@pytest.fixture
def path(dan, tmp_path):
    store_encoder(dan, tmp_path / "encoder")
    return tmp_path / "encoder"


def is_mapped(array):
    while array.base is not None and not isinstance(array, np.memmap):
        array = array.base
    return isinstance(array, np.memmap) or type(array).__name__ == "mmap"


def test_weights_are_mapped_and_give_the_same_vectors(dan, path):
    found = open_encoder(DanEncoder(), path)
    assert fingerprint(found) == fingerprint(dan)
    assert found.get_dim("nO") == 8
    np.testing.assert_array_equal(found.predict(TEXTS), dan.predict(TEXTS))
    assert all(map(is_mapped, found.shims[0]._model.weights.values()))
    assert path.stat().st_size < 2 * len(found.shims[0]._model.tokenizer)
    assert found.to_bytes() == dan.to_bytes()


def test_arrays_of_parts_are_mapped_too(tmp_path):
    write_word2vec(tmp_path / "vectors.txt")
    lexical = NgramEncoder()
    part = WordVectorEncoder(name=str(tmp_path / "vectors.txt"))
    model = HybridEncoder(dense=GroundedDanEncoder(input=part, hidden=3), lexical=lexical)
    model.initialize(X=TEXTS)
    store_encoder(model, tmp_path / "encoder")
    assert (tmp_path / "encoder.dense.input.vectors.npy").is_file()
    empty = GroundedDanEncoder(input=WordVectorEncoder())
    found = open_encoder(HybridEncoder(dense=empty, lexical=lexical), tmp_path / "encoder")
    assert fingerprint(found) == fingerprint(model)
    np.testing.assert_array_equal(found.predict(TEXTS).dense, model.predict(TEXTS).dense)
    inner = found.shims[0].parts["dense"].shims[0]
    assert is_mapped(inner._model.weights["hidden.weight"])
    assert is_mapped(inner._part.shims[0]._model.vectors)


@pytest.mark.parametrize("content", [b"", b"\x81\xa6shapes\x01", b"\x80", b"\xc0"])
def test_a_file_that_is_not_an_encoder_is_refused(path, content):
    path.write_bytes(content)
    with pytest.raises(ConnormError, match="CN305"):
        open_encoder(DanEncoder(), path)


def test_an_encoder_without_large_arrays_is_one_file(tmp_path):
    model = NgramEncoder()
    model.initialize(X=TEXTS)
    store_encoder(model, tmp_path / "encoder")
    assert [path.name for path in tmp_path.iterdir()] == ["encoder"]
    found = open_encoder(NgramEncoder(), tmp_path / "encoder")
    assert fingerprint(found) == fingerprint(model)


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda array: array[:-1], "CN402"),
        (lambda array: np.where(array == 1, 2, array).astype("int8"), "CN305.*checksum"),
        (lambda array: array.astype("float64"), "CN402"),
        (lambda array: array[0], "CN402"),
    ],
)
def test_other_weights_are_refused(path, change, code):
    file = path.with_name("encoder.embeddings.weight.npy")
    np.save(file, change(np.load(file)))
    with pytest.raises(ConnormError, match=code):
        open_encoder(DanEncoder(), path)


def test_missing_files_are_refused(path):
    path.with_name("encoder.embeddings.step.npy").unlink()
    with pytest.raises(ConnormError, match="CN402.*embeddings.step"):
        open_encoder(DanEncoder(), path)
    path.unlink()
    with pytest.raises(ConnormError, match="CN402.*missing"):
        open_encoder(DanEncoder(), path)


def test_a_failed_read_leaves_the_model_alone(dan, path):
    before = fingerprint(dan)
    path.with_name("encoder.embeddings.step.npy").unlink()
    with pytest.raises(ConnormError):
        open_encoder(dan, path)
    assert fingerprint(dan) == before and dan.predict(TEXTS).any()


def test_a_pickle_holds_the_weights(path):
    found = open_encoder(DanEncoder(), path)
    again = pickle.loads(pickle.dumps(found.shims[0]))
    path.with_name("encoder.embeddings.weight.npy").unlink()
    assert again.fingerprint() == found.shims[0].fingerprint()
    np.testing.assert_array_equal(again.encode(again.inputs(TEXTS)), found.predict(TEXTS))
