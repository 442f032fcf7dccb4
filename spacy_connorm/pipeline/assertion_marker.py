"""The component that marks mentions as negated, possible, about a relative, or in the past."""

from collections.abc import Iterator, Mapping
from typing import Any

from spacy.attrs import ORTH
from spacy.language import Language
from spacy.tokens import Doc, Span

from ..documents.mentions import ALL_MENTIONS_KEY
from ..documents.spans import register_assertion_attributes, set_assertions
from ..documents.token_texts import texts_of
from ..lang import Cue
from ..lang.cues import literal
from ..text.statements import find_statements
from ..text.words import words_of
from .assertions import POSSIBLE, Assertions
from .serialization import SavedComponent
from .settings import TERMS, AssertionSettings, Settings


class AssertionMarker(SavedComponent):
    """Marks mentions by the words around them, after NegEx (Chapman et al. 2001) and ConText
    (Harkema et al. 2009).
    """

    def __init__(self, nlp: Language, name: str = "assertion_marker", **settings: Any) -> None:
        """Store the settings and register the attributes.

        nlp (Language): The pipeline, whose tokenizer reads the words.
        name (str): The component's name.
        **settings: What `to_disk` saves; see `AssertionSettings`.
        RAISES (ConnormError): CN006 for an invalid setting.
        """
        self.name = name
        self.cfg = Settings(AssertionSettings, settings)
        self._nlp = nlp
        self._words = words_of(nlp.vocab.lang)
        self._compiled: tuple[Settings, Assertions] | None = None
        register_assertion_attributes()

    def __call__(self, doc: Doc) -> Doc:
        """Mark the mentions of a document.

        doc (Doc): The document.
        RETURNS (Doc): The same document.
        """
        key = self.cfg["spans_key"]
        spans = list(doc.ents if key is None else doc.spans.get(key, ()))
        if not spans:
            return doc
        assertions = self._assertions()
        # "Neck:" is a heading, but not in "short neck: not assessed".
        inside = {place for span in spans for place in range(span.start + 1, span.end)}
        statements = find_statements(texts_of(doc, ORTH), assertions.classes)
        starts = [start for start in statements if start not in inside]
        marks = assertions.mark(doc, spans, starts)
        # Exports distinguish mentions that are not negated from those that were not checked.
        for span, marked in marks.items():
            set_assertions(span, marked, marked.get(POSSIBLE, ""))
        _mark_nested(doc, marks)
        return doc

    def _assertions(self) -> Assertions:
        if self._compiled is None or self._compiled[0] != self.cfg:
            settings = Settings(AssertionSettings, self.cfg)
            assertions = Assertions(self._cues(), self._words, self._nlp.make_doc)
            self._compiled = settings, assertions
        return self._compiled[1]

    def _cues(self) -> Iterator[Cue]:
        """Get the cues of the language, and those of the settings that take their place."""
        for cue in self._words.language.cues:
            if cue.category not in self.cfg["terms"]:
                yield cue
        for category, kinds in self.cfg["terms"].items():
            for kind, terms in kinds.items():
                for term in terms:
                    yield Cue(literal(term), category, *TERMS[kind])


def _mark_nested(doc: Doc, marks: Mapping[Span, Mapping[str, str]]) -> None:
    """Give mentions inside others the same marks."""
    owners = {place: span for span in marks for place in range(span.start, span.end)}
    for nested in doc.spans.get(ALL_MENTIONS_KEY, ()):
        owner = owners.get(nested.start) or owners.get(nested.end - 1)
        marked = marks[owner] if owner is not None else {}
        set_assertions(nested, marked, marked.get(POSSIBLE, ""))
