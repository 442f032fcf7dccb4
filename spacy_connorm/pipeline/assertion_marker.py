"""The component that marks mentions as negated, possible, about a relative, or in the past."""

from collections.abc import Callable, Iterable
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from spacy.language import Language
from spacy.tokens import Doc, Span

from ..documents.mentions import ALL_MENTIONS_KEY
from ..documents.spans import ASSERTIONS, register_assertion_attributes
from ..errors import require_installed
from .assertion_scopes import Matches, marked_spans
from .assertion_terms import (
    Terms,
    family_terms,
    history_terms,
    negation_terms,
    possible_terms,
)
from .serialization import SavedComponent
from .settings import AssertionSettings, Settings

if TYPE_CHECKING:
    from negspacy.negation import Negex

_DEFAULTS: dict[str, Callable[[], Terms]] = {
    "negated": negation_terms,
    "possible": possible_terms,
    "family": family_terms,
    "history": history_terms,
}


class AssertionMarker(SavedComponent):
    """Marks mentions by the words around them, with negspacy's NegEx (Chapman et al. 2001)."""

    extras = ("clinical",)

    def __init__(self, nlp: Language, name: str = "assertion_marker", **settings: Any) -> None:
        """Store the settings and register the attributes. Load negspacy if it is installed.

        nlp (Language): The pipeline, whose tokenizer reads the words.
        name (str): The component's name.
        **settings: What `to_disk` saves; see `AssertionSettings`.
        RAISES (ConnormError): CN006 for an invalid setting.
        """
        self.name = name
        self.cfg = Settings(AssertionSettings, settings)
        self._nlp = nlp
        self._read: tuple[Settings, list[Negex]] | None = None
        register_assertion_attributes()
        self._prepare()

    def __getstate__(self) -> dict[str, Any]:
        # Its classes are created when needed, and each spawned process creates its own.
        return {**vars(self), "_read": None}

    def __call__(self, doc: Doc) -> Doc:
        """Mark the mentions of a document.

        doc (Doc): The document.
        RETURNS (Doc): The same document.
        RAISES (ConnormError): CN126 if negspacy is not installed.
        """
        key = self.cfg["spans_key"]
        spans = doc.ents if key is None else doc.spans.get(key, ())
        if not spans:
            return doc
        # Exports distinguish mentions that are not negated from those that were not checked.
        for span in spans:
            for attribute in ASSERTIONS.values():
                span._.set(attribute, False)
        for each in self._negexes():
            each(doc)
        _mark_nested(doc, spans)
        return doc

    def accept(self, cfg: Settings) -> None:
        """Use settings that were read from disk.

        cfg (Settings): All settings, checked.
        """
        super().accept(cfg)
        self._prepare()

    def _prepare(self) -> None:
        """Build the matcher outside of memory zones. The first document may be read in a memory
        zone, which keeps nothing.
        """
        if find_spec("negspacy"):
            self._negexes()

    def _negexes(self) -> "list[Negex]":
        if self._read is not None and self._read[0] == self.cfg:
            return self._read[1]
        read = Settings(AssertionSettings, self.cfg), self._make_negexes()
        # The strings and tokens of its words are freed with a memory zone.
        self._read = None if self._nlp.vocab.in_memory_zone else read  # type: ignore[attr-defined]
        return read[1]

    def _make_negexes(self) -> "list[Negex]":
        make = _statement_negex()
        key = self.cfg["spans_key"]
        return [
            make(
                self._nlp,
                self.name,
                neg_termset=self.cfg[assertion] or _DEFAULTS[assertion](),
                extension_name=attribute,
                span_keys=None if key is None else [key],
            )
            for assertion, attribute in ASSERTIONS.items()
        ]


def _mark_nested(doc: Doc, spans: Iterable[Span]) -> None:
    """Give mentions inside others the same marks."""
    owners = {place: span for span in spans for place in range(span.start, span.end)}
    for nested in doc.spans.get(ALL_MENTIONS_KEY, ()):
        owner = owners.get(nested.start) or owners.get(nested.end - 1)
        for attribute in ASSERTIONS.values():
            nested._.set(attribute, owner is not None and owner._.get(attribute))


def _statement_negex() -> "type[Negex]":
    """Create a NegEx whose terms reach as far as `marked_spans` says. negspacy's reach to the end
    of a sentence, which headings and lists do not have.
    """
    require_installed("Reading clinical notes", "clinical", "negspacy")
    from negspacy.negation import Negex

    class StatementNegex(Negex):
        def negex(self, doc: Doc) -> Doc:
            spans = [
                *([] if self.span_keys else doc.ents),
                *(span for key in self.span_keys for span in doc.spans.get(key, ())),
            ]
            terms = Matches(*self.process_negations(doc))
            for span in marked_spans(doc, spans, terms, {*self.preceding_negations}):
                span._.set(self.extension_name, True)
            return doc

    return StatementNegex
