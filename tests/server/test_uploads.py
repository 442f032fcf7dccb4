import gc
import zlib

import pytest
import spacy
import srsly
from correcting import NOTE, OTHER_NOTE
from spacy.tokens import Doc, DocBin

from spacy_connorm.errors import ConnormError
from spacy_connorm.server import RequestLimits
from spacy_connorm.server.uploads import read_upload

LIMITS = RequestLimits(body=10_000, text=100, batch=3)


def written(docs, **options):
    return DocBin(docs=docs, **options).to_bytes()


def changed(**fields):
    """The bytes of a document, with other fields."""
    content = zlib.decompress(written([spacy.blank("en")(NOTE)]))
    return zlib.compress(srsly.msgpack_dumps({**srsly.msgpack_loads(content), **fields}))


def refused(content, code):
    with pytest.raises(ConnormError, match=code):
        read_upload(content, LIMITS)
    assert gc.isenabled()


@pytest.fixture
def doc():
    made = spacy.blank("en")(OTHER_NOTE)
    made.ents = [made.char_span(8, 21, label="Symptom"), made.char_span(29, 33, label="Disease")]
    return made


MENTIONS = [
    {"start": 8, "end": 21, "label": "Symptom"},
    {"start": 29, "end": 33, "label": "Disease"},
]


@pytest.mark.parametrize(
    "options", [{}, {"store_user_data": True}, {"attrs": ["ENT_TYPE", "ORTH", "ENT_IOB"]}]
)
def test_texts_and_entities_are_read(doc, options):
    doc.spans["others"] = [doc[0:2]]
    doc.user_data["nested"] = [[[]]] * 100
    doc.cats = {"long": 1.0}
    bare = Doc(doc.vocab, words=["a", "b"])
    assert read_upload(written([doc, bare], **options), LIMITS) == [
        {"text": OTHER_NOTE, "mentions": MENTIONS},
        {"text": "a b ", "mentions": []},
    ]
    assert read_upload(written([], **options), LIMITS) == []


def test_the_usual_limits_take_what_spacy_writes(doc):
    content = written([doc] * 100)
    assert len(read_upload(content, RequestLimits(body=len(content) * 100))) == 100


def test_what_becomes_too_large_is_not_decompressed(monkeypatch):
    bomb = zlib.compress(bytes(100_000_000), 9)
    bounds = []

    class Inflater:
        def decompress(self, content, max_length):
            bounds.append(max_length)
            return bytes(max_length)

    refused(bomb, "CN756.*200,000")
    monkeypatch.setattr(zlib, "decompressobj", Inflater)
    refused(bomb, "CN756")
    assert bounds == [20 * LIMITS.body + 1]


def test_too_many_and_too_long_texts(doc):
    refused(written([doc] * 4), "CN756.*3 texts, not 4")
    refused(written([spacy.blank("en")("x" * 101)]), "CN757.*101 characters")
    refused(written([Doc(doc.vocab, words=["x"] * 101)]), "CN757")
    # A few bytes of the file a long word of the text.
    refused(written([Doc(doc.vocab, words=["x" * 90] * 90)]), "CN757.*8,190 characters")


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"no documents",
        zlib.compress(b"no documents"),
        zlib.compress(b""),
        changed()[:-20],
        zlib.compress(zlib.decompress(changed()) + b"\x90"),
        changed(cats=[[[]] * 60] * 60),
        changed(cats=[{}] * 68),
        changed(cats=[[{}] * 60] * 60),
        changed(strings=[""] * 1251),
        changed(lengths=7),
        changed(attrs=[]),
        changed(tokens=b"\0" * 960),
        # Arrays of 2 ** 24 objects, one in another.
        zlib.compress(b"\x81\xa4cats" + b"\xdd\x01\x00\x00\x00" * 500),
        zlib.compress(b"\x81\xa7strings" + b"\xdd\x01\x00\x00\x00" * 500),
    ],
)
def test_other_files_are_refused(content):
    refused(content, "CN220")


def test_long_labels_are_refused(doc):
    doc.ents = [doc.char_span(8, 21, label="x" * 101)]
    refused(written([doc]), "CN220")
