"""Is a finding in a note denied, a relative's, or past? The assertion marker, and the engines of
negspacy and medspaCy (ConText) with their own rules if they are installed (`pip install negspacy
medspacy`), on the same marked findings: real sentences of discharge letters, and synthetic notes,
with `ours` also in French and Spanish.

Example: python benchmarks/assertions.py --data ../shared/data --engine ours negspacy medspacy
python benchmarks/assertions.py --data ../shared/data --errors
"""

import csv
import re
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from time import process_time
from typing import Any

import spacy
from _common.cli import begin, fail, finish, make_parser, require_files
from _common.marked_findings import ATTRIBUTES, SETS, Marked
from spacy.language import Language
from spacy.tokens import Doc

from spacy_connorm.evaluation.report import Row

OURS, HISTORY = "ours", "history"
# What errors of `history` have in common, the first that fits.
_KINDS = Path(__file__).parent / "_sentences" / "history_errors.tsv"


def main() -> None:
    arguments = begin(add_options(make_parser(__doc__ or "")))
    finish(list(measure(arguments)), arguments.json)


def add_options(parser: ArgumentParser) -> ArgumentParser:
    """RETURNS (ArgumentParser): The same, with the benchmark's options."""
    parser.add_argument("--engine", nargs="+", choices=ATTRIBUTES, default=["ours"])
    add = parser.add_argument
    add("--errors", action="store_true", help="count the errors of `history` by kind instead")
    return parser


def measure(arguments: Namespace) -> Iterator[Row]:
    """YIELDS (Dict[str, Any]): One row an engine and set."""
    require_files(arguments.data / findings.path for findings in SETS.values())
    if arguments.errors:
        nlp = spacy.blank("en")
        sentences = SETS["sentences"]
        marked = sentences.read(arguments.data / sentences.path, nlp)
        yield from count_errors(marked, make_engine(OURS, nlp))
        return
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


def count_errors(marked: Sequence[Marked], mark: Callable[[Doc], Any]) -> Iterator[Row]:
    """YIELDS (Dict[str, Any]): How many findings of a kind lack the mark `history`, and how many
    have it wrongly.
    """
    with _KINDS.open(encoding="utf8") as file:
        kinds = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    counts: Counter[tuple[str, str]] = Counter()
    for span, truth in marked:
        mark(span.doc)
        if truth[HISTORY] != bool(span._.get(HISTORY)):
            error = "missed" if truth[HISTORY] else "wrong"
            text = span.doc.text
            sentence = f"{text[: span.start_char]}<{span.text}>{text[span.end_char :]}"
            kind = next(
                row["kind"]
                for row in kinds
                if row["error"] == error and re.search(row["pattern"], sentence, re.IGNORECASE)
            )
            counts[error, kind] += 1
    for (error, kind), number in sorted(counts.items()):
        yield {"error": error, "kind": kind, "findings": number}


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


if __name__ == "__main__":
    main()
