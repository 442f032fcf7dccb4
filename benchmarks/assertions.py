"""Is a finding in a note denied, a relative's, or past? The assertion marker, and the engines of
negspacy and medspaCy (ConText) with their own rules if they are installed (`pip install negspacy
medspacy`), on the same marked findings: real sentences of discharge letters, and synthetic notes,
with `ours` also in French and Spanish.

Example: python benchmarks/assertions.py --data ../shared/data --engine ours negspacy medspacy
"""

import json
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from time import process_time
from typing import Any, NamedTuple

import spacy
from _common.cli import begin, fail, finish, make_parser, require_files
from spacy.language import Language
from spacy.tokens import Doc, Span

from spacy_connorm.evaluation.report import Row

# By engine, the attribute that says each assertion.
ATTRIBUTES = {
    "ours": {"negated": "negex", "family": "family", "history": "history"},
    "negspacy": {"negated": "negex"},
    "medspacy": {"negated": "is_negated", "family": "is_family", "history": "is_historical"},
}


OURS = "ours"


class Marked(NamedTuple):
    """A finding and what annotators said of it.

    span (Span): The finding.
    truth (Dict[str, bool]): By assertion.
    """

    span: Span
    truth: dict[str, bool]


def main() -> None:
    arguments = begin(add_options(make_parser(__doc__ or "")))
    finish(list(measure(arguments)), arguments.json)


def add_options(parser: ArgumentParser) -> ArgumentParser:
    """RETURNS (ArgumentParser): The same, with the benchmark's options."""
    parser.add_argument("--engine", nargs="+", choices=ATTRIBUTES, default=["ours"])
    return parser


def measure(arguments: Namespace) -> Iterator[Row]:
    """YIELDS (Dict[str, Any]): One row an engine and set."""
    require_files(arguments.data / findings.path for findings in SETS.values())
    for engine in arguments.engine:
        for name, findings in SETS.items():
            if engine == OURS or findings.language == "en":
                nlp = spacy.blank(findings.language)
                mark = make_engine(engine, nlp)
                marked = findings.read(arguments.data / findings.path, nlp)
                yield {"dataset": name, "engine": engine, **score(marked, mark, ATTRIBUTES[engine])}


def make_engine(engine: str, nlp: Language) -> Callable[[Doc], Any]:
    """RETURNS (Callable[[Doc], Any]): Marks the entities of a document."""
    if engine == OURS:
        return nlp.add_pipe("assertion_marker")
    if not find_spec(engine):
        fail(f"{engine} is not installed: pip install {engine}")
    split = nlp.add_pipe("sentencizer")
    if engine == "negspacy":
        import negspacy.negation  # noqa: F401  (registers the factory)

        negex = nlp.add_pipe("negex")
        return lambda doc: negex(split(doc))
    from medspacy.context import ConText

    context = ConText(nlp)
    return lambda doc: context(split(doc))


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


def score(marked: Sequence[Marked], mark: Callable[[Doc], Any], attributes: dict[str, str]) -> Row:
    """Mark all documents and score each assertion.

    RETURNS (Dict[str, Any]): F1 in percent by assertion, None where the set or the engine does not
        say it, and tokens a second.
    """
    docs = list({id(finding.span.doc): finding.span.doc for finding in marked}.values())
    start = process_time()
    for doc in docs:
        mark(doc)
    seconds = process_time() - start
    row: Row = {"findings": len(marked)}
    for assertion in ATTRIBUTES["ours"]:
        attribute = attributes.get(assertion)
        known = attribute and any(assertion in finding.truth for finding in marked)
        row[f"{assertion}_f1"] = _f1(marked, assertion, str(attribute)) if known else None
    row["tokens_per_second"] = round(sum(map(len, docs)) / seconds)
    return row


def _f1(marked: Sequence[Marked], assertion: str, attribute: str) -> float:
    pairs = [
        (finding.truth[assertion], bool(finding.span._.get(attribute)))
        for finding in marked
        if assertion in finding.truth
    ]
    right, wrong = (
        pairs.count((True, True)),
        pairs.count((True, False)) + pairs.count((False, True)),
    )
    return round(200 * right / max(1, 2 * right + wrong), 1)


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


if __name__ == "__main__":
    main()
