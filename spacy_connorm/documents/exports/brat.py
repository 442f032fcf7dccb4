"""BRAT: a folder with a `.txt` and an `.ann` a document, in code points from 0, and the types of
the mentions in `annotation.conf`."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from ...concepts.curies import PREFIXES
from ...files.text import open_text
from ..mentions import LOCAL_PREFIX
from .distinct_ids import DistinctIds
from .documents import ExportedDocument, ExportedMention

_CONFIG = "annotation.conf"
_MARK = "# Written by spacy_connorm."
_BREAKS = str.maketrans(dict.fromkeys("\n\r\t", " "))
_NOT_IN_NAMES = re.compile(r'[/\\:*?"<>|%\x00-\x1f\x7f]|^\.|[. ]$')
_NOT_IN_TYPES = re.compile(r"[^\w-]")
_NAME_LENGTH = 100
_RENAMED = "characters of ids that names of files can't have became `_`"
_CUT = f"ids of more than {_NAME_LENGTH} characters were cut"
_RETYPED = "characters of labels other than letters, digits, `-` and `_` became `_`"
_REPLACED = "byte order marks at the start of texts became U+FFFD"
_NO_TYPE = "Mention"
_MARK_OF_ORDER = "\ufeff"


class BratFiles(NamedTuple):
    """What is written of a document.

    name (str): The name of its two files, if no other document has it.
    text (str): Its text.
    annotations (str): The lines of its annotations.
    types (Tuple[str, ...]): The types in them.
    """

    name: str
    text: str
    annotations: str
    types: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class BratExporter:
    """Writes two files a document. Ids that tell no vocabulary are written as `LOCAL:...`.

    database (str): The vocabulary of such ids, instead of `LOCAL`.
    """

    database: str = LOCAL_PREFIX

    def render(self, document: ExportedDocument, changes: Counter[str]) -> BratFiles:
        if document.text.startswith(_MARK_OF_ORDER):
            # Readers of files take it for the mark of their encoding, and drop it.
            document = document._replace(text="\ufffd" + document.text[1:])
            changes[_REPLACED] += 1
        name, renamed = _NOT_IN_NAMES.subn("_", document.doc_id)
        if renamed:
            changes[_RENAMED] += 1
        if len(name) > _NAME_LENGTH:
            changes[_CUT] += 1
        types = tuple(_type(each, changes) for each in document.mentions)
        return BratFiles(
            name[:_NAME_LENGTH], document.text, "".join(self._lines(document, types)), types
        )

    def write(self, rendered: Iterable[BratFiles], path: Path, changes: Counter[str]) -> None:
        types: set[str] = set()
        # Some file systems don't tell "A" from "a".
        names = DistinctIds(lambda name: (path / f"{name}.ann").exists())
        for each in rendered:
            name = names.choose(each.name, changes)
            # BRAT counts line ends as they are in the file.
            for suffix, content in ((".txt", each.text), (".ann", each.annotations)):
                with open_text(path / f"{name}{suffix}", "wt", newline="") as file:
                    file.write(content)
            types.update(each.types)
        sections = ("[relations]", "[events]", "[attributes]")
        config = [_MARK, "[entities]", *sorted(types), *sections]
        (path / _CONFIG).write_text("\n".join(config) + "\n", encoding="utf8")

    def is_ours(self, path: Path) -> bool:
        config = path / _CONFIG
        return config.is_file() and config.read_bytes().startswith(_MARK.encode())

    def _lines(self, document: ExportedDocument, types: tuple[str, ...]) -> Iterator[str]:
        references = 0
        for number, (mention, kind) in enumerate(
            zip(document.mentions, types, strict=True), start=1
        ):
            place = ";".join(f"{start} {end}" for start, end in mention.fragments)
            parts = (document.text[start:end] for start, end in mention.fragments)
            yield f"T{number}\t{kind} {place}\t{' '.join(parts).translate(_BREAKS)}\n"
            for concept_id in mention.concept_ids:
                references += 1
                found = mention.found(concept_id)
                name = found.name.translate(_BREAKS) if found else ""
                reference = self._reference(concept_id)
                yield f"N{references}\tReference T{number} {reference}\t{name}\n"
            note = _note(mention)
            if note:
                yield f"#{number}\tAnnotatorNotes T{number}\t{note}\n"

    def _reference(self, concept_id: str) -> str:
        if ":" in concept_id:
            return concept_id
        return PREFIXES.own_curie(concept_id) or f"{self.database}:{concept_id}"


def _type(mention: ExportedMention, changes: Counter[str]) -> str:
    kind, changed = _NOT_IN_TYPES.subn("_", mention.label)
    if changed:
        changes[_RETYPED] += 1
    return kind or _NO_TYPE


def _note(mention: ExportedMention) -> str:
    """RETURNS (str): What BRAT has no other place for, as JSON."""
    told: dict[str, object] = {"kb_id": mention.kb_id} if mention.kb_id else {}
    if mention.long_form:
        told["long_form"] = mention.long_form
    if mention.candidates:
        told["candidates"] = [each._asdict() for each in mention.candidates]
    return json.dumps(told, ensure_ascii=False) if told else ""
