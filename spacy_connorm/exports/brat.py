"""BRAT: a folder with a `.txt` and an `.ann` a document, in code points from 0, and the types of
the mentions in `annotation.conf`."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from ..annotations.mentions import LOCAL_PREFIX
from ..concepts.curies import PREFIXES
from ..files.text import open_text
from .documents import ExportedDocument, ExportedMention

_CONFIG = "annotation.conf"
_MARK = "# Written by spacy_connorm."
_BREAKS = str.maketrans(dict.fromkeys("\n\r\t", " "))
_NOT_IN_NAMES = re.compile(r'[/\\:*?"<>|%\x00-\x1f\x7f]|^\.|[. ]$')
_NOT_IN_TYPES = re.compile(r"[^\w-]")
_NAME_LENGTH = 100
_RENAMED = "characters of ids that names of files can't have became `_`"
_RETYPED = "characters of labels other than letters, digits, `-` and `_` became `_`"
_NO_TYPE = "Mention"


class BratFiles(NamedTuple):
    """What is written of a document.

    name (str): The name of its two files, if it is free.
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
        name, renamed = _NOT_IN_NAMES.subn("_", document.doc_id)
        if renamed:
            changes[_RENAMED] += 1
        types = tuple(_type(each, changes) for each in document.mentions)
        return BratFiles(
            name[:_NAME_LENGTH], document.text, "".join(self._lines(document, types)), types
        )

    def write(self, rendered: Iterable[BratFiles], path: Path) -> None:
        types: set[str] = set()
        repeated: Counter[str] = Counter()
        for each in rendered:
            name = each.name
            while (path / f"{name}.ann").exists():
                repeated[each.name] += 1
                name = f"{each.name}-{repeated[each.name] + 1}"
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
