import numpy as np
import pytest
from scipy import sparse

from spacy_connorm.encoders.raw import make_csr
from spacy_connorm.errors import ConnormError
from spacy_connorm.index.vectors.kinds import open_vectors
from spacy_connorm.index.vectors.sparse import SparseVectors, open_csr, write_csr


@pytest.fixture
def matrix(tmp_path):
    written = sparse.csr_matrix(np.asarray([[0, 1, 2], [0, 0, 0], [3, 0, 4]], dtype="float32"))
    write_csr(written, tmp_path, "m")
    return written


def test_a_matrix_is_opened_as_written(matrix, tmp_path):
    opened = open_csr(tmp_path, "m", rows=3, width=3)
    np.testing.assert_array_equal(opened.toarray(), matrix.toarray())


@pytest.mark.parametrize(
    ("part", "values"),
    [
        ("indices", [1, 2, 0, 3]),
        ("indices", [1, 2, -1, 2]),
        ("indices", [1, 2, 0]),
        ("indptr", [1, 2, 2, 4]),
        ("indptr", [0, 2, 2, 5]),
        ("indptr", [0, 3, 2, 4]),
        ("indptr", [0, 4]),
    ],
)
def test_a_matrix_that_would_read_memory_of_others(matrix, tmp_path, part, values):
    np.save(tmp_path / f"m.{part}.npy", np.asarray(values, dtype="int32"))
    with pytest.raises(ConnormError, match="CN402"):
        open_csr(tmp_path, "m", rows=3, width=3)


def test_indices_of_another_dtype_than_offsets(matrix, tmp_path):
    np.save(tmp_path / "m.indices.npy", matrix.indices.astype("int64"))
    with pytest.raises(ConnormError, match=r"CN402.*indices.*int64, not int32"):
        open_csr(tmp_path, "m", rows=3, width=3)


def test_vectors_written_as_counts_are_the_same_to_the_last_bit(tmp_path):
    generator = np.random.default_rng(1)
    weights = generator.uniform(1, 12, size=40).astype("float32")
    counts = sparse.random_array((500, 40), density=0.2, rng=generator, format="csr")
    counts.data = generator.integers(1, 300, size=counts.nnz).astype("float32")
    raw = make_csr((counts.data * weights[counts.indices], counts.indices, counts.indptr), 40)
    vectors = SparseVectors.from_raw(raw)
    vectors.write(tmp_path, "v", weights)
    opened = open_vectors(tmp_path, "v")
    np.testing.assert_array_equal(opened.unit.toarray(), vectors.unit.toarray())
    np.testing.assert_array_equal(opened.norms, vectors.norms)
    assert np.load(tmp_path / "v.data.npy").dtype == "uint16"


@pytest.mark.parametrize(
    ("part", "values"),
    [
        ("weights", np.ones(2, dtype="float32")),
        ("weights", np.asarray([1, np.nan, 1], dtype="float32")),
        ("data", np.ones(4, dtype="float32")),
    ],
)
def test_counts_that_do_not_fit_are_damaged(matrix, tmp_path, part, values):
    SparseVectors.from_raw(matrix).write(tmp_path, "v", np.ones(3, dtype="float32"))
    np.save(tmp_path / f"v.{part}.npy", values)
    with pytest.raises(ConnormError, match="CN402"):
        open_vectors(tmp_path, "v")
