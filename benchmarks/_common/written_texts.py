"""Texts that were written for this project, in seven languages and of 24 kinds, each set with an
ontology in the style of a terminology. Their authors knew neither the code nor its tables.
"""

import json
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from spacy.language import Language
from spacy.tokens import Doc

from spacy_connorm.documents.mentions import ALL_MENTIONS_KEY, split_ids
from spacy_connorm.documents.spans import get_assertions
from spacy_connorm.pipeline.loading import load_pipeline
from spacy_connorm.workflows.indexing import build_index

_FOLDER = Path(__file__).parents[1] / "_texts"
# The language of each set.
SETS = {
    "german": "de",
    "dutch": "nl",
    "french": "fr",
    "spanish": "es",
    "italian": "it",
    "portuguese": "pt",
    "meddra": "en",
    "icd": "en",
    "mouse": "en",
    "procedures": "en",
    "nursing": "en",
    "reddit": "en",
    "radiology": "en",
    "abstracts": "en",
    "pharmacy": "en",
    "emergency": "en",
    "mental": "en",
    "genetics": "en",
    "specialist": "en",
    "letters": "en",
    "primary": "en",
    "micro": "en",
    "dental": "en",
    "maternity": "en",
}
# English sets of which nothing was read before they had been scored with what is measured.
UNREAD = ("emergency", "mental", "genetics", "specialist", "letters", "primary")
# What `get_assertions` says of a finding that is stated so.
_MARKS = {
    "present": frozenset[str](),
    "absent": frozenset(["negated"]),
    "possible": frozenset(["possible"]),
    "hypothetical": frozenset(["possible", "hypothetical"]),
    "past": frozenset(["history"]),
    "family": frozenset(["family"]),
}
_HYPOTHETICAL = "hypothetical"


class WrittenText(NamedTuple):
    """A text and the concepts in it.

    text (str): The text.
    statuses (Dict[str, str]): How each concept is stated, one of `_MARKS`, by its id.
    """

    text: str
    statuses: dict[str, str]


class WrittenTexts:
    """One set."""

    def __init__(self, name: str) -> None:
        """name (str): One of `SETS`."""
        self.name = name
        self.language = SETS[name]
        self.ontology = _FOLDER / f"{name}.csv"

    @cached_property
    def texts(self) -> list[WrittenText]:
        """RETURNS (List[WrittenText]): The texts; of a concept with several mentions, the first one
        counts.
        """
        return list(_read_texts(_FOLDER / f"{self.name}.jsonl"))

    def finder(self, folder: Path, encoder: str, ontology: Path | None = None) -> Language:
        """Build a pipeline as `connorm index --find-mentions --clinical` does, once.

        folder (Path): Keeps it.
        encoder (str): "ngrams" or "accurate".
        ontology (Optional[Path]): A part of the ontology in its place.
        RETURNS (Language): The pipeline.
        """
        if not folder.exists():
            folder.parent.mkdir(parents=True, exist_ok=True)
            options: dict[str, Any] = {"find_mentions": True, "clinical": True}
            source = ontology or self.ontology
            build_index(source, folder, encoder=encoder, language=[self.language], **options)
        return load_pipeline(folder)


def _read_texts(path: Path) -> Iterator[WrittenText]:
    for line in path.read_text(encoding="utf8").splitlines():
        row = json.loads(line)
        statuses = {gold["id"]: gold.get("status", "present") for gold in reversed(row["gold"])}
        yield WrittenText(row["text"], statuses)


def marks_by_id(doc: Doc) -> dict[str, frozenset[str]]:
    """RETURNS (Dict[str, FrozenSet[str]]): The marks of each concept that was found, those of its
    first mention.
    """
    marks: dict[str, frozenset[str]] = {}
    for span in doc.spans.get(ALL_MENTIONS_KEY, doc.ents):
        for concept_id in split_ids(span.kb_id_):
            marks.setdefault(concept_id, frozenset(get_assertions(span) or ()))
    return marks


def is_marked(status: str, marks: frozenset[str]) -> bool:
    """RETURNS (bool): Whether marks say what a status says. What is hypothetical may be marked as
    possible.
    """
    return bool(marks & _MARKS[status]) if status == _HYPOTHETICAL else marks == _MARKS[status]
