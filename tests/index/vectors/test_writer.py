from itertools import pairwise

import numpy as np
import pytest

from spacy_connorm.index.vectors.kinds import open_vectors
from spacy_connorm.index.vectors.writer import VectorWriter

from .conftest import assert_same, files, written


@pytest.mark.parametrize("sizes", [[9], [4, 5], [1] * 9, [0, 9]])
def test_written_in_blocks_as_at_once(vectors, tmp_path, sizes):
    (tmp_path / "blocks").mkdir()
    writer, ends = VectorWriter(tmp_path / "blocks", "v", 9), np.cumsum([0, *sizes])
    for start, stop in pairwise(ends):
        writer.append(vectors.take(np.arange(start, stop)))
    writer.close()
    assert_same(files(tmp_path / "blocks"), written(vectors, tmp_path / "once"))
    assert type(open_vectors(tmp_path / "blocks", "v")) is type(vectors)
