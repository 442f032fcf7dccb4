"""BioC as XML and as JSON: one passage a document, in code points from 0."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from ...files.text import open_text
from ..mentions import NO_ID
from .documents import ExportedDocument, ExportedMention
from .settings import Dated

_SOURCE, _KEY = "spacy_connorm", "https://bioc.sourceforge.net"
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_REPLACED = "control characters became U+FFFD"
# XML readers turn a plain carriage return into a line feed.
_KEPT = {"\r": "&#13;"}


@dataclass(frozen=True, slots=True)
class BioCJsonExporter(Dated):
    """Writes one collection, a document a line."""

    def render(self, document: ExportedDocument, changes: Counter[str]) -> str:
        passage = {
            "offset": 0,
            "infons": {},
            "text": document.text,
            "sentences": [],
            "annotations": [
                {
                    "id": name,
                    "infons": _infons(mention),
                    "text": _covered(document, mention),
                    "locations": [
                        {"offset": start, "length": end - start} for start, end in mention.fragments
                    ],
                }
                for name, mention in _named(document)
            ],
            "relations": [],
        }
        record = {
            "id": document.doc_id,
            "infons": _document_infons(document),
            "passages": [passage],
            "relations": [],
        }
        return json.dumps(record, ensure_ascii=False)

    def write(self, rendered: Iterable[str], path: Path, changes: Counter[str]) -> None:
        about = {
            "source": _SOURCE,
            "date": self.day(),
            "key": _KEY,
            "version": "1.0",
            "infons": {},
        }
        with open_text(path, "wt") as file:
            file.write(json.dumps(about)[:-1] + ', "documents": [')
            for number, each in enumerate(rendered):
                file.write(f"{',' if number else ''}\n{each}")
            file.write("\n]}\n")


@dataclass(frozen=True, slots=True)
class BioCXmlExporter(Dated):
    """Writes one collection, a document a line."""

    def render(self, document: ExportedDocument, changes: Counter[str]) -> str:
        text, replaced = _NOT_XML.subn("\ufffd", document.text)
        if replaced:
            changes[_REPLACED] += replaced
        parts = ["<document>", _element("id", document.doc_id)]
        parts += _xml_infons(_document_infons(document))
        parts += ["<passage><offset>0</offset>", _element("text", text)]
        for name, mention in _named(document):
            parts.append(f"<annotation id={quoteattr(name)}>")
            parts += _xml_infons(_infons(mention))
            parts += (
                f'<location offset="{start}" length="{end - start}"/>'
                for start, end in mention.fragments
            )
            parts += [_element("text", _covered(document, mention)), "</annotation>"]
        return "".join([*parts, "</passage></document>"])

    def write(self, rendered: Iterable[str], path: Path, changes: Counter[str]) -> None:
        about = {"source": _SOURCE, "date": self.day(), "key": _KEY}
        with open_text(path, "wt", newline="") as file:
            file.write('<?xml version="1.0" encoding="UTF-8"?>\n')
            file.write('<!DOCTYPE collection SYSTEM "BioC.dtd">\n<collection>')
            file.write("".join(_element(*each) for each in about.items()) + "\n")
            for each in rendered:
                file.write(f"{each}\n")
            file.write("</collection>\n")


def _named(document: ExportedDocument) -> Iterator[tuple[str, ExportedMention]]:
    return ((str(number), each) for number, each in enumerate(document.mentions, start=1))


def _covered(document: ExportedDocument, mention: ExportedMention) -> str:
    """RETURNS (str): All from the start of a mention to its end, gaps too, as validators expect."""
    return document.text[mention.start : mention.end]


def _infons(mention: ExportedMention) -> dict[str, str]:
    leading = mention.leading
    names = [each.name for each in leading if each.concept_id in mention.concept_ids]
    probabilities = [each.probability for each in leading if each.probability is not None]
    infons = {
        "type": mention.label,
        "identifier": NO_ID if mention.is_nil else mention.kb_id,
        "name": "|".join(names),
        "score": str(min((each.score for each in leading), default="")),
        "probability": str(min(probabilities, default="")),
        "long_form": mention.long_form,
    }
    if mention.candidates:
        candidates = [each._asdict() for each in mention.candidates]
        infons["candidates"] = json.dumps(candidates, ensure_ascii=False)
    return {key: value for key, value in infons.items() if value or key == "type"}


def _document_infons(document: ExportedDocument) -> dict[str, str]:
    return {key: _as_text(value) for key, value in document.fields.items()}


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _xml_infons(infons: dict[str, str]) -> Iterator[str]:
    return (
        f"<infon key={quoteattr(_allowed(key))}>{escape(_allowed(value), _KEPT)}</infon>"
        for key, value in infons.items()
    )


def _element(tag: str, text: str) -> str:
    return f"<{tag}>{escape(_allowed(text), _KEPT)}</{tag}>"


def _allowed(text: str) -> str:
    return _NOT_XML.sub("\ufffd", text)
