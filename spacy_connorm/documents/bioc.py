"""BioC, as XML or JSON: PubTator's and PubMed Central's exports, BC5CDR and others.

    <collection><document><id>10192393</id>
      <passage><offset>0</offset><text>A common human skin tumour</text>
        <annotation id="1"><infon key="type">Disease</infon><infon key="MESH">D012878</infon>
          <location offset="15" length="11"/><text>skin tumour</text></annotation>
      </passage>
    </document></collection>

XML is read into the objects of BioC's JSON, and written from them, so that everything else is the
same for both. The passages of a document are joined by a line break, the sentences of a passage by
a space. Offsets count code points from the start of the document, as PubTator and the library
`bioc` do; the text of an annotation shows if a file counts otherwise (bytes, or UTF-16 code units);
such mentions are reported.

The library itself resolves entities declared in the file, gives no line numbers, and reads neither
PubTator's lists nor one document per line. So it is used only in the tests, to check what is
written here.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, NoReturn
from xml.etree.ElementTree import Element
from xml.sax.saxutils import escape, quoteattr

from ..concepts.curies import PREFIXES, join_curie
from ..errors import ConnormError, Errors, quote
from ..files.json_items import json_line
from ..files.odd_lines import OddLines
from ..files.text import open_text, read_lines
from ..files.xml import read_elements, read_pieces
from .document import CorpusReport, Document, Place, make_mention, replace_surrogates, unlike
from .mentions import NO_ID, SEPARATORS, Mention
from .writing import Dated

Record = dict[Any, Any]

_EXPECTED = (
    "XML or JSON with documents, their passages with `offset` and `text`, and annotations with "
    "`infon`s and locations"
)
_unlike = partial(unlike, format="BioC", expected=_EXPECTED)
_ID_KEYS = ("identifier", "concept_id", "conceptid")
# Vocabularies by the keys that NCBI's tools write.
_NCBI = {"NCBI GENE": "NCBIGene", "GENE": "NCBIGene", "NCBI TAXONOMY": "NCBITaxon"}
_ID_SEPARATOR = "|"
# The JSON fields with documents; the second is from PubTator's export.
_LISTS = ("documents", "PubTator3")
_VISIBLE = re.compile(r"[^ \t\n\r]")
# Strings, including an unterminated one; line breaks; objects that are not empty.
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*(?:"|\\?\Z)|\n|\{(?![ \t\n\r]*\})', re.DOTALL)
# The content of each XML element, so that a file with deeper nesting does no harm.
_CHILDREN = {
    "document": ("passage", "annotation", "relation"),
    "passage": ("sentence", "annotation", "relation"),
    "sentence": ("annotation", "relation"),
    "annotation": ("location",),
}
_TEXTS = ("id", "offset", "text")
# The line of an element: no XML attribute and no JSON field can have these names.
_LINE_ATTRIBUTE = " line"
_LINE = object()
_SOURCE, _KEY = "spacy_connorm", "https://bioc.sourceforge.net"
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_REPLACED = "control characters became U+FFFD"
# XML readers turn a plain carriage return into a line feed.
_KEPT = {"\r": "&#13;"}


class _Block(NamedTuple):
    """A passage or a sentence: where its text starts according to the file, and in our text."""

    offset: int
    start: int
    text: str

    def place(self, offset: int, *, gap: int = 0) -> int | None:
        inside = self.offset <= offset < self.offset + len(self.text) + gap
        return offset + self.start - self.offset if inside else None


def read_bioc(path: Path, *, report: CorpusReport) -> Iterator[Document]:
    """Read the documents of a BioC file.

    path (Path): The file, XML or JSON: a collection, or one document per line.
    report (CorpusReport): Counts ignored relations and problems.
    YIELDS (Document): The documents.
    RAISES (ConnormError): CN204 for a file that is not BioC, CN207 for too many offsets outside all
        passages, and the errors of `make_mention`, `read_elements` and `read_lines`.
    """
    first = next((text.lstrip() for _, text in read_pieces(path) if text.strip()), "")
    records = _read_xml(path) if first.startswith("<") else _read_json(path, report.odd)
    for place, record in records:
        for part in report.odd.count(_unfolded(record)):
            part_place = _place_of(part, place) if isinstance(part, dict) else place
            with report.odd.skip_errors():
                yield _document(part, part_place, report=report)


def _unfolded(record: Any) -> list[Any]:
    """List the documents of a collection in a list, as in PubMed Central's API; any other object is
    returned alone.
    """
    lists = (record.get(key) for key in _LISTS) if isinstance(record, dict) else ()
    return next((name for name in lists if isinstance(name, list)), [record])


def _document(record: Record, place: Place, *, report: CorpusReport) -> Document:
    doc_id = str(_field(record, "id", (str, int), place) or place.line)
    doc_id = replace_surrogates(doc_id, report=report)
    place = place.within("document", doc_id)
    blocks: list[_Block] = []
    owners: list[tuple[Record, _Block | None]] = []
    text, relations = "", len(_list(record, "relations", place))
    passages = _list(record, "passages", place)
    for passage in passages:
        has_text = _field(passage, "text", str, place) is not None
        sentences = _list(passage, "sentences", place)
        parts, others = ([passage], sentences) if has_text else (sentences, [passage])
        for number, part in enumerate(parts):
            if blocks:
                text += " " if number else "\n"
            part_text = replace_surrogates(_field(part, "text", str, place) or "", report=report)
            blocks.append(_Block(_whole_number(part, "offset", place), len(text), part_text))
            text += part_text
            owners += ((annotation, blocks[-1]) for annotation in _list(part, "annotations", place))
        for part in others:
            owners += ((annotation, None) for annotation in _list(part, "annotations", place))
        relations += sum(len(_list(part, "relations", place)) for part in (passage, *sentences))
    owners += ((annotation, None) for annotation in _list(record, "annotations", place))
    if relations:
        report.skipped["relations"] += relations
    mentions = []
    for annotation, block in report.odd.count(owners):
        with report.odd.skip_errors():
            if _list(annotation, "locations", place):
                mentions.append(_mention(annotation, text, block, blocks, place, report=report))
            else:
                report.skipped["annotations without a location"] += 1
    return Document(doc_id, text, tuple(mentions), passages=len(passages))


def _mention(
    annotation: Record,
    text: str,
    block: _Block | None,
    blocks: list[_Block],
    place: Place,
    *,
    report: CorpusReport,
) -> Mention:
    place = _place_of(annotation, place)
    if own_id := _field(annotation, "id", (str, int), place):
        place = place.within("annotation", str(own_id))
    locations = [
        (_whole_number(location, "offset", place), _whole_number(location, "length", place))
        for location in _list(annotation, "locations", place)
    ]
    fragments = [_located(*location, block, blocks, place) for location in locations]
    covered = text[min(start for start, _ in fragments) : max(end for _, end in fragments)]
    annotated = _field(annotation, "text", str, place) or ""
    annotated = replace_surrogates(annotated, report=report).replace(" ... ", " ")
    infons = _infons_of(annotation, place, report=report)
    kind = infons.get("type", "")
    return make_mention(
        text,
        fragments,
        label=replace_surrogates(kind, report=report),
        ids=replace_surrogates(_ids(infons, kind), report=report),
        place=place,
        report=report,
        # Some files also write the gaps of a mention.
        annotated="" if _squeezed(annotated) == _squeezed(covered) else annotated,
    )


def _squeezed(text: str) -> str:
    return "".join(text.split())


def _located(
    offset: int, length: int, owner: _Block | None, blocks: list[_Block], place: Place
) -> tuple[int, int]:
    # Its first and its last character, since the next block may begin where this one ends.
    first, last = (_in_text(end, owner, blocks) for end in (offset, offset + length - 1))
    if first is None or last is None:
        total = max((block.offset + len(block.text) for block in blocks), default=0)
        end = offset + length
        raise Errors.CN207(place=place, start=offset, end=end, length=total)
    return first, last + 1


def _in_text(offset: int, owner: _Block | None, blocks: list[_Block]) -> int | None:
    place = owner.place(offset) if owner else None
    if place is not None:
        return place
    # The separator between two blocks is also a character.
    placed = (block.place(offset, gap=gap) for gap in (0, 1) for block in blocks)
    return next((block for block in placed if block is not None), None)


def _ids(infons: dict[str, str], kind: str) -> str:
    for key in _ID_KEYS:
        if infons.get(key):
            return infons[key]
    for key, value in infons.items():
        prefix = _NCBI.get(key.upper()) or (PREFIXES.prefix(key) if PREFIXES.knows(key) else "")
        if prefix and value:
            parts = SEPARATORS.split(value)
            parts[::2] = [_with_prefix(prefix, part.strip()) for part in parts[::2]]
            return "".join(parts)
    # Some tools name it after the type: "Disease" beside the type Disease.
    return infons.get(kind.lower(), "") if kind else ""


def _with_prefix(prefix: str, local_id: str) -> str:
    return local_id if local_id in ("", "-", NO_ID) else join_curie(prefix, local_id)


def _infons_of(record: Record, place: Place, *, report: CorpusReport) -> dict[str, str]:
    """Read the infons of an object as texts, their keys in lower case. JSON may have several ids as
    a list; what is no text there, is counted.
    """
    infons: dict[str, str] = {}
    for key, value in (_field(record, "infons", dict, place) or {}).items():
        if key is _LINE or value is None:
            continue
        values = value if isinstance(value, list) else [value]
        texts = [str(item) for item in values if isinstance(item, str | int | float)]
        if len(texts) < len(values):
            report.skipped["values of infons that are not texts"] += len(values) - len(texts)
        infons[key.lower()] = _ID_SEPARATOR.join(texts)
    return infons


def _list(record: Any, key: str, place: Place) -> list[Any]:
    return _field(record, key, list, place) or []


def _field(record: Any, key: str, expected: Any, place: Place) -> Any:
    """Read a field of an object.

    RETURNS (Any): The value; None if it is missing or null.
    """
    if not isinstance(record, dict):
        _refuse(place, f"an object with `{key}` is expected, not {quote(record)}")
    value = record.get(key)
    if value is not None and not isinstance(value, expected):
        _refuse(_place_of(record, place), f"`{key}` is {quote(value)}")
    return value


def _place_of(record: Record, place: Place) -> Place:
    return place._replace(line=record.get(_LINE, place.line))


def _whole_number(record: Any, key: str, place: Place) -> int:
    value = _field(record, key, (str, int), place)
    try:
        if value is not None and not isinstance(value, bool):
            return int(value)
    except ValueError:
        pass  # the error of `int` repeats the text
    _refuse(_place_of(record, place), f"`{key}` is {quote(value)}, not a whole number")


def _refuse(place: Place, reason: object) -> NoReturn:
    raise _unlike(place, reason) from None


def _read_xml(path: Path) -> Iterator[tuple[Place, Record]]:
    """Read the documents of an XML file, one at a time.

    YIELDS (Tuple[Place, Dict]): The documents.
    """
    is_first = True
    for event, element, line in read_elements(path):
        if is_first and element.tag != "collection":
            _refuse(Place(path, line), "it does not begin with <collection>")
        is_first = False
        if event == "start":
            element.set(_LINE_ATTRIBUTE, str(line))
        elif element.tag == "document":
            record = _as_json(element)
            yield Place(path, record[_LINE]), record
            element.clear()


def _as_json(element: Element) -> Record:
    """Convert an XML element to an object of BioC's JSON, with its line."""
    record: Record = dict(element.attrib)
    record[_LINE] = int(record.pop(_LINE_ATTRIBUTE))
    record |= {tag: text for tag in _TEXTS if (text := element.findtext(tag)) is not None}
    record["infons"] = {
        infon.get("key") or "": infon.text or "" for infon in element.iterfind("infon")
    }
    for tag in _CHILDREN.get(element.tag, ()):
        record[f"{tag}s"] = list(map(_as_json, element.iterfind(tag)))
    return record


def _read_json(path: Path, odd: OddLines) -> Iterator[tuple[Place, Any]]:
    """Read a JSON file. One value of the file is in memory at a time: the whole file, or a line.
    After an odd one, it is read on from the next line.

    YIELDS (Tuple[Place, Any]): Collections, documents, or the items of lists of them.
    """
    text, line, index = _marked("\n".join(line for _, line in read_lines(path))), 1, 0
    decoder = json.JSONDecoder(object_pairs_hook=_with_line)
    while match := _VISIBLE.search(text, index):
        line += text.count("\n", index, match.start())
        place, index = Place(path, line), match.start()
        try:
            value, end = decoder.raw_decode(text, index)
            if isinstance(value, dict) and not value.keys() & {"passages", *_LISTS}:
                _refuse(place, "it has neither `documents` nor `passages`")
        except ConnormError as error:
            odd.skip(error)
        except json.JSONDecodeError as error:
            odd.skip(_unlike(Place(path, error.lineno), error.msg))
            end = text.find("\n", index)
        except (ValueError, RecursionError):
            odd.skip(_unlike(place, "its values are nested too deeply, or a number is too long"))
            end = text.find("\n", index)
        else:
            yield from ((place, item) for item in (value if isinstance(value, list) else [value]))
        if end < 0:
            return
        line += text.count("\n", index, end)
        index = end


def _marked(text: str) -> str:
    """Add a field to the objects of JSON with the number of their line.

    RETURNS (str): The JSON with these fields.
    """
    line = 1

    def mark(match: re.Match[str]) -> str:
        nonlocal line
        line += match[0].count("\n")
        return f'{{"": {line}, ' if match[0] == "{" else match[0]

    return _TOKEN.sub(mark, text)


def _with_line(fields: list[tuple[Any, Any]]) -> Record:
    record: Record = dict(fields[1:])
    return {**record, _LINE: fields[0][1]} if fields else record


@dataclass(frozen=True, slots=True)
class BioCJsonExporter(Dated):
    """Writes one collection, with a document per line."""

    def render(self, document: Document, changes: Counter[str]) -> str:
        return json_line(_record(document))

    def write(self, rendered: Iterable[str], path: Path, changes: Counter[str]) -> None:
        about = {**_about(self.day()), "version": "1.0", "infons": {}}
        with open_text(path, "wt") as file:
            file.write(json.dumps(about)[:-1] + ', "documents": [')
            for number, rendering in enumerate(rendered):
                file.write(f"{',' if number else ''}\n{rendering}")
            file.write("\n]}\n")


@dataclass(frozen=True, slots=True)
class BioCXmlExporter(Dated):
    """Writes one collection, with a document per line."""

    def render(self, document: Document, changes: Counter[str]) -> str:
        changes[_REPLACED] += len(_NOT_XML.findall(document.text))
        record = _record(document)
        (passage,) = record["passages"]
        parts = ["<document>", _element("id", record["id"]), *_xml_infons(record)]
        parts += ["<passage><offset>0</offset>", _element("text", passage["text"])]
        for annotation in passage["annotations"]:
            parts += [f"<annotation id={quoteattr(annotation['id'])}>", *_xml_infons(annotation)]
            parts += (
                f'<location offset="{place["offset"]}" length="{place["length"]}"/>'
                for place in annotation["locations"]
            )
            parts += [_element("text", annotation["text"]), "</annotation>"]
        return "".join([*parts, "</passage></document>"])

    def write(self, rendered: Iterable[str], path: Path, changes: Counter[str]) -> None:
        about = "".join(_element(*item) for item in _about(self.day()).items())
        with open_text(path, "wt", newline="") as file:
            file.write('<?xml version="1.0" encoding="UTF-8"?>\n')
            file.write(f'<!DOCTYPE collection SYSTEM "BioC.dtd">\n<collection>{about}\n')
            file.writelines(f"{rendering}\n" for rendering in rendered)
            file.write("</collection>\n")


def _about(day: str) -> dict[str, str]:
    """Describe a collection."""
    return {"source": _SOURCE, "date": day, "key": _KEY}


def _record(document: Document) -> Record:
    """Convert a document to BioC's JSON: one passage, with offsets in code points from 0."""
    annotations = [
        {
            "id": str(number),
            "infons": _infons(mention),
            # Everything from its start to its end, including gaps, as validators expect.
            "text": document.text[slice(*mention.extent)],
            "locations": [
                {"offset": start, "length": end - start} for start, end in mention.fragments
            ],
        }
        for number, mention in enumerate(document.mentions, start=1)
    ]
    passage = {
        "offset": 0,
        "infons": {},
        "text": document.text,
        "sentences": [],
        "annotations": annotations,
        "relations": [],
    }
    return {
        "id": document.doc_id,
        "infons": {key: _as_text(value) for key, value in document.fields.items()},
        "passages": [passage],
        "relations": [],
    }


def _infons(mention: Mention) -> dict[str, str]:
    candidates = [candidate._asdict() for candidate in mention.candidates]
    infons = {
        "type": mention.label,
        "identifier": NO_ID if mention.is_nil else mention.kb_id,
        "name": mention.names,
        "score": "" if mention.score is None else str(mention.score),
        "probability": "" if mention.probability is None else str(mention.probability),
        "long_form": mention.long_form,
        "assertions": "|".join(mention.assertions or ()),
        "possibility": mention.possibility,
        "candidates": json_line(candidates) if candidates else "",
    }
    return {key: value for key, value in infons.items() if value or key == "type"}


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else json_line(value)


def _xml_infons(record: Record) -> Iterator[str]:
    return (
        f"<infon key={quoteattr(_allowed(key))}>{escape(_allowed(value), _KEPT)}</infon>"
        for key, value in record["infons"].items()
    )


def _element(tag: str, text: str) -> str:
    return f"<{tag}>{escape(_allowed(text), _KEPT)}</{tag}>"


def _allowed(text: str) -> str:
    return _NOT_XML.sub("\ufffd", text)
