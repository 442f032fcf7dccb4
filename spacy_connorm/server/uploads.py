"""Documents that clients send as a `.spacy` file. Whatever its bytes, it takes little memory."""

import zlib
from collections.abc import Iterator
from itertools import count
from typing import Any

from spacy.attrs import ENT_IOB, ENT_TYPE, ORTH
from spacy.tokens import Doc, DocBin, Span
from spacy.vocab import Vocab
from srsly.msgpack import Unpacker

from ..errors import ConnormError, Errors
from .limits import RequestLimits

# What a file may take once decompressed, in bytes a byte that a request may have. Texts with their
# entities take 14 to 15 times what spaCy makes of them.
_INFLATED = 20
# The hash of a string takes this in the file, and can't be compressed.
_HASH = 8
# A number of tokens takes this.
_LENGTH = 4
# No file of spaCy's has more fields, or attributes of tokens.
_FIELDS = 64
_MOST_CATEGORIES = 10_000
_LONGEST_LABEL = 100
_READ = (ORTH, ENT_IOB, ENT_TYPE)


def read_upload(content: bytes, limits: RequestLimits) -> list[dict[str, Any]]:
    """Read the texts and entities of a `.spacy` file.

    content (bytes): The file.
    limits (RequestLimits): How many texts there may be, and how long.
    RETURNS (List[Dict[str, Any]]): The "text" and the "mentions" of each document.
    RAISES (ConnormError): CN220 for another format, CN757 for a text that is too long, CN756 for
        too many, CN756 for a file that is too large once it is decompressed.
    """
    try:
        _require_plain(_inflate(content, _INFLATED * limits.body), limits)
        doc_bin = _without_extras(DocBin().from_bytes(content))
        for tokens in doc_bin.tokens:
            limits.require_length(len(tokens))
        return list(_texts(doc_bin, limits))
    except ConnormError:
        raise
    except Exception as error:  # zlib's, msgpack's or spaCy's, depending on the bytes
        raise ConnormError(
            Errors.CN220.format(path="the request", format="`.spacy`", reason=type(error).__name__)
        ) from error


def _inflate(content: bytes, limit: int) -> bytes:
    inflated = zlib.decompressobj().decompress(content, limit + 1)
    if len(inflated) > limit:
        raise ConnormError(Errors.CN756.format(limit=limit, what="bytes of documents, unpacked"))
    return inflated


def _require_plain(inflated: bytes, limits: RequestLimits) -> None:
    """Each byte may be an object, and a few may ask for a long array: no file of spaCy's has many
    objects besides strings.

    inflated (bytes): What was compressed.
    limits (RequestLimits): How many texts there may be.
    RAISES (ValueError): If there are more.
    RAISES (ConnormError): CN756 for too many texts.
    """
    unpacker = _counting_unpacker(limits)
    unpacker.feed(inflated)
    for _ in range(unpacker.read_map_header()):
        name = unpacker.unpack()
        if name == "strings":
            _skip_strings(unpacker, most=limits.body // _HASH)
            continue
        value = unpacker.unpack()
        if name == "lengths":  # spaCy writes them before what it writes once a document
            limits.require_batch(len(value) // _LENGTH)
    # What spaCy reads them with leaves Python's garbage collector off where it finds more.
    if unpacker.tell() != len(inflated):
        raise ValueError("more than documents")


def _counting_unpacker(limits: RequestLimits) -> Any:
    # Flags and categories are one object per document; the rest is a handful of arrays.
    most = 2 * limits.batch + _FIELDS
    numbers = count(1)

    def keep(value: Any) -> Any:
        if next(numbers) > most:
            raise ValueError("more objects than documents have")
        return value

    bounds = {"max_array_len": limits.batch + _FIELDS, "max_map_len": _MOST_CATEGORIES}
    return Unpacker(raw=False, list_hook=keep, object_hook=keep, max_buffer_size=0, **bounds)


def _skip_strings(unpacker: Any, *, most: int) -> None:
    number = unpacker.read_array_header()
    if number > most:
        raise ValueError("more strings than hashes")
    for _ in range(number):
        unpacker.unpack()


def _without_extras(doc_bin: DocBin) -> DocBin:
    """RETURNS (DocBin): The same with words and entities alone."""
    columns = [place for place, each in enumerate(doc_bin.attrs) if each in _READ]
    doc_bin.attrs = [doc_bin.attrs[place] for place in columns]
    doc_bin.tokens = [each[:, columns] for each in doc_bin.tokens]
    doc_bin.span_groups = [b""] * len(doc_bin)
    doc_bin.user_data = [None] * len(doc_bin)
    return doc_bin


def _texts(doc_bin: DocBin, limits: RequestLimits) -> Iterator[dict[str, Any]]:
    # A vocabulary of its own: that of the pipeline would keep the strings.
    for doc in doc_bin.get_docs(Vocab()):
        limits.require_length(_length(doc))
        yield {"text": doc.text, "mentions": list(map(_mention, doc.ents))}


def _mention(span: Span) -> dict[str, Any]:
    label = span.label_
    if len(label) > _LONGEST_LABEL:
        raise ValueError("a label is too long")
    return {"start": span.start_char, "end": span.end_char, "label": label}


def _length(doc: Doc) -> int:
    """RETURNS (int): Characters. Many tokens may be one long string, so the text is not made."""
    return sum(len(token) + len(token.whitespace_) for token in doc)
