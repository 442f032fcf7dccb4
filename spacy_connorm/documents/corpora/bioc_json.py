"""BioC's JSON, document by document: a collection, PubTator's lists, or one object per line."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ...errors import quote
from ...files.text import read_lines
from .bioc_records import (
    BioCAnnotation,
    BioCDocument,
    BioCPassage,
    BioCTextPart,
    Infons,
    refuse_bioc,
    whole_number,
)
from .lines import Place

# The fields that hold documents; the second is that of PubTator's export.
_LISTS = ("documents", "PubTator3")
_PASSAGES = "passages"
_WHITE_SPACE = re.compile(r"[ \t\n\r]+")


def read_json_documents(path: Path) -> Iterator[BioCDocument]:
    """Read the documents of a BioC JSON file; its text is in memory, the documents one at a time.

    path (Path): The file.
    YIELDS (BioCDocument): The documents.
    RAISES (ConnormError): CN214 for a file that is not BioC JSON, and what `read_lines` raises.
    """
    text = "\n".join(line for _, line in read_lines(path))
    cursor = _Cursor(text, path)
    while not cursor.is_at_end:
        for place, value in cursor.documents():
            yield _document(value, place)


class _Cursor:
    """Reads JSON up to the documents, and then one after the other, so that each has its line."""

    def __init__(self, text: str, path: Path) -> None:
        self._text = text
        self._path = path
        self._decoder = json.JSONDecoder()
        self._index = 0
        self._counted, self._line = 0, 1
        self._skip()

    @property
    def is_at_end(self) -> bool:
        return self._index == len(self._text)

    def documents(self) -> Iterator[tuple[Place, Any]]:
        """YIELDS (Tuple[Place, Any]): The documents of the next value: of a collection, of a list,
        or the value itself.
        """
        place = self._place()
        if self._text.startswith("[", self._index):
            yield from self._items()
        elif self._text.startswith("{", self._index):
            fields: dict[str, Any] = {}
            has_list = False
            for key in self._keys():
                if key in _LISTS and self._text.startswith("[", self._index):
                    has_list = True
                    yield from self._items()
                else:
                    fields[key] = self._value()
            if _PASSAGES in fields:
                yield place, fields
            elif not has_list:
                refuse_bioc(place, "it has neither `documents` nor `passages`")
        else:
            refuse_bioc(place, "it does not begin with { or [")

    def _items(self) -> Iterator[tuple[Place, Any]]:
        for _ in self._separated("]"):
            place = self._place()
            yield place, self._value()

    def _keys(self) -> Iterator[str]:
        for _ in self._separated("}"):
            key = self._value()
            if not isinstance(key, str):
                refuse_bioc(self._place(), "a name of a field is not a string")
            self._take(":")
            yield key

    def _separated(self, closing: str) -> Iterator[None]:
        self._take(self._text[self._index])
        if self._text.startswith(closing, self._index):
            self._take(closing)
            return
        while True:
            yield
            if self._text.startswith(closing, self._index):
                self._take(closing)
                return
            self._take(",")

    def _take(self, character: str) -> None:
        if not self._text.startswith(character, self._index):
            refuse_bioc(self._place(), f"a {character!r} is missing")
        self._index += 1
        self._skip()

    def _value(self) -> Any:
        try:
            value, self._index = self._decoder.raw_decode(self._text, self._index)
        except json.JSONDecodeError as error:
            self._index = error.pos
            refuse_bioc(self._place(), error.msg)
        except (ValueError, RecursionError):
            refuse_bioc(self._place(), "its values are nested too deep, or a number is too long")
        self._skip()
        return value

    def _skip(self) -> None:
        match = _WHITE_SPACE.match(self._text, self._index)
        self._index = match.end() if match else self._index

    def _place(self) -> Place:
        self._line += self._text.count("\n", self._counted, self._index)
        self._counted = self._index
        return Place(self._path, self._line)


def _document(value: Any, place: Place) -> BioCDocument:
    return BioCDocument(
        _text(_field(value, "id", (str, int), place=place)) or str(place.line),
        [_passage(each, place) for each in _list(value, _PASSAGES, place=place)],
        _annotations(value, place),
        _relations(value, place),
    )


def _passage(value: Any, place: Place) -> BioCPassage:
    if _field(value, "text", str, place=place) is not None:
        return BioCPassage([_part(value, place)])
    sentences = [_part(each, place) for each in _list(value, "sentences", place=place)]
    return BioCPassage(sentences, _annotations(value, place))


def _part(value: Any, place: Place) -> BioCTextPart:
    offset = whole_number(
        _field(value, "offset", (str, int), place=place), name="offset", place=place
    )
    text = _text(_field(value, "text", str, place=place))
    return BioCTextPart(offset, text, _annotations(value, place))


def _annotations(value: Any, place: Place) -> list[BioCAnnotation]:
    return [_annotation(each, place) for each in _list(value, "annotations", place=place)]


def _annotation(value: Any, place: Place) -> BioCAnnotation:
    locations = [
        (
            whole_number(
                _field(each, "offset", (str, int), place=place), name="offset", place=place
            ),
            whole_number(
                _field(each, "length", (str, int), place=place), name="length", place=place
            ),
        )
        for each in _list(value, "locations", place=place)
    ]
    text = _text(_field(value, "text", str, place=place))
    return BioCAnnotation(place, text, _infons(value, place), locations)


def _infons(value: Any, place: Place) -> Infons:
    infons = _field(value, "infons", dict, place=place) or {}
    return {key: _text(each) for key, each in infons.items() if isinstance(each, str | int)}


def _relations(value: Any, place: Place) -> int:
    passages = _list(value, _PASSAGES, place=place)
    sentences = [each for one in passages for each in _list(one, "sentences", place=place)]
    owners = [value, *passages, *sentences]
    return sum(len(_list(owner, "relations", place=place)) for owner in owners)


def _list(value: Any, key: str, *, place: Place) -> list[Any]:
    return _field(value, key, list, place=place) or []


def _field(value: Any, key: str, expected: Any, *, place: Place) -> Any:
    """RETURNS (Any): A field of an object; None if it is missing or null."""
    if not isinstance(value, dict):
        refuse_bioc(place, f"an object with `{key}` is expected, not {quote(value)}")
    found = value.get(key)
    if found is not None and not isinstance(found, expected):
        refuse_bioc(place, f"`{key}` is {quote(found)}")
    return found


def _text(value: Any) -> str:
    return "" if value is None else str(value)
