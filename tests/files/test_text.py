import gzip
import time

import pytest

from spacy_connorm.errors import ConnormError
from spacy_connorm.files.atomic import atomic_file
from spacy_connorm.files.text import open_text, read_lines, read_text, sha256


def test_lines_are_numbered_and_stripped_of_their_ends(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"\xef\xbb\xbfone\r\n two \n\nthree")
    assert list(read_lines(path)) == [(1, "one"), (2, " two "), (3, ""), (4, "three")]


def test_gzip_is_told_by_the_name(tmp_path):
    path = tmp_path / "A.TXT.GZ"
    path.write_bytes(gzip.compress("bêta\n".encode()))
    assert list(read_lines(path)) == [(1, "bêta")]


@pytest.mark.parametrize(
    ("name", "content", "code"),
    [
        ("a.txt.gz", b"plain\n", "CN106.*line 1"),
        ("a.txt.gz", gzip.compress(b"line\n" * 99_999)[:-99], "CN106"),
        ("a.txt", b"one\ntw\xf6\n", "CN107.*CSV UTF-8.*cp1252"),
    ],
)
def test_what_cannot_be_read(tmp_path, name, content, code):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ConnormError, match=code):
        list(read_lines(tmp_path / name))


@pytest.mark.parametrize("read", [lambda path: list(read_lines(path)), read_text])
@pytest.mark.parametrize("line", [1, 500, 1000])
def test_the_line_of_a_bad_byte_is_exact(tmp_path, read, line):
    lines = ["fièvre élevée".encode()] * 1000
    lines[line - 1] += b"\xe9"
    (tmp_path / "a.txt").write_bytes(b"\r\n".join(lines))
    with pytest.raises(ConnormError, match=rf"CN107.*, from line {line} on\."):
        read(tmp_path / "a.txt")


def test_a_text_keeps_its_line_ends(tmp_path):
    path = tmp_path / "a.txt.gz"
    path.write_bytes(gzip.compress("\ufeffone\r\ntwo\rthree\nfour\u2028five".encode()))
    assert read_text(path) == "one\r\ntwo\rthree\nfour\u2028five"
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(ConnormError, match=r"CN106.*line \d"):
        read_text(path)


def test_what_is_not_there(tmp_path):
    with pytest.raises(ConnormError, match="CN100"):
        list(read_lines(tmp_path / "a.txt"))
    with pytest.raises(ConnormError, match="CN105"):
        list(read_lines(tmp_path))


@pytest.mark.parametrize("name", ["a.txt", "a.txt.gz"])
def test_a_file_is_replaced_whole_or_not_at_all(tmp_path, name):
    path = tmp_path / "folder" / name
    with atomic_file(path) as aside, open_text(aside, "wt") as file:
        file.write("old")
    with pytest.raises(KeyError), atomic_file(path) as aside, open_text(aside, "wt") as file:
        file.write("new")
        raise KeyError
    assert list(read_lines(path)) == [(1, "old")]
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize("name", ["a.txt", "a.txt.gz"])
def test_the_same_text_is_the_same_file(tmp_path, monkeypatch, name):
    paths = [tmp_path / name, tmp_path / f"another.{name}"]
    for number, path in enumerate(paths):
        monkeypatch.setattr(time, "time", lambda now=number: 1e9 * now)
        with open_text(path, "wt") as file:
            file.write("one\ntwo\r\n")
        with open_text(path, newline="") as file:
            assert file.read() == "one\ntwo\r\n"
    assert sha256(paths[0]) == sha256(paths[1])


def test_a_disk_that_fills_up_is_named(tmp_path):
    path = tmp_path / "a.txt"
    with pytest.raises(ConnormError, match=r"CN108.*the disk is full"), atomic_file(path):
        raise OSError(28, "No space left on device")
    assert not list(tmp_path.iterdir())
