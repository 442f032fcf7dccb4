"""The component that marks phrases in all texts that people have marked in one."""

from collections.abc import Iterable

from spacy.language import Language
from spacy.matcher import PhraseMatcher
from spacy.tokens import Doc, Span
from spacy.util import filter_spans

MARKER = "corrected_mentions"


class MentionMarker:
    """Marks the phrases that people have marked in any text, in all texts. A longer mention from
    the pipeline is kept, unless people have replaced it. It is saved without phrases: corrections
    are kept in their file.
    """

    def __init__(self, nlp: Language, name: str = MARKER) -> None:
        """Mark nothing until `use` is called.

        nlp (Language): The pipeline.
        name (str): The component's name.
        """
        self.name = name
        self._nlp = nlp
        self._spans_key: str | None = None
        self._phrases: dict[str, PhraseMatcher] = {}
        self._replaced: frozenset[str] = frozenset()

    def use(
        self, phrases: Iterable[tuple[str, str]], replaced: Iterable[str], *, spans_key: str | None
    ) -> None:
        """Mark these phrases from now on.

        phrases (Iterable[Tuple[str, str]]): Texts and labels of mentions.
        replaced (Iterable[str]): Mentions of the pipeline to be replaced by a phrase.
        spans_key (Optional[str]): Where the normalizer looks for mentions; `doc.ents` if None.
        """
        self._spans_key, self._phrases = spans_key, {}
        self._replaced = frozenset(text.lower() for text in replaced)
        for text, label in phrases:
            # In a different case, abbreviations and symbols denote something else.
            attribute = "ORTH" if text[1:] != text[1:].lower() else "LOWER"
            if attribute not in self._phrases:
                self._phrases[attribute] = PhraseMatcher(self._nlp.vocab, attr=attribute)
            self._phrases[attribute].add(label, [self._nlp.make_doc(text)])

    def __call__(self, doc: Doc) -> Doc:
        """Mark the mentions of a document.

        doc (Doc): The document.
        RETURNS (Doc): The same document.
        """
        matches = [
            span for matcher in self._phrases.values() for span in matcher(doc, as_spans=True)
        ]
        if self._spans_key is not None:
            remaining = self._without_replaced(doc.spans.get(self._spans_key, ()), matches)
            known = {(span.start, span.end) for span in remaining}
            added = [span for span in matches if (span.start, span.end) not in known]
            doc.spans[self._spans_key] = sorted([*remaining, *filter_spans(added)])
        elif matches:
            # Of spans with the same length, the first one is kept.
            doc.ents = filter_spans([*self._without_replaced(doc.ents, matches), *matches])
        return doc

    def _without_replaced(self, spans: Iterable[Span], matches: list[Span]) -> list[Span]:
        taken = {place for span in matches for place in range(span.start, span.end)}
        return [
            span
            for span in spans
            if span.text.lower() not in self._replaced
            or taken.isdisjoint(range(span.start, span.end))
        ]


def add_marker(nlp: Language, *, before: str) -> MentionMarker:
    """Find the component in a pipeline, or add it.

    nlp (Language): The pipeline.
    before (str): The concept normalizer's name.
    RETURNS (MentionMarker): The component.
    """
    if MARKER in nlp.pipe_names:
        return nlp.get_pipe(MARKER)  # type: ignore[return-value]
    return nlp.add_pipe(MARKER, before=before)  # type: ignore[return-value]
