import numpy as np
import pytest
from scipy import sparse

from spacy_connorm.errors import ConnormError
from spacy_connorm.index.vectors.sparse import open_csr, write_csr


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
