"""Read XML piece by piece, or element by element, since a file of any size may be a single line."""

import codecs
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element, ParseError, XMLPullParser
from xml.parsers.expat import ErrorString, ExpatError, ParserCreate

from ..errors import Errors, unreadable
from .text import SURROGATES, existing_file, open_bytes

_BYTES = 1 << 16
_START = b"<?xml"
_DECLARED = re.compile(r"""<\?xml\s[^>]*?\bencoding\s*=\s*["']([\w.-]+)["']""")
_UTF8 = "utf-8-sig"
_IN_UTF8 = ("utf-8", "ascii", _UTF8)
_ENTITY = "<!ENTITY"
_ENTITY_LENGTH = 1_000
_SURROGATE = "it has a lone surrogate, which XML can't hold"


def read_elements(path: str | Path) -> Iterator[tuple[str, Element, int]]:
    """Read XML element by element. Entities declared in the file are refused, not resolved, and
    nothing outside the file is read.

    path (Union[str, Path]): The file; a `.gz` file is read through gzip.
    YIELDS (Tuple[str, Element, int]): "start" or "end", the element, and the line. Elements stay in
        memory: clear those that are no longer needed.
    RAISES (ConnormError): CN115 for a file that is not XML, and the errors of `read_pieces`.
    """
    parser: Any = XMLPullParser(("start", "end"))
    line, before = 1, ""
    try:
        for line, text in _lines(path):
            if _ENTITY in before + text:
                raise unreadable(path, line, "XML", "it declares entities, which are not resolved")
            before = text[-len(_ENTITY) :]
            parser.feed(text)
            yield from ((*event, line) for event in parser.read_events())
        parser.close()
    except ParseError as error:
        # The parser's message repeats names of entities.
        raise unreadable(path, error.position[0], "XML", ErrorString(error.code)) from None
    except UnicodeEncodeError:
        raise unreadable(path, line, "XML", _SURROGATE) from None
    yield from ((*event, line) for event in parser.read_events())


def require_plain_entities(path: Path) -> None:
    """Refuse entities other than short texts. A few lines of entities that use others can stand for
    terabytes; OWL files have entities for the beginnings of IRIs.

    path (Path): An XML file.
    RAISES (ConnormError): CN115, and the errors of `read_pieces`.
    """
    parser = ParserCreate()
    line, has_begun = 1, False

    def begin(*_: object) -> None:
        nonlocal has_begun
        has_begun = True

    def declare(name: str, is_parameter: bool, value: str | None, *_: object) -> None:
        if value is None or "&" in value or len(value) > _ENTITY_LENGTH:
            raise unreadable(path, line, "XML", "it declares an entity that is not a short text")

    parser.StartElementHandler, parser.EntityDeclHandler = begin, declare
    try:
        for line, text in _lines(path):
            parser.Parse(text)
            if has_begun:
                return
    except ExpatError as error:
        raise unreadable(path, error.lineno, "XML", ErrorString(error.code)) from None
    except UnicodeEncodeError:
        raise unreadable(path, line, "XML", _SURROGATE) from None


def _lines(path: str | Path) -> Iterator[tuple[int, str]]:
    """Read numbered lines; long ones in several pieces.

    YIELDS (Tuple[int, str]): The line number and the piece.
    """
    for first, piece in read_pieces(path):
        yield from enumerate(re.findall(r"[^\n]*\n|[^\n]+", piece), start=first)


def read_pieces(path: str | Path) -> Iterator[tuple[int, str]]:
    """Read a text file piece by piece, in the encoding named in its XML declaration, or else as
    UTF-8.

    path (Union[str, Path]): The file; a `.gz` file is read through gzip.
    YIELDS (Tuple[int, str]): The number of the line, from 1, in which a piece begins, and the
        piece. It may end anywhere, and has the file's line ends.
    RAISES (ConnormError): The errors of `read_lines`; CN107 for a file that is not in its encoding.
    """
    path = existing_file(path)
    line = 1
    try:
        with open_bytes(path) as file:
            piece = file.read(_BYTES)
            decoder = _decoder(piece)
            while piece:
                text = decoder.decode(piece)
                yield line, text
                line += text.count("\n")
                piece = file.read(_BYTES)
            decoder.decode(b"", final=True)
    except UnicodeDecodeError as error:
        line += error.object.count(b"\n", 0, error.start)
        raise Errors.CN107(path=path, line=line) from error
    except (OSError, EOFError, zlib.error) as error:
        raise Errors.CN106(path=path, line=line, reason=error) from error


def _decoder(head: bytes) -> codecs.IncrementalDecoder:
    """Choose the decoder for a file by its first bytes."""
    # Each byte is a letter in this encoding.
    declared = _DECLARED.match(head.decode("latin-1"))
    name = declared[1] if declared else ""
    if _is_usable(name):
        return codecs.getincrementaldecoder(name)()
    return codecs.getincrementaldecoder(_UTF8)(SURROGATES)


def _is_usable(name: str) -> bool:
    """Check whether an encoding is known, is not a subset of UTF-8, and can be the one that its
    declaration is written in. If not, reading the file as UTF-8 is just as good.
    """
    try:
        return codecs.lookup(name).name not in _IN_UTF8 and _START.decode(name) == _START.decode()
    except (LookupError, ValueError):
        return False
