"""BioC's XML, document by document."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

from ...files.xml import read_pieces
from .bioc_records import (
    BioCAnnotation,
    BioCDocument,
    BioCPassage,
    BioCTextPart,
    refuse_bioc,
    whole_number,
)
from .lines import Place

# No attribute of XML can have this name.
_LINE = " line"
_COLLECTION, _DOCUMENT = "collection", "document"


def read_xml_documents(path: Path) -> Iterator[BioCDocument]:
    """Read the documents of a BioC XML file; one at a time is in memory. No entity is resolved, and
    nothing outside the file is read.

    path (Path): The file.
    YIELDS (BioCDocument): The documents.
    RAISES (ConnormError): CN214 for a file that is not BioC XML, and what `read_pieces`
        raises.
    """
    parser = _Parser(path)
    for line, piece in read_pieces(path):
        parser.feed(piece, line)
        yield from parser.take()
    parser.close()
    yield from parser.take()


class _Parser:
    """Collects whole documents, each element with its line."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._builder: TreeBuilder | None = None
        self._documents: list[BioCDocument] = []
        self._has_root = False
        parser = expat.ParserCreate()
        parser.buffer_text = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._data
        parser.EntityDeclHandler = self._refuse_entities
        parser.SkippedEntityHandler = self._refuse_entities
        self._expat = parser

    def feed(self, text: str, line: int) -> None:
        """Read on.

        text (str): The next piece of the file.
        line (int): The number of the line that it begins in.
        """
        try:
            self._expat.Parse(text, False)
        except UnicodeEncodeError as error:
            place = Place(self._path, line + text.count("\n", 0, error.start))
            refuse_bioc(place, "it has a lone surrogate, which XML can't hold")
        except expat.ExpatError as error:  # names of entities stand only in its message
            refuse_bioc(self._place, expat.ErrorString(error.code))

    def close(self) -> None:
        try:
            self._expat.Parse("", True)
        except expat.ExpatError as error:
            refuse_bioc(self._place, expat.ErrorString(error.code))

    def take(self) -> list[BioCDocument]:
        documents, self._documents = self._documents, []
        return documents

    @property
    def _place(self) -> Place:
        return Place(self._path, self._expat.CurrentLineNumber)

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        if not self._has_root:
            self._has_root = True
            if tag != _COLLECTION:
                refuse_bioc(self._place, "it does not begin with <collection>")
        elif tag == _DOCUMENT and self._builder is None:
            self._builder = TreeBuilder()
        if self._builder is not None:
            self._builder.start(tag, {**attributes, _LINE: str(self._place.line)})

    def _data(self, text: str) -> None:
        if self._builder is not None:
            self._builder.data(text)

    def _end(self, tag: str) -> None:
        if self._builder is None:
            return
        self._builder.end(tag)
        if tag == _DOCUMENT:
            self._documents.append(_document(self._builder.close(), self._path))
            self._builder = None

    def _refuse_entities(self, *declaration: Any) -> None:
        refuse_bioc(self._place, "it has entities of its own, which are not resolved")


def _document(element: Element, path: Path) -> BioCDocument:
    place = _place(element, path)
    return BioCDocument(
        element.findtext("id") or str(place.line),
        [_passage(each, path) for each in element.iterfind("passage")],
        _annotations(element, path),
        sum(1 for _ in element.iter("relation")),
    )


def _passage(element: Element, path: Path) -> BioCPassage:
    if element.find("text") is not None:
        return BioCPassage([_part(element, path)])
    sentences = [_part(each, path) for each in element.iterfind("sentence")]
    return BioCPassage(sentences, _annotations(element, path))


def _part(element: Element, path: Path) -> BioCTextPart:
    place = _place(element, path)
    offset = whole_number(element.findtext("offset"), name="offset", place=place)
    return BioCTextPart(offset, element.findtext("text") or "", _annotations(element, path))


def _annotations(element: Element, path: Path) -> list[BioCAnnotation]:
    return [_annotation(each, path) for each in element.iterfind("annotation")]


def _annotation(element: Element, path: Path) -> BioCAnnotation:
    place = _place(element, path)
    infons = {each.get("key") or "": each.text or "" for each in element.iterfind("infon")}
    locations = [
        (
            whole_number(each.get("offset"), name="offset", place=_place(each, path)),
            whole_number(each.get("length"), name="length", place=_place(each, path)),
        )
        for each in element.iterfind("location")
    ]
    return BioCAnnotation(place, element.findtext("text") or "", infons, locations)


def _place(element: Element, path: Path) -> Place:
    return Place(path, int(element.attrib[_LINE]))
