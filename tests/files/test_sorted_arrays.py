"""Values looked up in sorted arrays."""

import numpy as np
import pytest

from spacy_connorm.files.sorted_arrays import are_among, find_sorted


@pytest.mark.parametrize(
    ("known", "values", "places"),
    [
        ([2, 4, 4, 7], [7, 2, 4, 1, 5, 9], [3, 0, 1, -1, -1, -1]),
        ([], [1, 2], [-1, -1]),
        ([1, 2], [], []),
    ],
)
def test_values_are_found(known, values, places):
    known, values = np.array(known, dtype="uint64"), np.array(values, dtype="uint64")
    found = find_sorted(known, values)
    assert found.dtype == "int64" and found.tolist() == places
    assert are_among(known, values).tolist() == [place >= 0 for place in places]
