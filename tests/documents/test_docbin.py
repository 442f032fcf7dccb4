import zlib

import pytest
import spacy
import srsly
from spacy.tokens import DocBin
from spacy.vocab import Vocab

from spacy_connorm.documents.docbin import read_docs, write_docs
from spacy_connorm.errors import ConnormError
from spacy_connorm.workflows.texts import read_inputs


@pytest.fixture
def path(tmp_path):
    write_docs(map(spacy.blank("en"), ("One.", "Two.")), tmp_path / "a.spacy")
    return tmp_path / "a.spacy"


def change(path, **fields):
    """Change what is stored, as bytes that are wrong do."""
    stored = srsly.msgpack_loads(zlib.decompress(path.read_bytes()))
    path.write_bytes(zlib.compress(srsly.msgpack_dumps({**stored, **fields})))


def test_what_is_written_is_read(path):
    assert [doc.text for doc in read_docs(path, Vocab())] == ["One.", "Two."]


@pytest.mark.parametrize(
    "fields",
    [
        {"attrs": [*DocBin().attrs, 1]},
        {"tokens": b""},
        {"strings": []},
        {"user_data": [b"\xc1", b"\xc1"]},
    ],
    ids=str,
)
def test_what_is_damaged_is_named(path, fields):
    change(path, **fields)
    with pytest.raises(ConnormError, match=r"CN220.*a\.spacy"):
        list(read_docs(path, Vocab()))


def test_values_that_are_nested_too_deeply_to_be_kept_are_damage(path):
    saved = srsly.msgpack_loads(zlib.decompress(path.read_bytes()))
    del saved["cats"]
    fields = srsly.msgpack_dumps(saved)
    # A map of up to 15 fields begins with 0x80 plus their number, a list of one with 0x91.
    nested = srsly.msgpack_dumps("cats") + b"\x91" * 900 + b"\xc0"
    path.write_bytes(zlib.compress(bytes([fields[0] + 1]) + fields[1:] + nested))
    with pytest.raises(ConnormError, match=r"CN220.*a\.spacy"):
        list(read_inputs(path))


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.pubtator", "7|t|A cold.\n"),
        ("a.json", '{"documents": []}'),
    ],
)
def test_another_format_is_to_be_converted(tmp_path, name, content):
    path = tmp_path / name
    path.write_text(content, encoding="utf8")
    told = rf"CN220.*in another format.* `connorm corpus {path} OUT\.spacy`\.$"
    with pytest.raises(ConnormError, match=told):
        list(read_docs(path, Vocab()))


def test_an_error_of_the_reader_is_its_own(path):
    with pytest.raises(KeyError):
        for _ in read_docs(path, Vocab()):
            raise KeyError


def test_documents_keep_all_that_they_carry(export, docs):
    stored = list(DocBin().from_disk(export("a.spacy")).get_docs(docs[0].vocab))
    assert [doc.to_json() for doc in stored] == [doc.to_json() for doc in docs]
