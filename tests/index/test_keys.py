import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_connorm.index.keys import KeyTable, hash_keys

KEYS = st.lists(st.binary(max_size=4), unique=True)


@given(kept=KEYS, asked=st.lists(st.binary(max_size=4)))
def test_many_keys_have_the_rows_of_each(kept, asked):
    table = KeyTable.from_hashes(hash_keys(kept))
    expected = [kept.index(key) if key in kept else None for key in [*kept, *asked]]
    assert [table.row(key) for key in [*kept, *asked]] == expected
    rows = table.rows_of(hash_keys([*kept, *asked]))
    assert rows.dtype == "int64"
    assert [None if row < 0 else row for row in rows.tolist()] == expected


@pytest.mark.parametrize("kept", [[], [b"a"]])
def test_no_keys_have_no_rows(kept):
    assert KeyTable.from_hashes(hash_keys(kept)).rows_of(hash_keys([])).shape == (0,)


def test_a_table_that_is_mapped_gives_the_same_rows(tmp_path):
    table = KeyTable.from_hashes(hash_keys([b"b", b"a"]))
    table.write(tmp_path)
    rows = KeyTable.open(tmp_path, rows=2).rows_of(hash_keys([b"a", b"b", b"c"]))
    assert rows.tolist() == [1, 0, -1]
