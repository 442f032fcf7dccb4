"""A few vectors of each kind."""

import numpy as np
import pytest
from scipy import sparse

from spacy_connorm.encoders.raw import HybridArray
from spacy_connorm.index.vectors.kinds import from_raw
from spacy_connorm.index.vectors.sparse import SparseVectors

RAW = np.random.default_rng(3).normal(size=(9, 5)).astype("float32")


RAW[4] = 0


@pytest.fixture(params=["dense", "sparse"])
def raw(request):
    return RAW if request.param == "dense" else sparse.csr_matrix(RAW)


def unit_of(vectors):
    return vectors.unit.toarray() if isinstance(vectors, SparseVectors) else vectors.unit


KINDS = {
    "float32": from_raw(RAW),
    "int8": from_raw(RAW, dtype="int8"),
    "sparse": from_raw(sparse.csr_matrix(RAW)),
    "hybrid": from_raw(HybridArray(RAW, sparse.csr_matrix(RAW[::-1]))),
    "hybrid int8": from_raw(HybridArray(RAW, sparse.csr_matrix(RAW[::-1])), dtype="int8"),
}


@pytest.fixture(params=KINDS.values(), ids=KINDS)
def vectors(request):
    return request.param


def files(folder):
    return {path.name: np.load(path) for path in folder.iterdir()}


def written(vectors, folder):
    folder.mkdir()
    vectors.write(folder, "v")
    return files(folder)


def assert_same(one, other):
    assert one.keys() == other.keys()
    for name, array in one.items():
        np.testing.assert_array_equal(array, other[name])
        assert array.dtype == other[name].dtype


# The most that a component of a unit vector can be off, by dtype.
ROUNDED = {"float32": 1e-5, "int8": 2e-2}
