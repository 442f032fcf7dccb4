"""OMOP: rows of the table NOTE_NLP of the Common Data Model 5.4, as CSV."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from ..about import __version__
from ..concepts import Candidate
from .document import Document
from .formats import EXPORT_FORMATS
from .mentions import Mention
from .writing import Dated, write_table

COLUMNS = EXPORT_FORMATS["omop"].columns
# The lengths of varchar(250) and varchar(2000).
_SHORT, _LONG = 250, 2000
_NO_CONCEPT = 0
# The maxima of integer, the type of concept ids, and of bigint, which ids of notes may have.
_INTEGER, _BIGINT = 2**31 - 1, 2**63 - 1
_SYSTEM = f"spacy_connorm {__version__}"
_CUT = f"mentions of more than {_SHORT} characters were truncated"
_NUMBERED = "ids of texts that are not whole numbers became the negated number of the text"


@dataclass(frozen=True, slots=True)
class OmopExporter(Dated):
    """Writes a row for each concept of a mention, so several for a composite, and one with the
    concept 0 for a mention without any. A text without an id, or whose id is not a whole number,
    gets its negated number, which no other text has.

    omop_concept_ids (bool): Whether the ontology's ids are OMOP concept ids. If not, they are in
        `term_modifiers`, and `note_nlp_concept_id` is 0.
    """

    omop_concept_ids: bool = False

    def render(self, document: Document, changes: Counter[str]) -> list[tuple[Any, ...]]:
        note_id = _note_id(document)
        changes[_NUMBERED] += document.has_id and note_id != document.doc_id
        changes[_CUT] += sum(len(mention.text) > _SHORT for mention in document.mentions)
        return [
            (note_id, *cells)
            for mention in document.mentions
            for cells in self._cells(document, mention)
        ]

    def write(
        self, rendered: Iterable[list[tuple[Any, ...]]], path: Path, changes: Counter[str]
    ) -> None:
        day, numbered = self.day(), enumerate(chain.from_iterable(rendered), start=1)
        rows = (
            (number, note_id, "", *found, _SYSTEM, day, "", exists, temporal, modifiers)
            for number, (note_id, *found, exists, temporal, modifiers) in numbered
        )
        write_table(path, COLUMNS, rows)

    def _cells(self, document: Document, mention: Mention) -> Iterator[tuple[Any, ...]]:
        snippet = _window(document.text, mention)
        for concept_id in mention.concept_ids or ("",):
            is_known = self.omop_concept_ids and _is_whole(concept_id, largest=_INTEGER)
            known = int(concept_id) if is_known else _NO_CONCEPT
            candidate = mention.find_candidate(concept_id)
            nearest = mention.leading[0] if mention.leading else None
            yield (
                snippet,
                str(mention.extent[0]),
                mention.text[:_SHORT],
                known,
                known,
                *_assertion(mention.assertions),
                _modifiers(mention, concept_id, candidate or (None if concept_id else nearest)),
            )


def _assertion(assertions: tuple[str, ...] | None) -> tuple[str, str]:
    """Convert assertions to OMOP's columns.

    RETURNS (Tuple[str, str]): `term_exists`, which is N for what the patient does not have or only
        may have, and `term_temporal`.
    """
    if assertions is None:
        return "", ""
    is_patients = not {"negated", "possible", "family"} & set(assertions)
    return "Y" if is_patients else "N", "Past" if "history" in assertions else ""


def _note_id(document: Document) -> str:
    """Choose the id of a text: its own if it fits the column, otherwise its negated number, which
    is not the id of another text. Texts are written one after the other, so any other number may
    still occur as an id.
    """
    is_kept = document.has_id and _is_whole(document.doc_id, largest=_BIGINT)
    return document.doc_id if is_kept else str(-document.number)


def _is_whole(text: str, *, largest: int) -> bool:
    """Check whether a text is a whole number in the form in which a number column shows it, so that
    no other text is the same number.
    """
    is_short = len(text) <= len(str(largest)) and text.isascii() and text.isdecimal()
    return is_short and str(int(text)) == text and int(text) <= largest


def _window(text: str, mention: Mention) -> str:
    """Get a mention with as much of the surrounding text as fits the column."""
    start, end = mention.extent
    beside = max(0, _SHORT - (end - start)) // 2
    return text[max(0, start - beside) : end + beside][:_SHORT]


def _modifiers(mention: Mention, concept_id: str, candidate: Candidate | None) -> str:
    facts = {
        "end": mention.extent[1],
        "label": mention.label[:_SHORT],
        "concept_id": concept_id or mention.kb_id,
        "score": candidate.score if candidate else None,
        "probability": candidate.probability if candidate else None,
        "name": candidate.name[:_SHORT] if candidate and concept_id else "",
        "long_form": mention.long_form[:_SHORT],
        "assertions": mention.assertions or None,
        "possibility": mention.possibility,
        "codes": candidate.codes if candidate and concept_id else None,
    }
    given = {key: value for key, value in facts.items() if value not in ("", None)}
    while len(text := json.dumps(given, ensure_ascii=False)) > _LONG:
        given.popitem()
    return text
