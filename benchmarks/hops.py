"""How many functions and files an unknown mention passes on its way to candidates, how deeply
nested, and how often its text is cleaned and tokenized and its row searched. Counts, not times:
they are the same on every machine.

Example: python benchmarks/hops.py
"""

import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import spacy
from _common.cli import begin, finish, make_parser
from spacy.tokens import Doc, Span

import spacy_connorm
from spacy_connorm import Concept, Ontology
from spacy_connorm.evaluation.report import Row

PACKAGE = Path(spacy_connorm.__file__).parent
CONCEPTS = (
    Concept("C1", "heart attack", ("myocardial infarction",)),
    Concept("C2", "common cold", ("cold",)),
    Concept("C3", "skin cancer", ("melanoma of the skin",)),
)
SETTINGS = {
    "encoder": {"@architectures": "spacy-connorm.NgramEncoder.v1"},
    "index": {"@misc": "spacy-connorm.ExactIndex.v1"},
}
# Both are unknown. The first one opens files and fills caches.
FIRST, MENTION = "heart attacks", "a severe cold"
# Tokenizing, but not for the forms, which are no tokens.
TOKENIZING, FORMS = ("ngram.py", "_normalize"), "forms"
CLEANING = ("cleaning.py", "clean")
ROWS = {("keys.py", "row"), ("keys.py", "rows_of")}


class CallTrace:
    """The calls of our functions inside a call."""

    def __init__(self) -> None:
        self.functions: set[tuple[str, str]] = set()
        self.files: set[str] = set()
        self.depth = 0
        self.counts: Counter[str] = Counter()
        self._open = 0

    def record(self, call: Callable[[], Any]) -> None:
        """Call a function and record its calls."""
        sys.setprofile(self._record)
        try:
            call()
        finally:
            sys.setprofile(None)

    def _record(self, frame: FrameType, event: str, argument: Any) -> None:
        code = frame.f_code
        if not Path(code.co_filename).is_relative_to(PACKAGE):
            return
        if event == "c_call":
            self.counts["dict.fromkeys"] += argument.__name__ == "fromkeys"
        elif event == "return":
            self._open -= 1
        elif event == "call":
            self._open += 1
            self.depth = max(self.depth, self._open)
            file = str(Path(code.co_filename).relative_to(PACKAGE))
            self.files.add(file)
            if not code.co_name.startswith("<"):
                self.functions.add((file, code.co_qualname))
            self._count(frame)

    def _count(self, frame: FrameType) -> None:
        code, values = frame.f_code, frame.f_locals
        name = (Path(code.co_filename).name, code.co_name)
        if name == CLEANING:
            self.counts["cleaned"] += values["text"] == MENTION
        elif name == TOKENIZING and MENTION in values["texts"]:
            caller = frame.f_back.f_code.co_name if frame.f_back else ""
            self.counts["tokenized"] += caller != FORMS
        elif name in ROWS:
            self.counts["row looked up"] += 1

    def row(self) -> Row:
        """RETURNS (Dict[str, Any]): Counts."""
        names = ("cleaned", "dict.fromkeys", "tokenized", "row looked up")
        return {
            "functions": len(self.functions),
            "depth": self.depth,
            "files": len(self.files),
            **{name: self.counts[name] for name in names},
        }


def measure() -> CallTrace:
    """RETURNS (CallTrace): Of the mention."""
    nlp = spacy.blank("en")
    normalizer: Any = nlp.add_pipe("concept_normalizer", config=SETTINGS)
    normalizer.initialize(lambda: [], ontology=Ontology(CONCEPTS))
    first, doc = (make_doc(nlp, text) for text in (FIRST, MENTION))
    normalizer(first)
    trace = CallTrace()
    trace.record(lambda: normalizer(doc))
    return trace


def make_doc(nlp: Any, text: str) -> Doc:
    """RETURNS (Doc): A document that is one mention."""
    doc = nlp.make_doc(text)
    doc.set_ents([Span(doc, 0, len(doc), label="Disease")])
    return doc


def main() -> None:
    parser = make_parser(__doc__ or "")
    parser.add_argument("--verbose", action="store_true", help="list the functions, by file")
    arguments = begin(parser)
    trace = measure()
    if arguments.verbose:
        for file, function in sorted(trace.functions):
            print(f"{file}: {function}", file=sys.stderr)
    finish([trace.row()], arguments.json)


if __name__ == "__main__":
    main()
