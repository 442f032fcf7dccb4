"""OMOP: rows of the table NOTE_NLP of the Common Data Model 5.4, as CSV."""

import csv
import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..about import __version__
from ..concepts import Candidate
from ..files.text import open_text
from .documents import ExportedDocument, ExportedMention
from .settings import Dated

COLUMNS = (
    *("note_nlp_id", "note_id", "section_concept_id", "snippet", "offset", "lexical_variant"),
    *("note_nlp_concept_id", "note_nlp_source_concept_id", "nlp_system", "nlp_date"),
    *("nlp_datetime", "term_exists", "term_temporal", "term_modifiers"),
)
# Of varchar(250) and varchar(2000).
_SHORT, _LONG = 250, 2000
_NO_CONCEPT = 0
_LARGEST = 2**31 - 1
_SYSTEM = f"spacy_connorm {__version__}"
_CUT = f"mentions of more than {_SHORT} characters were cut"
_NUMBERED = "ids of texts that are no whole numbers became the number of the text"


@dataclass(frozen=True, slots=True)
class OmopExporter(Dated):
    """Writes one row for each concept of a mention, so several for a composite, and one with the
    concept 0 for a mention without any.

    omop_concept_ids (bool): Whether the ontology's ids are concept ids of OMOP. If not, they stand
        in `term_modifiers`, and `note_nlp_concept_id` is 0.
    """

    omop_concept_ids: bool = False

    def render(self, document: ExportedDocument, changes: Counter[str]) -> list[tuple[Any, ...]]:
        note_id = document.doc_id
        if not _is_integer(note_id):
            note_id = str(document.number)
            changes[_NUMBERED] += 1
        cut = sum(len(each.text) > _SHORT for each in document.mentions)
        if cut:
            changes[_CUT] += cut
        return [
            (note_id, *cells)
            for mention in document.mentions
            for cells in self._cells(document, mention)
        ]

    def write(self, rendered: Iterable[list[tuple[Any, ...]]], path: Path) -> None:
        day, number = self.day(), 0
        with open_text(path, "wt", newline="") as file:
            rows = csv.writer(file, lineterminator="\n")
            rows.writerow(COLUMNS)
            for each in rendered:
                for note_id, *found, modifiers in each:
                    number += 1
                    rows.writerow(
                        (number, note_id, "", *found, _SYSTEM, day, "", "", "", modifiers)
                    )

    def _cells(
        self, document: ExportedDocument, mention: ExportedMention
    ) -> Iterator[tuple[Any, ...]]:
        snippet = _window(document.text, mention)
        for concept_id in mention.concept_ids or ("",):
            known = int(concept_id) if self.omop_concept_ids and _is_integer(concept_id) else 0
            found = mention.found(concept_id)
            nearest = mention.leading[0] if mention.leading else None
            yield (
                *(snippet, str(mention.start), mention.text[:_SHORT]),
                *(known or _NO_CONCEPT, known or _NO_CONCEPT),
                _modifiers(mention, concept_id, found or (None if concept_id else nearest)),
            )


def _is_integer(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) <= 10 and int(text) <= _LARGEST


def _window(text: str, mention: ExportedMention) -> str:
    """RETURNS (str): The mention with what stands around it, as much as the column takes."""
    beside = max(0, _SHORT - (mention.end - mention.start)) // 2
    return text[max(0, mention.start - beside) : mention.end + beside][:_SHORT]


def _modifiers(mention: ExportedMention, concept_id: str, found: Candidate | None) -> str:
    told = {
        "end": mention.end,
        "label": mention.label[:_SHORT],
        "concept_id": concept_id or mention.kb_id,
        "score": found.score if found else None,
        "probability": found.probability if found else None,
        "name": found.name[:_SHORT] if found and concept_id else "",
        "long_form": mention.long_form[:_SHORT],
        "codes": found.codes if found and concept_id else None,
    }
    given = {key: value for key, value in told.items() if value not in ("", None)}
    while len(text := json.dumps(given, ensure_ascii=False)) > _LONG:
        given.popitem()
    return text
