import codecs
import gzip

import pytest

from spacy_connorm.errors import ConnormError
from spacy_connorm.files.xml import read_elements, read_pieces

TEXT = "<a>\r\nna\u00efve \u20ac</a>\n"


def declared(name):
    return f'<?xml version="1.0" encoding="{name}"?>\n'


def read(path, content):
    path.write_bytes(content)
    return "".join(piece for _, piece in read_pieces(path))


def test_one_line_of_any_length_is_read_in_pieces(tmp_path):
    path, line = tmp_path / "a.xml.gz", "<a>\u00ef</a>" * 50_000
    path.write_bytes(gzip.compress(f"\n{line}\n{line}".encode()))
    numbers, pieces = zip(*read_pieces(path), strict=True)
    assert "".join(pieces) == f"\n{line}\n{line}"
    assert max(map(len, pieces)) <= 1 << 16
    assert sorted(set(numbers)) == [1, 2, 3] and list(numbers) == sorted(numbers)


@pytest.mark.parametrize("name", ["windows-1252", "ISO-8859-15", "GB18030"])
def test_the_declared_encoding_is_taken(tmp_path, name):
    text = declared(name) + TEXT
    assert read(tmp_path / "a.xml", text.encode(name)) == text


@pytest.mark.parametrize("name", ["UTF-8", "utf8", "us-ascii", "UTF-16", "klingon", "rot13"])
@pytest.mark.parametrize("mark", [b"", codecs.BOM_UTF8])
def test_other_declarations_are_in_utf8(tmp_path, name, mark):
    text = declared(name) + TEXT
    assert read(tmp_path / "a.xml", mark + text.encode()) == text


def test_only_a_declaration_counts(tmp_path):
    text = TEXT + declared("ISO-8859-1")
    assert read(tmp_path / "a.xml", text.encode()) == text
    assert read(tmp_path / "a.xml", b"") == ""


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (b"\n" * 70_000 + b"caf\xe9\n", 70_001),
        (b"one\ncaf\xc3", 2),
        ((declared("GB18030") + "\n").encode() + b"\xff", 3),
    ],
)
def test_bytes_of_another_encoding_are_named(tmp_path, content, line):
    with pytest.raises(ConnormError, match=rf"CN107.*, from line {line} "):
        read(tmp_path / "a.xml", content)


def test_what_cannot_be_read(tmp_path):
    with pytest.raises(ConnormError, match="CN100"):
        list(read_pieces(tmp_path / "a.xml"))
    with pytest.raises(ConnormError, match="CN105"):
        list(read_pieces(tmp_path))
    with pytest.raises(ConnormError, match="CN106.*line 1 "):
        read(tmp_path / "a.xml.gz", b"plain")


def test_elements_come_with_their_lines(tmp_path):
    path = tmp_path / "a.xml"
    path.write_text(f"<a>\n<b/>{' ' * 70_000}<c>\r\n</c>\n</a>")
    found = [(event, each.tag, line) for event, each, line in read_elements(path)]
    assert found == [
        ("start", "a", 1),
        ("start", "b", 2),
        ("end", "b", 2),
        ("start", "c", 2),
        ("end", "c", 3),
        ("end", "a", 4),
    ]


@pytest.mark.parametrize("before", ["", " " * (65_536 - 24)])
def test_entities_are_refused_even_where_pieces_part(tmp_path, before):
    path = tmp_path / "a.xml"
    path.write_text(f'<!DOCTYPE a [{before}<!ENTITY b "b">]><a>&b;</a>')
    with pytest.raises(ConnormError, match="CN115.*line 1.*entities"):
        list(read_elements(path))
