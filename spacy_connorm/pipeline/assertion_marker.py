"""The component that marks mentions as negated, possible, about a relative, or in the past."""

from collections.abc import Callable, Iterable
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NamedTuple

from spacy.language import Language
from spacy.tokens import Doc, Span

from ..documents.mentions import ALL_MENTIONS_KEY
from ..documents.spans import ASSERTIONS, register_assertion_attributes
from ..errors import require_installed
from ..text.statements import find_statements
from .assertion_patterns import add_patterns
from .assertion_scopes import Matches, marked_spans
from .assertion_terms import Terms, family_terms, history_terms, negation_terms, possible_terms
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


class _Assertion(NamedTuple):
    """What marks an assertion.

    name (str): Its name.
    matcher (Negex): Finds the terms; how far they reach is decided by `marked_spans`, since a
        sentence, to whose end negspacy's reach, is not what headings and lists have.
    headings (FrozenSet[str]): Terms in lower case that may be headings.
    """

    name: str
    matcher: "Negex"
    headings: frozenset[str]


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
        self._read: tuple[Settings, list[_Assertion]] | None = None
        register_assertion_attributes()
        self._prepare()

    def __call__(self, doc: Doc) -> Doc:
        """Mark the mentions of a document.

        doc (Doc): The document.
        RETURNS (Doc): The same document.
        RAISES (ConnormError): CN126 if negspacy is not installed.
        """
        key = self.cfg["spans_key"]
        spans = list(doc.ents if key is None else doc.spans.get(key, ()))
        if not spans:
            return doc
        # Exports distinguish mentions that are not negated from those that were not checked.
        for span in spans:
            for attribute in ASSERTIONS.values():
                span._.set(attribute, False)
        starts = find_statements([token.text for token in doc])
        for assertion, matcher, headings in self._assertions():
            terms = Matches(*matcher.process_negations(doc))
            if self.cfg[assertion] is None:
                terms = add_patterns(doc, spans, starts, assertion, terms)
            for span in marked_spans(doc, spans, starts, terms, headings):
                span._.set(ASSERTIONS[assertion], True)
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
            self._assertions()

    def _assertions(self) -> list[_Assertion]:
        if self._read is not None and self._read[0] == self.cfg:
            return self._read[1]
        read = Settings(AssertionSettings, self.cfg), self._make_assertions()
        # The strings and tokens of its words are freed with a memory zone.
        self._read = None if self._nlp.vocab.in_memory_zone else read  # type: ignore[attr-defined]
        return read[1]

    def _make_assertions(self) -> list[_Assertion]:
        require_installed("Reading clinical notes", "clinical", "negspacy")
        from negspacy.negation import Negex

        made = []
        for assertion, attribute in ASSERTIONS.items():
            terms = self.cfg[assertion] or _DEFAULTS[assertion]()
            matcher = Negex(self._nlp, self.name, neg_termset=terms, extension_name=attribute)
            headings = (each.removesuffix(":") for each in matcher.preceding_negations)
            made.append(_Assertion(assertion, matcher, frozenset(headings)))
        return made


def _mark_nested(doc: Doc, spans: Iterable[Span]) -> None:
    """Give mentions inside others the same marks."""
    owners = {place: span for span in spans for place in range(span.start, span.end)}
    for nested in doc.spans.get(ALL_MENTIONS_KEY, ()):
        owner = owners.get(nested.start) or owners.get(nested.end - 1)
        for attribute in ASSERTIONS.values():
            nested._.set(attribute, owner is not None and owner._.get(attribute))
