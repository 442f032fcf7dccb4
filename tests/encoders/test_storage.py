import pickle
import subprocess
import sys

import numpy as np
import pytest

from spacy_connorm.encoders import fingerprint
from spacy_connorm.encoders.dan import DanEncoder
from spacy_connorm.encoders.ngram import NgramEncoder
from spacy_connorm.encoders.storage import open_encoder, store_encoder
from spacy_connorm.errors import ConnormError

TEXTS = ["heart attack", "headache", "", "acute cancer of the skin"]


@pytest.fixture(scope="module")
def dan(tiny_folder):
    model = DanEncoder(name=str(tiny_folder), buckets=64, width=8, hidden=5, dtype="int8")
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


def test_a_file_of_older_versions_is_read(dan, tmp_path):
    dan.to_disk(tmp_path / "encoder")
    found = open_encoder(DanEncoder(), tmp_path / "encoder")
    np.testing.assert_array_equal(found.predict(TEXTS), dan.predict(TEXTS))


def test_an_encoder_without_large_arrays_is_one_file(tmp_path):
    model = NgramEncoder()
    model.initialize(X=TEXTS)
    store_encoder(model, tmp_path / "encoder")
    assert [each.name for each in tmp_path.iterdir()] == ["encoder"]
    found = open_encoder(NgramEncoder(), tmp_path / "encoder")
    assert fingerprint(found) == fingerprint(model)


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda array: array[:-1], "CN305"),
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
    with pytest.raises(ConnormError, match="CN305"):
        open_encoder(DanEncoder(), path)
    path.with_name("encoder.embeddings.weight.npy").unlink()
    with pytest.raises(ConnormError, match="CN305"):
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


CHILD = """
import multiprocessing, sys
from pathlib import Path
from spacy_connorm.encoders.dan import DanEncoder
from spacy_connorm.encoders.storage import open_encoder

def look(model, expected):
    ok = model.predict(["heart attack"]).tolist() == expected and len(model.shims[0]._files) == 6
    sys.exit(0 if ok else 3)

def code_of(model, expected):
    worker = multiprocessing.get_context("spawn").Process(target=look, args=(model, expected))
    worker.start()
    worker.join()
    return worker.exitcode

if __name__ == "__main__":
    path = Path(sys.argv[1])
    model = open_encoder(DanEncoder(), path)
    expected = model.predict(["heart attack"]).tolist()
    codes = [code_of(model, expected)]
    file = path.with_name("encoder.embeddings.weight.npy")
    content = file.read_bytes()
    file.unlink()
    file.write_bytes(content)
    print(*codes, code_of(model, expected))
"""


def test_a_spawned_worker_maps_the_same_files(path, tmp_path):
    script = tmp_path / "child.py"
    script.write_text(CHILD, encoding="utf8")
    command = [sys.executable, str(script), str(path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    # The second time the file is another one, though its content is the same.
    assert done.stdout == "0 1\n" and "CN402" in done.stderr, done.stderr


def test_a_pickle_holds_the_weights(path):
    found = open_encoder(DanEncoder(), path)
    again = pickle.loads(pickle.dumps(found.shims[0]))
    path.with_name("encoder.embeddings.weight.npy").unlink()
    assert again.fingerprint() == found.shims[0].fingerprint()
    assert again._files == {}
    np.testing.assert_array_equal(
        again.encode(again.inputs(TEXTS), found.ops), found.predict(TEXTS)
    )
