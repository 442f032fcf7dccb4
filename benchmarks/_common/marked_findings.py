"""Findings whose marks annotators gave: in real sentences of discharge letters, and in synthetic
notes.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from spacy.language import Language
from spacy.tokens import Doc, Span

from _common.cli import fail

# By engine, the attribute that says each assertion.
ATTRIBUTES = {
    "ours": {"negated": "negex", "family": "family", "history": "history"},
    "negspacy": {"negated": "negex"},
    "medspacy": {"negated": "is_negated", "family": "is_family", "history": "is_historical"},
}


class Marked(NamedTuple):
    """A finding and what annotators said of it.

    span (Span): The finding.
    truth (Dict[str, bool]): By assertion.
    """

    span: Span
    truth: dict[str, bool]


def read_sentences(path: Path, nlp: Language) -> list[Marked]:
    """RETURNS (List[Marked]): One finding a sentence."""
    marked = []
    for line in path.read_text(encoding="utf8").splitlines():
        row = json.loads(line)
        doc = nlp.make_doc(row["text"])
        span = _span(doc, row)
        doc.ents = [span]
        truth = {
            "negated": row["negation"] == "negated",
            "family": row["experiencer"] != "patient",
            "history": row["temporality"] == "historical",
        }
        marked.append(Marked(doc.ents[0], truth))
    return marked


def read_notes(path: Path, nlp: Language) -> list[Marked]:
    """RETURNS (List[Marked]): All findings of all notes; the notes do not say what is past."""
    marked = []
    for line in path.read_text(encoding="utf8").splitlines():
        note = json.loads(line)
        doc, spans, truths = nlp.make_doc(note["text"]), list[Span](), list[dict[str, bool]]()
        for row in sorted(note["mentions"], key=lambda mention: mention["start"]):
            span = _span(doc, row)
            if not spans or spans[-1].end <= span.start:
                spans.append(span)
                truths.append({"negated": row["negated"], "family": row["subject"] != "patient"})
        doc.ents = spans
        marked += map(Marked, doc.ents, truths)
    return marked


def read_translated_notes(path: Path, nlp: Language) -> list[Marked]:
    """RETURNS (List[Marked]): All findings of the notes in one language. A finding has one mark, so
    it is not known whether what is negated or a relative's is past.
    """
    marked = []
    for line in path.read_text(encoding="utf8").splitlines():
        note = json.loads(line)
        if note["lang"] != nlp.lang:
            continue
        doc = nlp.make_doc(note["text"])
        doc.ents = [_span(doc, row) for row in note["mentions"]]
        for span, row in zip(doc.ents, note["mentions"], strict=True):
            mark = row["assertion"]
            truth = {"negated": mark == "negated", "family": mark == "family"}
            if not any(truth.values()):
                truth["history"] = mark == "past"
            marked.append(Marked(span, truth))
    return marked


def _span(doc: Doc, row: dict[str, Any]) -> Span:
    span = doc.char_span(row["start"], row["end"], label="FINDING", alignment_mode="expand")
    if span is None:
        fail(f"A finding has no text: {row}")
    return span


class Findings(NamedTuple):
    """A set of marked findings.

    path (str): Its file in the data folder.
    read (Callable[[Path, Language], List[Marked]]): Reads it.
    language (str): Its language.
    """

    path: str
    read: Callable[[Path, Language], list[Marked]]
    language: str


_TRANSLATED = "hpo_translations/notes_dev.jsonl"
SETS = {
    "sentences": Findings("context_sentences/dev.jsonl", read_sentences, "en"),
    "notes": Findings("hpo_2017/clinical_dev.jsonl", read_notes, "en"),
    "notes-fr": Findings(_TRANSLATED, read_translated_notes, "fr"),
    "notes-es": Findings(_TRANSLATED, read_translated_notes, "es"),
}
