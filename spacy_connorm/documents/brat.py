"""BRAT: a folder of texts (`.txt`), each with its annotations (`.ann`).

    T1	Disease 15 26	skin tumour
    N1	Reference T1 MESH:D012878	Skin Neoplasms
    T2	Cell 0 5;14 25	White blood cells

Offsets count code points in the text file, with its own line ends. Relations, events, attributes
and notes are skipped when a corpus is read. When a folder is written, the types of its mentions are
in `annotation.conf`.
"""

import re
from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from pathlib import Path
from typing import NamedTuple

from ..errors import Errors
from ..files.json_items import json_line
from ..files.text import open_text, read_text
from .document import (
    CorpusReport,
    Document,
    Place,
    make_mention,
    placed_lines,
    replace_surrogates,
    unlike,
)
from .mentions import LOCAL_PREFIX, Mention, curie_of
from .spans import ASSERTIONS
from .writing import BREAKS, DistinctIds

_ANNOTATIONS, _TEXT = ".ann", ".txt"
_EXPECTED = (
    "`T1`, a tab, type, start and end, a tab and the text, or `N1`, a tab, `Reference T1 "
    "MESH:D003920`, a tab and the name"
)
_unlike = partial(unlike, format="BRAT", expected=_EXPECTED)
_NAME = re.compile(r"[TNREAM#]\d\S*|\*")
_LOCATED = re.compile(r"(\S+) (\d{1,9} \d{1,9}(?:;\d{1,9} \d{1,9})*)")
# `Reference T1 MESH:D1` in BRAT, `OntoBiotope Annotation:T1 Referent:OBT:1` in BioNLP's shared
# tasks do.
_REFERENCE = re.compile(r"\S+ (?:Annotation:)?(\S+) (?:Referent:)?(\S.*)")
_SKIPPED = {
    "R": "relations",
    "*": "relations",
    "E": "events",
    "A": "attributes",
    "M": "attributes",
    "#": "notes",
}
_CONFIG = "annotation.conf"
_MARK = "# Written by spacy_connorm."
_NOT_IN_NAMES = re.compile('[/\\\\:*?"<>|%\x00-\x1f\x7f\ud800-\udfff]|^[.]|[. ]$')
_NOT_IN_TYPES = re.compile(r"[^\w-]")
# Its unit is bytes: file systems allow 255, and a number and an extension follow.
_NAME_LENGTH = 100
_RENAMED = "characters in ids that are not allowed in file names became `_`"
_CUT = f"ids of more than {_NAME_LENGTH} bytes were shortened"
_RETYPED = "characters of labels other than letters, digits, `-` and `_` became `_`"
_REPLACED = "byte order marks at the start of texts became U+FFFD"
_NO_TYPE = "Mention"
_MARK_OF_ORDER = "\ufeff"

PlacedColumns = tuple[Place, list[str]]


def read_brat(path: Path, *, report: CorpusReport) -> Iterator[Document]:
    """Read the texts of a folder and its subfolders, in the order of their names.

    path (Path): The folder, or one `.ann` file.
    report (CorpusReport): Counts ignored annotations and problems.
    YIELDS (Document): The documents. Their ids are the names of their files.
    RAISES (ConnormError): CN204 for a line that is not BRAT's, CN219 for annotations without a
        text, and the errors of `make_mention` and `placed_lines`.
    """
    folder = path if path.is_dir() else path.parent
    files = sorted(folder.rglob(f"*{_ANNOTATIONS}")) if path.is_dir() else [path]
    for file in files:
        doc_id = file.relative_to(folder).with_suffix("").as_posix()
        yield _document(doc_id, file, report=report)
    if path.is_dir():
        read = {file.with_suffix(_TEXT) for file in files}
        for text in folder.rglob(f"*{_TEXT}"):
            if text not in read:
                report.skipped["texts without annotations (.ann)"] += 1


def _document(doc_id: str, path: Path, *, report: CorpusReport) -> Document:
    lines = [(place, line.split("\t")) for place, line in placed_lines(path, report=report)]
    text_path = path.with_suffix(_TEXT)
    if not text_path.is_file():
        raise Errors.CN219(place=f"'{path}'", file=f"'{text_path.name}'", folder=path.parent)
    text = replace_surrogates(read_text(text_path), report=report)
    before = _counted_before(text_path, text, lines)
    ids = _references(lines, report=report)
    mentions = []
    for place, columns in lines:
        if columns[0].startswith("T"):
            own = ids.get(columns[0], [])
            with report.odd.skip_errors():
                mentions.append(_mention(columns, text, own, before, place=place, report=report))
    return Document(doc_id, text, tuple(mentions))


def _counted_before(path: Path, text: str, lines: Iterable[PlacedColumns]) -> int:
    """Find out whether offsets count the byte order mark at the start of a text, as in BRAT.

    RETURNS (int): 1 if they do; 0 if there is no mark, or if most mentions have their text without
        it.
    """
    with path.open("rb") as file:
        if file.read(len(BOM_UTF8)) != BOM_UTF8:
            return 0
    counted = uncounted = 0
    for _, columns in lines:
        match = _LOCATED.fullmatch(columns[1]) if len(columns) > 2 else None
        if match:
            start, end = int(match[2].split()[0]), int(match[2].split()[-1])
            counted += start > 0 and text[start - 1 : end - 1] == columns[2]
            uncounted += text[start:end] == columns[2]
    return int(counted >= uncounted)


def _references(lines: list[PlacedColumns], *, report: CorpusReport) -> dict[str, list[str]]:
    """Read the ids of mentions.

    RETURNS (Dict[str, List[str]]): Ids by the name of the mention in the file.
    """
    mentions = {columns[0] for _, columns in lines if columns[0].startswith("T")}
    ids: dict[str, list[str]] = {}
    for place, columns in lines:
        kind = columns[0][:1]
        if not _NAME.fullmatch(columns[0]):
            if kind != "T":  # else it is refused as a mention
                report.odd.skip(_unlike(place, "it does not begin with the name of an annotation"))
        elif kind in _SKIPPED:
            report.skipped[_SKIPPED[kind]] += 1
        elif kind == "N":
            match = _REFERENCE.fullmatch(columns[1]) if len(columns) > 1 else None
            if not match:
                report.odd.skip(_unlike(place, "it has no mention or no id"))
            elif match[1] in mentions:
                ids.setdefault(match[1], []).append(match[2].removeprefix(f"{LOCAL_PREFIX}:"))
            else:
                report.skipped["ids of other things than mentions"] += 1
    return ids


def _mention(
    columns: list[str],
    text: str,
    ids: list[str],
    before: int,
    *,
    place: Place,
    report: CorpusReport,
) -> Mention:
    match = _LOCATED.fullmatch(columns[1]) if len(columns) > 1 else None
    if not match or not _NAME.fullmatch(columns[0]):
        raise _unlike(place, "it has no name or no type with offsets")
    fragments = []
    for span in match[2].split(";"):
        start, _, end = span.partition(" ")
        fragments.append((max(0, int(start) - before), int(end) - before))
    annotated = columns[2] if len(columns) > 2 else ""
    covered = " ".join(text[start:end] for start, end in sorted(fragments))
    return make_mention(
        text,
        fragments,
        label=match[1],
        ids="|".join(ids),
        place=place,
        report=report,
        # Line breaks in a mention are spaces in its line.
        annotated="" if annotated.split() == covered.split() else annotated,
    )


class BratFiles(NamedTuple):
    """The files written for a document.

    name (str): The name of its two files, unless another document has it.
    text (str): Its text.
    annotations (str): The lines of its annotations.
    types (Tuple[str, ...]): The types of its mentions.
    """

    name: str
    text: str
    annotations: str
    types: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class BratExporter:
    """Writes two files per document. Ids without a vocabulary are written as `LOCAL:...`.

    database (str): The vocabulary of ids without a prefix that shows it.
    """

    database: str = LOCAL_PREFIX

    def render(self, document: Document, changes: Counter[str]) -> BratFiles:
        if document.text.startswith(_MARK_OF_ORDER):
            # Readers would treat it as a byte order mark, and drop it.
            document = replace(document, text="\ufffd" + document.text[1:])
            changes[_REPLACED] += 1
        name, renamed = _NOT_IN_NAMES.subn("_", document.doc_id)
        changes[_RENAMED] += bool(renamed)
        written = name.encode()
        changes[_CUT] += len(written) > _NAME_LENGTH
        types = tuple(_type(mention, changes) for mention in document.mentions)
        lines = "".join(self._lines(document, types))
        name = written[:_NAME_LENGTH].decode(errors="ignore")
        return BratFiles(name, document.text, lines, types)

    def write(self, rendered: Iterable[BratFiles], path: Path, changes: Counter[str]) -> None:
        types: set[str] = set()
        # In some file systems, "A" and "a" are the same.
        names = DistinctIds(lambda name: (path / f"{name}{_ANNOTATIONS}").exists())
        for rendering in rendered:
            name = names.choose(rendering.name, changes)
            # BRAT counts the file's own line ends.
            for suffix, content in ((_TEXT, rendering.text), (_ANNOTATIONS, rendering.annotations)):
                with open_text(path / f"{name}{suffix}", "wt", newline="") as file:
                    file.write(content)
            types.update(rendering.types)
        attributes = (f"{assertion.capitalize()}\tArg:<ENTITY>" for assertion in ASSERTIONS)
        sections = ("[relations]", "[events]", "[attributes]", *attributes)
        config = [_MARK, "[entities]", *sorted(types), *sections]
        (path / _CONFIG).write_text("\n".join(config) + "\n", encoding="utf8")

    def is_ours(self, path: Path) -> bool:
        config = path / _CONFIG
        return config.is_file() and config.read_bytes().startswith(_MARK.encode())

    def _lines(self, document: Document, types: tuple[str, ...]) -> Iterator[str]:
        references, attributes = count(1), count(1)
        mentions = zip(document.mentions, types, strict=True)
        for number, (mention, kind) in enumerate(mentions, start=1):
            place = ";".join(f"{start} {end}" for start, end in mention.fragments)
            parts = (document.text[start:end] for start, end in mention.fragments)
            yield f"T{number}\t{kind} {place}\t{' '.join(parts).translate(BREAKS)}\n"
            for concept_id in mention.concept_ids:
                candidate = mention.find_candidate(concept_id)
                name = candidate.name.translate(BREAKS) if candidate else ""
                reference = curie_of(concept_id, self.database)
                yield f"N{next(references)}\tReference T{number} {reference}\t{name}\n"
            for assertion in mention.assertions or ():
                yield f"A{next(attributes)}\t{assertion.capitalize()} T{number}\n"
            note = _note(mention)
            if note:
                yield f"#{number}\tAnnotatorNotes T{number}\t{note}\n"


def _type(mention: Mention, changes: Counter[str]) -> str:
    kind, changed = _NOT_IN_TYPES.subn("_", mention.label)
    changes[_RETYPED] += bool(changed)
    return kind or _NO_TYPE


def _note(mention: Mention) -> str:
    """Collect what BRAT has no other place for.

    RETURNS (str): JSON.
    """
    facts = {
        "kb_id": mention.kb_id,
        "long_form": mention.long_form,
        "possibility": mention.possibility,
        "candidates": [candidate._asdict() for candidate in mention.candidates],
    }
    note = {key: value for key, value in facts.items() if value}
    return json_line(note) if note else ""
