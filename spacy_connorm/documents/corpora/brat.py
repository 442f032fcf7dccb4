"""BRAT: a folder of texts (`.txt`), each with its annotations (`.ann`).

    T1	Disease 15 26	skin tumour
    N1	Reference T1 MESH:D012878	Skin Neoplasms
    T2	Cell 0 5;14 25	White blood cells

Offsets count code points of the text file, line ends as they are. Relations, events, attributes and
notes are passed over.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

from ...errors import ConnormError, Errors
from ...files.text import read_text
from ..mentions import LOCAL_PREFIX, Mention
from .documents import Document, make_mention
from .lines import Place, placed_lines, replace_surrogates
from .report import CorpusReport

_ANNOTATIONS, _TEXT = ".ann", ".txt"
_NAME = re.compile(r"[TNREAM#]\d\S*|\*")
_LOCATED = re.compile(r"(\S+) (\d{1,9} \d{1,9}(?:;\d{1,9} \d{1,9})*)")
# `Reference T1 MESH:D1` as BRAT has it, `OntoBiotope Annotation:T1 Referent:OBT:1` as BioNLP's
# shared tasks do.
_REFERENCE = re.compile(r"\S+ (?:Annotation:)?(\S+) (?:Referent:)?(\S.*)")
_PASSED_OVER = {
    "R": "relations",
    "*": "relations",
    "E": "events",
    "A": "attributes",
    "M": "attributes",
    "#": "notes",
}


def read_brat_corpus(path: Path, *, report: CorpusReport) -> Iterator[Document]:
    """Read the texts of a folder, subfolders too, in the order of their names.

    path (Path): The folder, or one `.ann` file.
    report (CorpusReport): Counts ignored annotations and problems.
    YIELDS (Document): The documents. Their ids are the names of their files.
    RAISES (ConnormError): CN215 for a line that is not BRAT's, CN216 for annotations without a
        text, and what `make_mention` and `placed_lines` raise.
    """
    folder = path if path.is_dir() else path.parent
    files = sorted(folder.rglob(f"*{_ANNOTATIONS}")) if path.is_dir() else [path]
    for file in files:
        doc_id = file.relative_to(folder).with_suffix("").as_posix()
        yield _document(doc_id, file, report=report)
    if path.is_dir():
        read = {file.with_suffix(_TEXT) for file in files}
        alone = sum(text not in read for text in folder.rglob(f"*{_TEXT}"))
        if alone:
            report.skipped["texts without annotations (.ann)"] += alone


def _document(doc_id: str, path: Path, *, report: CorpusReport) -> Document:
    lines = [(place, line.split("\t")) for place, line in placed_lines(path, report=report)]
    text_path = path.with_suffix(_TEXT)
    if not text_path.is_file():
        raise ConnormError(Errors.CN216.format(path=path, text=text_path.name))
    text = replace_surrogates(read_text(text_path), report=report)
    ids = _references(lines, report=report)
    mentions = [
        _mention(columns, text, ids.get(columns[0], []), place=place, report=report)
        for place, columns in lines
        if columns[0].startswith("T")
    ]
    return Document(doc_id, text, tuple(mentions))


def _references(
    lines: list[tuple[Place, list[str]]], *, report: CorpusReport
) -> dict[str, list[str]]:
    """RETURNS (Dict[str, List[str]]): The ids of each mention, by its name in the file."""
    mentions = {columns[0] for _, columns in lines if columns[0].startswith("T")}
    ids: dict[str, list[str]] = {}
    for place, columns in lines:
        kind = columns[0][:1]
        if not _NAME.fullmatch(columns[0]):
            _refuse(place, "it begins with no name of an annotation")
        if kind in _PASSED_OVER:
            report.skipped[_PASSED_OVER[kind]] += 1
        elif kind == "N":
            match = _REFERENCE.fullmatch(columns[1]) if len(columns) > 1 else None
            if not match:
                _refuse(place, "no mention and no id")
            if match[1] in mentions:
                ids.setdefault(match[1], []).append(match[2].removeprefix(f"{LOCAL_PREFIX}:"))
            else:
                report.skipped["ids of what is no mention"] += 1
    return ids


def _mention(
    columns: list[str], text: str, ids: list[str], *, place: Place, report: CorpusReport
) -> Mention:
    match = _LOCATED.fullmatch(columns[1]) if len(columns) > 1 else None
    if not match:
        _refuse(place, "no type with offsets")
    fragments = []
    for each in match[2].split(";"):
        start, _, end = each.partition(" ")
        fragments.append((int(start), int(end)))
    annotated = columns[2] if len(columns) > 2 else ""
    found = " ".join(text[start:end] for start, end in sorted(fragments))
    return make_mention(
        text,
        fragments,
        label=match[1],
        ids="|".join(ids),
        place=place,
        report=report,
        # Line breaks in a mention are spaces in its line.
        annotated="" if annotated.split() == found.split() else annotated,
    )


def _refuse(place: Place, reason: str) -> NoReturn:
    raise ConnormError(Errors.CN215.format(place=place, reason=reason))
