import numpy as np
import pytest

from spacy_connorm.errors import ConnormError
from spacy_connorm.files.arrays import (
    TextArray,
    are_among,
    find_sorted,
    open_array,
    save_texts,
)


@pytest.fixture
def file(tmp_path):
    return tmp_path / "array.npy"


def save(file, array):
    np.save(file, array)
    return file


def test_opened_as_written(file):
    array = np.arange(6, dtype="int32").reshape(2, 3)
    opened = open_array(save(file, array), "int32", (2, None), bounds=(0, 6), finite=True)
    assert type(opened) is np.ndarray and not opened.flags.writeable
    np.testing.assert_array_equal(opened, array)


@pytest.mark.parametrize(
    ("array", "expected"),
    [
        (np.zeros(3, dtype="int64"), "dtype is int64, not int32 or int16"),
        (np.zeros(3, dtype=">i4"), "dtype"),
        (np.zeros((3, 1), dtype="int32"), "not an array of 3 values"),
        (np.zeros((), dtype="int32"), "not an array of 3 values"),
        (np.zeros(4, dtype="int32"), "4 values, not 3"),
        (np.asarray([0, 1, 10], dtype="int32"), "values are 0 to 10, not 0 to 9"),
        (np.asarray([0, -1, 9], dtype="int32"), "values are -1 to 9"),
    ],
)
def test_another_array(file, array, expected):
    with pytest.raises(ConnormError, match=f"CN402.*array.npy.*{expected}"):
        open_array(save(file, array), ("int32", "int16"), (3,), bounds=(0, 10))


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_values_that_are_not_finite(file, value):
    save(file, np.asarray([0, value], dtype="float32"))
    assert len(open_array(file, "float32", (2,)))
    with pytest.raises(ConnormError, match="CN402.*finite"):
        open_array(file, "float32", (2,), finite=True)


def test_columns_before_rows(file):
    save(file, np.asfortranarray(np.zeros((2, 3))))
    with pytest.raises(ConnormError, match="CN402"):
        open_array(file, "float64", (2, 3))


def test_a_bool_that_is_neither(file):
    save(file, np.asarray([0, 2], dtype="uint8").view("bool"))
    with pytest.raises(ConnormError, match="CN402.*0 to 2"):
        open_array(file, "bool", (2,), bounds=(0, 2))


@pytest.mark.parametrize("content", [b"", b"PK\3\4", b"\x93NUMPY\1\0", b"x" * 1000])
def test_no_array(file, content):
    file.write_bytes(content)
    with pytest.raises(ConnormError, match="CN402.*holds no array"):
        open_array(file, "int32", (None,))


def test_objects_are_not_unpickled(file):
    save(file, np.asarray([{}], dtype="object"))
    with pytest.raises(ConnormError, match="CN402.*holds no array"):
        open_array(file, "object", (None,))


def test_a_shape_that_is_larger_than_the_file(file):
    with file.open("wb") as raw:
        facts = {"descr": "<f4", "fortran_order": False, "shape": (2**40,)}
        np.lib.format.write_array_header_1_0(raw, facts)
    with pytest.raises(ConnormError, match="CN402"):
        open_array(file, "float32", (None,))


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


def test_texts_are_read_as_they_were_written(tmp_path):
    texts = ["one", "", "zwölf", "🧬"]
    save_texts(tmp_path, "texts", map(str.encode, texts))
    for array in (TextArray.open(tmp_path, "texts"), TextArray.of(texts)):
        assert len(array) == 4
        assert array.read(np.array([3, 0, 1, 2, 0])) == ["🧬", "one", "", "zwölf", "one"]
        assert array.read(np.array([], dtype="int64")) == []
        with pytest.raises(ConnormError, match="CN402.*lacks texts"):
            array.read(np.array([4]))


def test_texts_that_are_not_utf8_are_refused(tmp_path):
    save_texts(tmp_path, "texts", [b"one", b"\xff"])
    array = TextArray.open(tmp_path, "texts")
    assert array.read(np.array([0])) == ["one"]
    with pytest.raises(ConnormError, match="CN402.*texts.utf8.npy"):
        array.read(np.array([1]))
